"""Which providers can be used now, and why the others cannot. Asks only servers on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from golem_cli.providers.services import Service
    from golem_cli.store.settings import Settings

PROBE_SECONDS: Final = 0.2
"""How long a server on this machine has to list its models."""


@dataclass(frozen=True, kw_only=True)
class Availability:
    """One provider: whether it can be used, why (not), and the models that a local server lists."""

    name: str
    usable: bool
    reason: str
    models: tuple[str, ...] = ()


def of_service(service: Service, settings: Settings, variables: Mapping[str, str]) -> Availability:
    """Say whether `service` can be used. A server that needs no key is asked, a remote one is not."""
    from golem_cli.cli.service_access import checked_address_of, configured_for, key_variable_of
    from golem_cli.core.errors import ConfigurationError
    from golem_cli.providers.addresses import host_of, is_loopback

    if service.protocol == "bedrock":
        return of_bedrock(service, variables)
    configured = configured_for(service, settings)
    try:
        base_url = checked_address_of(service, settings, variables)
    except ConfigurationError as error:
        return Availability(name=service.name, usable=False, reason=str(error))
    key_variable = key_variable_of(service, variables)
    if not base_url:
        wanted = f"set {service.base_url_variable} to the server's address"
        return Availability(name=service.name, usable=False, reason=wanted)
    if is_loopback(base_url):
        moved = base_url != service.base_url
        if not (moved or service.own_port):  # a shared port may be anything; it is not asked unbidden
            wanted = f"set {service.base_url_variable} to the server's address"
            return Availability(name=service.name, usable=False, reason=wanted)
        return asked(service, base_url)
    if key_variable:
        return Availability(name=service.name, usable=True, reason=f"key from {key_variable}")
    if configured and configured.api_key_command:
        return Availability(
            name=service.name, usable=True, reason=f"key from the command {configured.api_key_command[0]}"
        )
    if not service.key_variables:
        return Availability(name=service.name, usable=True, reason=f"configured: {host_of(base_url)}")
    return Availability(name=service.name, usable=False, reason=f"set {' or '.join(service.key_variables)}")


def of_bedrock(service: Service, variables: Mapping[str, str]) -> Availability:
    """Say whether Bedrock can be used: whether anything says who asks. AWS itself is not asked."""
    from golem_cli.core.errors import ConfigurationError
    from golem_cli.providers.bedrock.access import KNOWN_BY, check_installed

    try:
        check_installed()
    except ConfigurationError as error:
        return Availability(name=service.name, usable=False, reason=str(error))
    found = next((name for name in (*service.key_variables, *KNOWN_BY) if variables.get(name)), "")
    if found:
        kind = "key" if found in service.key_variables else "credentials"
        return Availability(name=service.name, usable=True, reason=f"{kind} from {found}")
    wanted = " or ".join((*service.key_variables, *KNOWN_BY))
    return Availability(name=service.name, usable=False, reason=f"set {wanted}")


def of_embedded(cache: Path) -> Availability:
    """Say whether the embedded model can be used."""
    from golem_cli.core.errors import ConfigurationError
    from golem_cli.providers.local.installed import check_installed
    from golem_cli.providers.local.weights import SMOLLM2, weights_path

    try:
        check_installed()
    except ConfigurationError as error:
        return Availability(name="local", usable=False, reason=str(error))
    if weights_path(cache).exists():
        reason = f"weights in {cache}"
    else:
        reason = f"fetches {SMOLLM2.size / 1e6:.0f} MB of weights on first use"
    return Availability(name="local", usable=True, reason=reason, models=(SMOLLM2.name,))


def asked(service: Service, base_url: str) -> Availability:
    """Ask the server on this machine for its models."""
    import asyncio

    from golem_cli.core.errors import GolemError
    from golem_cli.providers.addresses import host_of
    from golem_cli.providers.openai.client import list_models
    from golem_cli.providers.services import LISTED_UNDER

    place = service.root(base_url) + LISTED_UNDER[service.protocol]
    try:
        models = asyncio.run(list_models(base_url=place, name=service.name, timeout=PROBE_SECONDS))
    except GolemError:
        reason = f"no server answers at {host_of(base_url)}"
        return Availability(name=service.name, usable=False, reason=reason)
    return Availability(
        name=service.name, usable=True, reason=f"server at {host_of(base_url)}", models=tuple(models)
    )
