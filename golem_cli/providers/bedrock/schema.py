"""A tool's schema for models that take only `type`, `properties` and `required` at its top.

Source: Nova user guide, "Using tools"; what the server says of definitions: zed-industries/zed issue 28521.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from golem_cli.providers.wire.fields import Json

_TOP: Final = ("type", "properties", "required")
_DEFINITIONS: Final = ("$defs", "definitions")


def plain(schema: Json) -> Json:
    """`schema` with what its references lead to in their places, without its other fields at the top.

    >>> plain({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "null"}}})
    {'properties': {'a': {'type': 'null'}}}
    """
    known: Json = {}
    for field in _DEFINITIONS:
        named = schema.get(field)
        known |= (
            {f"#/{field}/{name}": value for name, value in named.items()} if isinstance(named, dict) else {}
        )
    kept = {"properties": {}} | {name: schema[name] for name in _TOP if name in schema}
    return _resolved_fields(kept, known)


def _resolved_fields(record: Json, known: Json, within: frozenset[str] = frozenset()) -> Json:
    return {name: _resolved(value, known, within) for name, value in record.items()}


def _resolved(value: object, known: Json, within: frozenset[str]) -> object:
    """`value` with references replaced; one that leads back into itself allows anything."""
    if isinstance(value, list):
        return [_resolved(each, known, within) for each in value]
    if not isinstance(value, dict):
        return value
    target = value.get("$ref")
    if not isinstance(target, str):
        return _resolved_fields(value, known, within)
    beside = {name: each for name, each in value.items() if name != "$ref"}
    found = {} if target in within else known.get(target, {})
    resolved = _resolved(found, known, within | {target})
    return (resolved if isinstance(resolved, dict) else {}) | _resolved_fields(beside, known, within)
