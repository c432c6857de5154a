"""The configuration: whether the settings can be read, what sets them, and names that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from golem_cli.cli.checkup.advice import way_to_file
from golem_cli.cli.checkup.check import Check, Scope, note, ok, problem
from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.store.settings import Configuration

_OTHERS: Final = frozenset({"GOLEM_HOME", "GOLEM_CACHE", "GOLEM_API_KEY", "GOLEM_BASE_URL"})
"""Variables of ours that are no settings."""


def configuration(scope: Scope) -> Iterator[Check]:
    """Check the settings file and the variables."""
    file, found = scope.paths.settings_file, settings_in(scope)
    if isinstance(found, ConfigurationError):
        yield problem("settings", str(found), way_to_file(file, "u+r"))
        return
    there = "can be read" if file.exists() else "is not there: the defaults are in force"
    yield ok("settings", f"{file} {there}")
    set_by = [f"{name} from {origin}" for name, origin in found.origins.items() if origin != "default"]
    if set_by:
        yield ok("origins", f"set: {', '.join(set_by)}")
    yield from _unknown_variables(scope)
    yield from _unknown_providers(found)


def settings_in(scope: Scope) -> Configuration | ConfigurationError:
    """Return the settings in force, or why they cannot be read."""
    from golem_cli.store.settings import load_settings

    try:
        return load_settings(env=scope.environment.variables, file=scope.paths.settings_file)
    except ConfigurationError as error:
        return error


def _unknown_variables(scope: Scope) -> Iterator[Check]:
    from golem_cli.cli.failures import did_you_mean
    from golem_cli.store.settings import SETTINGS

    known = {setting.variable for setting in SETTINGS} | _OTHERS
    for name in sorted(scope.environment.variables):
        if name.startswith("GOLEM_") and name not in known:
            yield note("variable", f"{name} is set and means nothing{did_you_mean(name, known)}")


def _unknown_providers(found: Configuration) -> Iterator[Check]:
    from golem_cli.cli.failures import did_you_mean
    from golem_cli.cli.model_opening import names_in
    from golem_cli.providers.services import SERVICES

    known = {"local", *(service.name for service in SERVICES)}
    for name in found.settings.providers:
        if name not in known:
            text = f"[providers.{name}] names a provider that golem does not know{did_you_mean(name, known)}"
            yield note("provider", text)
    for name in found.settings.prices:
        provider = name.partition(":")[0]
        if provider not in known:
            yield note("price", f'[prices."{name}"] is of no known provider{did_you_mean(provider, known)}')
    for name in names_in(found.settings.model):
        provider = name.partition(":")[0]
        if provider not in known:
            text = f"the model {name}, from {found.origins['model']}, has no known provider"
            yield problem("model", f"{text}{did_you_mean(provider, known)}", "golem models")
