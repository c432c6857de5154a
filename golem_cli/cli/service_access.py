"""What variables and settings say of a service: where it is, and where its key comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.providers.services import Service
    from golem_cli.store.settings import ProviderSettings, Settings


def configured_for(service: Service, settings: Settings) -> ProviderSettings | None:
    """What the settings say of the service: its own table, else that of the row whose server it shares."""
    return settings.providers.get(service.name) or settings.providers.get(service.beside)


def address_of(service: Service, settings: Settings, variables: Mapping[str, str]) -> str:
    """Where the service is: its variable, the settings, its usual address; "" when none is known."""
    configured = configured_for(service, settings)
    return (
        variables.get(service.base_url_variable)
        or (configured.base_url if configured else "")
        or service.base_url
    )


def checked_address_of(service: Service, settings: Settings, variables: Mapping[str, str]) -> str:
    """As `address_of`. `ConfigurationError`, naming what said so, for one that is none."""
    from golem_cli.core.errors import ConfigurationError
    from golem_cli.providers.addresses import checked_base_url

    address = address_of(service, settings, variables)
    try:
        return checked_base_url(address) if address else ""
    except ConfigurationError as error:
        in_variable = variables.get(service.base_url_variable)
        said_by = service.base_url_variable if in_variable else "base_url in the settings file"
        raise ConfigurationError(f"{said_by}: {error}") from error


def key_variable_of(service: Service, variables: Mapping[str, str]) -> str:
    """The first of the service's variables that holds a key; "" when none does."""
    return next((name for name in service.key_variables if variables.get(name)), "")
