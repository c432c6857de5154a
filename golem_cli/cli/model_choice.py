"""Which model answers: what was asked for, else the first provider that can be used now, and why that one."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from golem_cli.providers.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.providers.services import Service
    from golem_cli.store.settings import Configuration

EMBEDDED: Final = "local:"
_KNOCK_SECONDS: Final = 0.05


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A model's name as `--model` takes it, and why it was chosen, in words."""

    name: str
    why: str


def choose_model(
    asked: str, kept: str, configuration: Configuration, variables: Mapping[str, str]
) -> ModelChoice:
    """Choose a model: `asked` by flag, `kept` by the conversation, configured, or what can be used now.

    Without any of them: the first service whose key is set, in the order of `SERVICES`; else a server on this
    machine that answers on a port of its own; else the embedded model.
    """
    if asked:
        return ModelChoice(name=asked, why="asked for by --model")
    if kept:
        return ModelChoice(name=kept, why="this conversation's own")
    if configuration.settings.model:
        return ModelChoice(name=configuration.settings.model, why=f"from {configuration.origins['model']}")
    return _by_key(variables) or _by_server(variables) or ModelChoice(name=EMBEDDED, why="no other is set up")


def _by_key(variables: Mapping[str, str]) -> ModelChoice | None:
    for service in SERVICES:
        key = next((name for name in service.key_variables if variables.get(name)), "")
        if key and service.default_model:
            return ModelChoice(name=f"{service.name}:{service.default_model}", why=f"{key} is set")
    return None


def _by_server(variables: Mapping[str, str]) -> ModelChoice | None:
    """A server on this machine on its own well-known port. It is asked only when something listens there."""
    for service in SERVICES:
        if not service.own_port:
            continue
        base_url = variables.get(service.base_url_variable) or service.base_url
        models = _listed(service, base_url) if _listens(base_url) else ()
        if models:
            return ModelChoice(name=f"{service.name}:{models[0]}", why=f"{service.title} answers here")
    return None


def _listens(base_url: str) -> bool:
    place = urlsplit(base_url)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=_KNOCK_SECONDS):
            return True
    except (OSError, ValueError):
        return False


def _listed(service: Service, base_url: str) -> tuple[str, ...]:
    from golem_cli.cli.availability import asked

    return asked(service, base_url).models
