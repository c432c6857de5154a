"""The table `[prices."PROVIDER:NAME"]` of the settings file: what a million tokens of a model cost."""

from __future__ import annotations

from typing import Any, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.core.price import Rates
from golem_cli.store.settings.kinds import RATE

_EXAMPLE: Final = '[prices."openai:gpt-6.1-terra"]'
_NEEDED: Final = ("input", "output")


def read_prices(value: object, place: str) -> dict[str, Rates]:
    """The rates of each model. Raises `ConfigurationError` that names `place` and what is wrong."""
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place} must be tables, as in {_EXAMPLE}")
    return {name: _rates(name, table, place) for name, table in value.items()}


def _rates(name: str, table: object, place: str) -> Rates:
    if ":" not in name:
        raise ConfigurationError(f"{place}.{name}: a model is named PROVIDER:NAME, as in {_EXAMPLE}")
    here = f'{place}."{name}"'
    if not isinstance(table, dict):
        raise ConfigurationError(f"{here} must be a table, as in {_EXAMPLE}")
    for key in table:
        if key not in Rates._fields:
            known = ", ".join(Rates._fields)
            raise ConfigurationError(f"{here}: there is no rate {key!r}; known are {known}")
    for key in _NEEDED:
        if key not in table:
            raise ConfigurationError(f"{here}: {key} is missing: the price of a million tokens")
    checked: dict[str, Any] = {key: RATE.check(rate, f"{here}.{key}") for key, rate in table.items()}
    return Rates(**checked)
