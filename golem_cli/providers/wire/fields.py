"""Reading fields of a provider's JSON: null is absent, a wrong type is a `ModelError` that names it."""

from __future__ import annotations

import json
from typing import TypeVar

from golem_cli.core.errors import ModelError
from golem_cli.core.history.wire_view import scalar_text

Json = dict[str, object]
T = TypeVar("T")

_NAMES = {bool: "boolean", int: "whole number", float: "number", str: "string", list: "list", dict: "object"}


def optional(record: Json, name: str, kind: type[T]) -> T | None:
    """The field `name` of `record` when it is a `kind`, None when it is missing or null."""
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise ModelError(f"sent a {kind_of(value)} in {name!r} where a {_NAMES[kind]} was expected")


def record(value: object) -> Json:
    """`value` when it is an object; `ModelError` for any other."""
    if not isinstance(value, dict):
        raise ModelError(f"sent a JSON {kind_of(value)} where an object was expected")
    return value


def text(record: Json, name: str) -> str:
    """The text of the field `name`, empty when it is missing or null; lone surrogates become U+FFFD."""
    return scalar_text(optional(record, name, str) or "")


def kind_of(value: object) -> str:
    """What JSON calls the type of `value`."""
    return "null" if value is None else _NAMES.get(type(value), "value")


def json_text(value: object) -> str:
    """The JSON text of what a provider sent, compact. `ModelError` when it is nested beyond reading."""
    try:
        return scalar_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except (RecursionError, ValueError) as error:
        raise ModelError("sent a value that is nested too deeply") from error


def one_line(text: str, *, limit: int = 300) -> str:
    """`text` as a single line of at most `limit` characters."""
    line = scalar_text(" ".join(text[: 4 * limit].split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"
