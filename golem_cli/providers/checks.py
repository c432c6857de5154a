"""Settings and schemas that a format documents bounds for: refused before a request is made."""

from __future__ import annotations

import math

import msgspec

from golem_cli.core.errors import ConfigurationError


def schema_of(text: str, what: str) -> object:
    """The JSON value of a schema's `text`. `ConfigurationError`, naming `what`, when it is no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ConfigurationError(f"{what} is not JSON") from error


def check_range(name: str, value: float | None, upper: float) -> None:
    """Raise `ConfigurationError` when `value` is given and not in [0, `upper`]."""
    if value is not None and not (math.isfinite(value) and 0 <= value <= upper):
        raise ConfigurationError(f"{name} must be in [0, {upper}], got {value}")


def check_max_tokens(value: int | None) -> None:
    """Raise `ConfigurationError` when `value` is given and leaves no room for an answer."""
    if value is not None and value < 1:
        raise ConfigurationError(f"max_tokens must be at least 1, got {value}")
