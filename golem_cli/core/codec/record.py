"""Records ↔ JSON objects, driven by tables: known fields checked, unknown kept, repeated ones refused."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from golem_cli.core.codec.flaw import EXCERPT, Flaw
from golem_cli.core.codec.scan import Cursor, compact, scan_value
from golem_cli.core.errors import TranscriptError
from golem_cli.core.quote import marked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Reader = Callable[[Cursor], object]
    # A record's fields have many types; the table pairs each reader with its writer.
    Writer = Callable[[Any], str]

_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How one type of value is read and written; values listed in `empty` are left out on writing."""

    read: Reader
    write: Writer
    empty: tuple[object, ...] = (None,)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a record: its place in memory, its kind, and whether it is written even when empty."""

    attribute: str
    kind: Kind
    always: bool = False


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A record's table, in the order of writing. `foreign` maps keys of other contracts to their names."""

    build: Callable[..., object]
    fields: Mapping[str, Field]
    foreign: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()


def read_record(cursor: Cursor, shape: Shape) -> object:
    """Read one object as `shape` says. Raises Flaw with the field and the position."""
    cursor.peek()
    start = cursor.position
    values: dict[str, object] = {}
    extra: dict[str, str] = {}
    read_fields(cursor, shape, values, extra)
    for name in shape.required:
        if shape.fields[name].attribute not in values:
            raise Flaw(f'no "{name}" field', start, field=name)
    return shape.build(**values, extra=extra)


def read_fields(
    cursor: Cursor,
    shape: Shape,
    values: dict[str, object],
    extra: dict[str, str],
    readers: Mapping[str, Reader] | None = None,
) -> None:
    """Fill `values` (by attribute) and `extra` while the object is walked: a cut leaves what was read.

    A null known field counts as absent, though not for repetition. Of an unknown field that is repeated the
    last value is kept, as JSON readers do. `readers` replaces the reader of a field by its JSON name.
    """
    seen: set[str] = set()
    for key in cursor.members():
        known = shape.fields.get(key)
        try:
            if known is None:
                _refuse_foreign(cursor, shape, key)
                extra[key] = compact(cursor.value())
            else:
                _refuse_repeated(cursor, seen, key)
                if not cursor.take_null():
                    read = (readers or {}).get(key, known.kind.read)
                    values[known.attribute] = read(cursor)
        except Flaw as flaw:
            name = marked(key[:EXCERPT])
            flaw.field = f"{name}.{flaw.field}" if flaw.field else name
            raise


def write_record(record: object, shape: Shape) -> str:
    """Write a record on one line: known fields in the table's order, without empty ones, then the unknown."""
    return "{" + ",".join(f"{name}:{value}" for name, value in write_members(record, shape).items()) + "}"


def write_members(record: object, shape: Shape) -> dict[str, str]:
    """The members that a record is written with, in order: the name's JSON text → the value's.

    Raises TranscriptError for an unknown field that no reader would take back.
    """
    members = {}
    for name, known in shape.fields.items():
        value = getattr(record, known.attribute)
        if known.always or not _is_empty(value, known.kind):
            members[f'"{name}"'] = known.kind.write(value)
    extra: Mapping[str, str] = getattr(record, "extra", {})
    for key, raw in extra.items():
        if key in shape.fields or key in shape.foreign or not is_json(raw):
            name = marked(key[:EXCERPT])
            raise TranscriptError(f"cannot write '{name}': not a JSON value of an unknown field", field=name)
        members[write_text(key)] = compact(raw)
    return members


def _is_empty(value: object, kind: Kind) -> bool:
    """Whether the field is left out on writing. Zero is not false, nor false zero."""
    return any(value is empty or (type(value) is type(empty) and value == empty) for empty in kind.empty)


def is_json(text: str, *, depth: int = 0) -> bool:
    """Whether `text` is one strict JSON value, nested at most as deep as fits inside `depth` levels."""
    try:
        if text.count("[") + text.count("{") < _SURELY_SHALLOW:
            _STRICT.decode(text)
            return True
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass  # perhaps only beyond the fast library: the scanner decides
    try:
        text.encode()
        scan_value(text, depth=depth)
    except (Flaw, UnicodeEncodeError):
        return False
    return True


_STRICT: Final = msgspec.json.Decoder(msgspec.Raw)
_SURELY_SHALLOW: Final = 9_000


def _refuse_foreign(cursor: Cursor, shape: Shape, key: str) -> None:
    contract = shape.foreign.get(key)
    if contract is not None:
        raise foreign(contract, cursor.position)


def _refuse_repeated(cursor: Cursor, seen: set[str], key: str) -> None:
    if key in seen:
        raise Flaw("the field stands twice", cursor.position)
    seen.add(key)


def foreign(contract: str, position: int) -> Flaw:
    """The error for a transcript of another contract."""
    return Flaw(f"this looks like {contract}, not like a golem transcript; convert it first", position)


def read_text(cursor: Cursor) -> str:
    """Read a string field."""
    if cursor.peek() != '"':
        raise expected(cursor, "text")
    return cursor.string()


def write_text(text: str) -> str:
    r"""Write a string; only what JSON demands is escaped, and lone surrogates, which UTF-8 cannot carry.

    >>> print(write_text('é"' + chr(0xD800)))
    "é\"\ud800"
    """
    try:
        return msgspec.json.encode(text).decode()
    except UnicodeEncodeError:
        written = json.dumps(text, ensure_ascii=False)
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", written)


def _read_flag(cursor: Cursor) -> bool:
    if cursor.peek() not in {"t", "f"}:
        raise expected(cursor, "true or false")
    return cursor.scalar() == "true"


def _read_integer(cursor: Cursor) -> int:
    token = _number(cursor, "a whole number")
    if not _INTEGER.fullmatch(token):
        raise Flaw("expected a whole number of at most 18 digits", cursor.position - len(token))
    return int(token)


def _read_number(cursor: Cursor) -> float:
    token = _number(cursor, "a number")
    number = float(token)
    if not math.isfinite(number):
        raise Flaw("the number is too large", cursor.position - len(token))
    return number


def _number(cursor: Cursor, what: str) -> str:
    if cursor.kind() != "a number":
        raise expected(cursor, what)
    return cursor.scalar()


def _write_number(number: float) -> str:
    return repr(number) if math.isfinite(number) else "null"


def expected(cursor: Cursor, what: str) -> Flaw:
    """The error for a value of the wrong type, which follows."""
    found = cursor.kind()
    return Flaw(f"expected {what}, found {found}", cursor.position, at_end=not cursor.peek())


def list_of(item: Kind) -> Kind:
    """A list; a null element reads as an empty one, as the Go library does."""

    def read(cursor: Cursor) -> tuple[object, ...]:
        if cursor.peek() != "[":
            raise expected(cursor, "a list")
        items = []
        for index in cursor.elements():
            try:
                items.append(item.read(cursor))
            except Flaw as flaw:
                where = f"item {index + 1}"
                flaw.field = f"{where}.{flaw.field}" if flaw.field else where
                raise
        return tuple(items)

    def write(items: tuple[object, ...]) -> str:
        return "[" + ",".join(map(item.write, items)) + "]"

    return Kind(read=read, write=write, empty=((),))


def record(shape: Shape, *, empty: tuple[object, ...] = (None,)) -> Kind:
    """A nested record."""

    def read(cursor: Cursor) -> object:
        if not shape.required and cursor.take_null():
            return shape.build()
        if cursor.peek() != "{":
            raise expected(cursor, "an object")
        return read_record(cursor, shape)

    return Kind(read=read, write=lambda value: write_record(value, shape), empty=empty)


TEXT: Final = Kind(read=read_text, write=write_text, empty=("",))
FLAG: Final = Kind(read=_read_flag, write=lambda flag: "true" if flag else "false", empty=(False,))
INTEGER: Final = Kind(read=_read_integer, write=str)
COUNT: Final = Kind(read=_read_integer, write=str, empty=(0,))
NUMBER: Final = Kind(read=_read_number, write=_write_number)
