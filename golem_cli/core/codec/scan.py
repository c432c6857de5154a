"""A strict JSON scanner (RFC 8259): the definition of what the codec reads.

It pulls: the reader of a record walks `members` and `elements` and consumes each value, so every character
is looked at once. It keeps positions and the raw text of values, meets each key (repeated ones too), takes
lone surrogate escapes and numbers of any length, and is iterative, so that deep nesting costs no stack.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from golem_cli.core.codec.flaw import Flaw, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH: Final = 10_000
"""Nesting that is read; the same bound as the Go library's JSON package has."""

_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_STRING_BODY: Final = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+'
_OPEN_STRING: Final = re.compile(f'"{_STRING_BODY}')
_STRING: Final = re.compile(f'"{_STRING_BODY}"')
_SCALAR: Final = re.compile(
    f'"{_STRING_BODY}"' + r"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null"
)
# What can stand at the very end of a text that was cut inside a scalar.
_CUT_VALUE: Final = re.compile(r"-|t|tr|tru|f|fa|fal|fals|n|nu|nul")
_CUT_NUMBER: Final = re.compile(r"(?<=[0-9])(?:\.|[eE][+-]?)")
_CUT_ESCAPE: Final = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?")
_INSIGNIFICANT: Final = re.compile(f'("{_STRING_BODY}")' + r"|[ \t\r\n]++")

_CLOSER: Final = {"[": "]", "{": "}"}
KINDS: Final = {"{": "an object", "[": "a list", '"': "text", "t": "true", "f": "false", "n": "null"}


class Cursor:
    """A place in a JSON text. Every method raises `Flaw` where the text breaks the grammar."""

    __slots__ = ("depth", "position", "text")

    def __init__(self, text: str, *, depth: int = 0) -> None:
        self.text = text
        self.position = 0
        self.depth = depth

    def peek(self) -> str:
        """Skip white space; the character that follows, "" at the end."""
        match = _SPACE.match(self.text, self.position)
        assert match is not None  # noqa: S101 (the pattern matches the empty text)
        self.position = match.end()
        return self.text[self.position : self.position + 1]

    def kind(self) -> str:
        """The kind of the value that follows, in words, or what stands there instead of a value."""
        character = self.peek()
        if character and character in "-0123456789":
            return "a number"
        return KINDS.get(character) or excerpt(self.text, self.position)

    def members(self) -> Iterator[str]:
        """Walk an object: yields each key, standing at its value, which the caller must consume."""
        self._enter("{")
        if self.peek() == "}":
            self.position += 1
        else:
            yield self._key()
            while self._goes_on("}"):
                yield self._key()
        self.depth -= 1

    def elements(self) -> Iterator[int]:
        """Walk a list: yields each index, standing at the element, which the caller must consume."""
        self._enter("[")
        index = 0
        if self.peek() == "]":
            self.position += 1
        else:
            yield index
            while self._goes_on("]"):
                index += 1
                yield index
        self.depth -= 1

    def string(self) -> str:
        """Read a string. Lone surrogate escapes become lone surrogates, as Python's strings can hold them."""
        self.peek()
        token = self._string_token()
        return json.loads(token) if "\\" in token else token[1:-1]

    def scalar(self) -> str:
        """Read a string, number, true, false or null; its raw text."""
        if self.peek() == '"':
            return self._string_token()
        match = _SCALAR.match(self.text, self.position)
        if match is None:
            cut = _CUT_VALUE.fullmatch(self.text, self.position) is not None
            raise self.flaw("expected a JSON value", at_end=cut)
        self.position = match.end()
        return match.group()

    def value(self) -> str:
        """Read any value; its raw text, from its first to its last character."""
        self.peek()
        start = self.position
        self._skip()
        return self.text[start : self.position]

    def take_null(self) -> bool:
        """Consume `null`, if that is what follows."""
        if self.peek() != "n":
            return False
        self.scalar()
        return True

    def flaw(self, expected: str, *, at_end: bool = False) -> Flaw:
        """The error that something else was `expected` here."""
        at_end = at_end or self.position >= len(self.text)
        found = excerpt(self.text, self.position)
        return Flaw(f"{expected}, found {found}", self.position, at_end=at_end)

    def _enter(self, opener: str) -> None:
        if self.peek() != opener:
            raise self.flaw(f"expected {KINDS[opener]}")
        self._deepen(1)
        self.depth += 1
        self.position += 1

    def _deepen(self, levels: int) -> None:
        if self.depth + levels > MAX_DEPTH:
            raise Flaw(f"nested more than {MAX_DEPTH:,} deep", self.position)

    def _key(self) -> str:
        if self.peek() != '"':
            raise self.flaw("expected a field name in quotes")
        key = self.string()
        if self.peek() != ":":
            raise self.flaw("expected ':' after a field name")
        self.position += 1
        return key

    def _goes_on(self, closer: str) -> bool:
        """Consume a comma (True) or the closing bracket (False)."""
        character = self.peek()
        if character not in {",", closer}:
            cut = _CUT_NUMBER.fullmatch(self.text, self.position) is not None
            raise self.flaw(f"expected ',' or '{closer}'", at_end=cut)
        self.position += 1
        return character == ","

    def _string_token(self) -> str:
        match = _STRING.match(self.text, self.position)
        if match is None:
            raise self._bad_string()
        self.position = match.end()
        return match.group()

    def _bad_string(self) -> Flaw:
        match = _OPEN_STRING.match(self.text, self.position)
        if match is None:
            return self.flaw("expected text in quotes")
        self.position = match.end()
        if self.text[self.position : self.position + 1] == "\\":
            cut = _CUT_ESCAPE.fullmatch(self.text, self.position) is not None
            return self.flaw("expected a JSON escape", at_end=cut)
        return self.flaw("expected the end of the text in quotes (control characters must be escaped)")

    def _skip(self) -> None:
        """Consume one value of any depth without recursion."""
        closers: list[str] = []
        while True:
            character = self.peek()
            if character in _CLOSER:
                self._deepen(len(closers) + 1)
                self.position += 1
                closer = _CLOSER[character]
                if self.peek() != closer:
                    closers.append(closer)
                    if closer == "}":
                        self._key()
                    continue
                self.position += 1
            else:
                self.scalar()
            while closers and not self._goes_on(closers[-1]):
                closers.pop()
            if not closers:
                return
            if closers[-1] == "}":
                self._key()


def compact(raw: str) -> str:
    r"""Remove the white space outside strings from valid JSON: one line, everything else as it stands.

    >>> compact('{ "a b" : [1.0,\t 1e5] }')
    '{"a b":[1.0,1e5]}'
    """
    return _INSIGNIFICANT.sub(r"\1", raw)


def scan_value(text: str, *, depth: int = 0) -> None:
    """Raise `Flaw` unless `text` is one strict JSON value inside `depth` levels; space around is fine."""
    cursor = Cursor(text, depth=depth)
    cursor.value()
    if cursor.peek():
        raise cursor.flaw("expected the end of the text")
