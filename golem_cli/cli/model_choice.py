"""Which model answers: what was asked for, else the first provider that can be used now, and why that one."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from golem_cli.cli.service_access import checked_address_of, key_variable_of
from golem_cli.providers.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.providers.services import Service
    from golem_cli.store.settings import Configuration, Settings

EMBEDDED: Final = "local:"
ASKED: Final = "asked for by --model"
_KNOCK_SECONDS: Final = 0.05


class ModelChoice(NamedTuple):
    """A model's name as `--model` takes it, and why it was chosen, in words."""

    name: str
    why: str


def choose_model(
    asked: str, kept: str, configuration: Configuration, variables: Mapping[str, str]
) -> ModelChoice:
    """Choose a model: `asked` by flag, `kept` by the conversation, configured, or what can be used now.

    Without any of the first three, in this order:

    1. the first row of `SERVICES` that somebody set up. Its key is set: by a variable, or by an
       `api_key_command` in the settings (whoever wrote that wants the service; it is not run to find out).
       Or it was given an address on this machine, or needs no key and was given any: then its server is
       asked, and must list its models;
    2. the first service whose server answers on this machine on a port of its own;
    3. the embedded model.

    `ConfigurationError` for an address that is none, of any row that is looked at before one is found, key or
    not: whoever wrote `localhost:1234` wants that server, and a prompt must not go to whichever comes next.
    A server has 200 ms to list its models. A shared port that was not configured is never asked, and
    `generic` is never chosen: its model must be named.
    """
    if asked:
        return ModelChoice(name=asked, why=ASKED)
    if kept:
        return ModelChoice(name=kept, why="this conversation's own")
    if configuration.settings.model:
        return ModelChoice(name=configuration.settings.model, why=f"from {configuration.origins['model']}")
    return (
        _set_up(configuration.settings, variables)
        or _at_own_port()
        or ModelChoice(name=EMBEDDED, why="no other is set up")
    )


def _set_up(settings: Settings, variables: Mapping[str, str]) -> ModelChoice | None:
    for service in SERVICES:
        if not service.base_url or service.beside:
            continue
        address = checked_address_of(service, settings, variables)
        found = None
        if address != service.base_url and (service.local or _here(address)):
            found = _listed_first(service, address)
        if found is None and service.default_model:
            found = _with_key(service, settings, variables)
        if found is not None:
            return found
    return None


def _here(address: str) -> bool:
    from golem_cli.providers.addresses import is_loopback

    return is_loopback(address)


def _with_key(service: Service, settings: Settings, variables: Mapping[str, str]) -> ModelChoice | None:
    configured = settings.providers.get(service.name)
    key = key_variable_of(service, variables)
    if not key and configured and configured.api_key_command:
        key = f"providers.{service.name}.api_key_command"
    name = f"{service.name}:{service.default_model}"
    return ModelChoice(name=name, why=f"{key} is set") if key else None


def _at_own_port() -> ModelChoice | None:
    found = (_listed_first(service, service.base_url) for service in SERVICES if service.own_port)
    return next((choice for choice in found if choice is not None), None)


def _listed_first(service: Service, base_url: str) -> ModelChoice | None:
    """The first model that the server lists. It is asked only when something listens there."""
    if not _listens(base_url):
        return None
    from golem_cli.cli.availability import asked
    from golem_cli.providers.addresses import host_of

    models = asked(service, base_url).models
    why = f"{service.title} answers at {host_of(base_url)}"
    return ModelChoice(name=f"{service.name}:{models[0]}", why=why) if models else None


def _listens(base_url: str) -> bool:
    try:
        place = urlsplit(base_url)
        port = place.port or (443 if place.scheme == "https" else 80)
        with socket.create_connection((place.hostname or "", port), timeout=_KNOCK_SECONDS):
            return True
    except (OSError, ValueError):
        return False
