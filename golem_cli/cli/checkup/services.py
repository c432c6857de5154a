"""Keys and reachability: which services are set up, and whether each answers. No key is ever shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.cli.checkup.check import Check, Level, Scope, note, ok, problem
from golem_cli.cli.checkup.configuration import settings_in
from golem_cli.core.errors import ConfigurationError, GolemError, ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.providers.services import Service
    from golem_cli.store.settings import Settings

SECONDS: Final = 5.0
"""How long a service has to answer; all are asked at once."""
_NO_LIST: Final = frozenset({404, 405, 501})
"""Statuses of a service that answers and lists no models."""
_REFUSED: Final = frozenset({401, 403})


class _SetUp(msgspec.Struct, frozen=True, kw_only=True):
    """A service that somebody set up: its address, and where its key is from; "" for none.

    `fault` says what is wrong with the address.
    """

    service: Service
    base_url: str
    key_from: str
    fault: str = ""
    key: str = ""


def services(scope: Scope) -> Iterator[Check]:
    """Check every service with a key or an address of its own; ask them, unless the scope is offline."""
    found = settings_in(scope)
    if isinstance(found, ConfigurationError):
        yield note("keys", "not looked at: the settings cannot be read")
        return
    listed = _set_up(found.settings, scope.environment.variables)
    if not listed:
        yield ok("keys", "no provider is set up: the embedded model, or a server on this machine, answers")
    usable = []
    for each in listed:
        check = _key(each)
        yield check
        if check.level is not Level.PROBLEM:
            usable.append(each)
    if scope.offline and listed:
        yield ok("reachability", "no service is asked (--offline)")
    elif not scope.offline:
        yield from _asked(usable)


def _set_up(settings: Settings, variables: Mapping[str, str]) -> list[_SetUp]:
    from golem_cli.cli.service_access import address_of, checked_address_of, key_variable_of
    from golem_cli.providers.services import SERVICES

    listed = []
    for service in SERVICES:
        if service.beside:
            continue
        configured = settings.providers.get(service.name)
        name = key_variable_of(service, variables)
        command = configured.api_key_command[0] if configured and configured.api_key_command else ""
        base_url = address_of(service, settings, variables)
        if base_url and (name or command or base_url != service.base_url):
            key_from = name or (f"the command {command}" if command else "")
            fault = ""
            try:
                checked_address_of(service, settings, variables)
            except ConfigurationError as error:
                fault = str(error)
            key = variables.get(name, "")
            listed.append(_SetUp(service=service, base_url=base_url, key_from=key_from, key=key, fault=fault))
    return listed


def _key(each: _SetUp) -> Check:
    from golem_cli.providers.addresses import checked_key, host_of, is_loopback

    name = f"key.{each.service.name}"
    if each.fault:
        return problem(name, f"{each.service.title}: {each.fault}")
    try:
        checked_key(each.key)
    except GolemError as error:
        return problem(name, f"{each.service.title}: {error}")
    if each.key_from:
        ran = "" if each.key else ", which is not run here"
        return ok(name, f"{each.service.title}: the key comes from {each.key_from}{ran}")
    here = is_loopback(each.base_url) or not each.service.key_variables or not each.service.base_url
    where = f"{each.service.title} is at {host_of(each.base_url)}"
    if here:
        return ok(name, f"{where}, without a key")
    return problem(name, f"{where}, and there is no key: set {' or '.join(each.service.key_variables)}")


def _asked(listed: list[_SetUp]) -> Iterator[Check]:
    """Ask all at once, and yield what came of it in their order."""
    if not listed:
        return
    import asyncio

    async def ask_all() -> list[Check]:
        return await asyncio.gather(*map(_ask, listed))

    yield from asyncio.run(ask_all())


async def _ask(each: _SetUp) -> Check:
    """Ask for the list of models: the cheapest thing that every service has, and that needs the key."""
    import asyncio

    from golem_cli.providers.server import Server

    name, title = f"reachable.{each.service.name}", each.service.title
    path, headers = _request(each)
    try:
        server = Server(name="", base_url=each.base_url, headers=headers, secret=each.key)
    except (GolemError, OSError) as error:
        return problem(name, f"{title}: {error}")
    try:
        async with asyncio.timeout(SECONDS):
            with server.faults():
                async with server.answer("GET", path):
                    return ok(name, f"{title} answers at {server.place}")
    except TimeoutError:
        return problem(name, f"{title} does not answer within {SECONDS:g} s at {server.place}")
    except ModelError as error:
        return _refused(name, each, error)
    except (GolemError, OSError) as error:
        return problem(name, f"{title}: {error}")
    finally:
        await server.aclose()


def _refused(name: str, each: _SetUp, error: ModelError) -> Check:
    title = each.service.title
    if error.status_code in _NO_LIST:
        return ok(name, f"{title} answers, and lists no models")
    if error.status_code in _REFUSED and each.key_from and not each.key:
        return note(name, f"{title} answers; whether it takes the key of {each.key_from} was not tried")
    if error.status_code in _REFUSED and each.key:
        return problem(name, f"{title} refuses the key from {each.key_from}: {error}")
    return problem(name, f"{title}: {error}")


def _request(each: _SetUp) -> tuple[str, dict[str, str]]:
    """Return the path and the headers of the list of models in the service's protocol."""
    key = each.key.strip()
    if each.service.protocol == "anthropic":
        return "/v1/models", {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
    if each.service.protocol == "gemini":
        return "/v1beta/models", {"x-goog-api-key": key} if key else {}
    return "/models", {"Authorization": f"Bearer {key}"} if key else {}
