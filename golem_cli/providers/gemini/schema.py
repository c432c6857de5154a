"""A JSON Schema in the keywords that Gemini documents: reshaped, or left out where it only forbids.

Source: Gemini API reference, "Generating content" (`responseJsonSchema` and its keywords; beside `$ref`
nothing may stand but what begins with `$`; `oneOf` is read as `anyOf`) and "Caching"
(`FunctionDeclaration.parametersJsonSchema`: an object whose properties are the parameters). A schema
that is looser than the original is safe: whoever gets the value checks it.
"""

from __future__ import annotations

from typing import Final

_KEPT: Final = frozenset(
    {
        *("$id", "$anchor", "type", "title", "description", "minItems", "maxItems"),
        *("minimum", "maximum", "propertyOrdering"),
    }
)
_FORMATS: Final = frozenset({"date-time", "date", "time"})
_OLD_PLACE: Final = "#/definitions/"
_PLACE: Final = "#/$defs/"

Schema = dict[str, object]


def documented(schema: object) -> Schema:
    """`schema` with keywords that Gemini documents. `true`, `false` and what is no schema allow anything.

    `const` becomes `enum`, exclusive bounds become bounds, `allOf` is merged, `definitions` are `$defs`.

    >>> documented({"const": "a", "pattern": "b"}), documented({"type": "integer", "exclusiveMinimum": 0})
    ({'enum': ['a']}, {'type': 'integer', 'minimum': 1})
    """
    if not isinstance(schema, dict):
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _reference(reference) | _definitions(schema)
    schema = _merged(schema)
    kept = {name: value for name, value in schema.items() if name in _KEPT}
    return kept | _bounds(schema) | _choice(schema) | _format(schema) | _below(schema) | _definitions(schema)


def _reference(target: str) -> Schema:
    """A reference to a definition or to the whole; any other allows anything."""
    target = target.replace(_OLD_PLACE, _PLACE, 1)
    return {"$ref": target} if target == "#" or target.startswith(_PLACE) else {}


def _merged(schema: Schema) -> Schema:
    """`schema` with what its `allOf` demands besides; what it says itself goes before."""
    merged = {name: value for name, value in schema.items() if name != "allOf"}
    members = schema.get("allOf")
    members = [each for each in members if isinstance(each, dict)] if isinstance(members, list) else []
    if len(members) == 1 and "$ref" in members[0] and "anyOf" not in merged:
        return merged | {"anyOf": members}
    for member in members:
        for name, value in _merged(member).items():
            if name != "$ref":  # nothing may stand beside it
                merged[name] = _joined(merged[name], value) if name in merged else value
    return merged


def _joined(one: object, other: object) -> object:
    """Both of two properties' tables or lists of names; of anything else the first."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {**other, **one}
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *(each for each in other if each not in one)]
    return one


def _bounds(schema: Schema) -> Schema:
    """Inclusive bounds for exclusive ones: the next whole number, else the number itself."""
    step = 1 if schema.get("type") == "integer" else 0
    found: Schema = {}
    for exclusive, name, away in (
        ("exclusiveMinimum", "minimum", step),
        ("exclusiveMaximum", "maximum", -step),
    ):
        value = schema.get(exclusive)
        if isinstance(value, int | float) and not isinstance(value, bool) and name not in schema:
            found[name] = value + away
    return found


def _choice(schema: Schema) -> Schema:
    """The texts and numbers that are allowed, when nothing else is."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return {}
    plain = [each for each in values if isinstance(each, str | int | float) and not isinstance(each, bool)]
    return {"enum": plain} if plain and len(plain) == len(values) else {}


def _format(schema: Schema) -> Schema:
    named = schema.get("format")
    return {"format": named} if isinstance(named, str) and named in _FORMATS else {}


def _below(schema: Schema) -> Schema:
    """The schemas inside: of properties, items and alternatives."""
    found: Schema = {}
    kinds = schema.get("type", "object")
    is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds)
    if is_object and isinstance(properties := schema.get("properties"), dict):
        found["properties"] = {name: documented(value) for name, value in properties.items()}
        required = schema.get("required")
        if isinstance(required, list) and (known := [name for name in required if name in properties]):
            found["required"] = known
    if isinstance(items := schema.get("items"), dict):
        found["items"] = documented(items)
    additional = schema.get("additionalProperties")
    if additional is not None:
        found["additionalProperties"] = additional if isinstance(additional, bool) else documented(additional)
    for name in ("anyOf", "oneOf", "prefixItems"):
        if isinstance(members := schema.get(name), list) and members:
            found[name] = [documented(member) for member in members]
    return found


def _definitions(schema: Schema) -> Schema:
    named: Schema = {}
    for place in ("definitions", "$defs"):
        if isinstance(found := schema.get(place), dict):
            named |= {name: documented(value) for name, value in found.items()}
    return {"$defs": named} if named else {}
