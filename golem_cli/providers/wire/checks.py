"""Settings, schemas and parts that a format documents bounds for: refused before a request is made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.message import TOOL, USER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.core.message import Message, Part


def schema_of(text: str, what: str) -> object:
    """The JSON value of a schema's `text`. `ConfigurationError`, naming `what`, when it is no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ConfigurationError(f"{what} is not JSON") from error


def closed(schema: object) -> object:
    """`schema` with every object closed, as Claude's structured outputs demand."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(value) for name, value in schema.items()}
    kinds = inner.get("type")
    is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds)
    return inner | {"additionalProperties": False} if is_object else inner


def check_range(name: str, value: float | None, upper: float) -> None:
    """Raise `ConfigurationError` when `value` is given and not in [0, `upper`]."""
    if value is not None and not (math.isfinite(value) and 0 <= value <= upper):
        raise ConfigurationError(f"{name} must be in [0, {upper}], got {value}")


def check_max_tokens(value: int | None) -> None:
    """Raise `ConfigurationError` when `value` is given and leaves no room for an answer."""
    if value is not None and value < 1:
        raise ConfigurationError(f"max_tokens must be at least 1, got {value}")


def check_parts(messages: Sequence[Message], refusal_of: Callable[[Part], str]) -> None:
    """Raise `HistoryError` for the first part that the format cannot carry, by the reason of `refusal_of`.

    Messages and parts are counted from 1; the system message, if any, is message 1 of its request.
    """
    for number, message in enumerate(messages, 1):
        if message.parts and message.role not in {USER, TOOL}:
            raise HistoryError(
                f"message {number} of the request: a message of role {message.role} cannot carry parts"
            )
        for position, part in enumerate(message.parts, 1):
            if reason := refusal_of(part):
                raise HistoryError(f"message {number} of the request, part {position}: {reason}")
