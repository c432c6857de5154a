"""Whether a text is one strict JSON object (RFC 8259), at any depth and length."""

from __future__ import annotations

import re
from typing import Final

import msgspec

_FAST: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])

_SPACE: Final = r"[ \t\n\r]*+"
_STRING: Final = r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+"'
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_KEY: Final = rf"{_STRING}{_SPACE}:"
_SCALAR: Final = rf"{_STRING}|{_NUMBER}|true|false|null"


def _step(*choices: str) -> re.Pattern[str]:
    return re.compile(rf"{_SPACE}({'|'.join(choices)})")


_OPENS: Final = _step(r"\{")
_VALUE: Final = _step(r"[\[{]", _SCALAR)
_FIRST_KEY: Final = _step(r"\}", _KEY)
_FIRST_ITEM: Final = _step(r"[\[{\]]", _SCALAR)
_MORE_KEYS: Final = _step(r"\}", rf",{_SPACE}{_KEY}")
_MORE_ITEMS: Final = _step(r"\]", ",")
_REST: Final = re.compile(rf"{_SPACE}\Z")


def is_json_object(text: str) -> bool:
    r"""Whether `text` is one JSON object and nothing else but white space.

    Strict: no NaN, no trailing comma, no second value, no comment. Repeated keys, numbers of any length,
    lone surrogates (escaped or not) and nesting of any depth are JSON.

    >>> [is_json_object(text) for text in ('{"a": [1]}', '{"a": NaN}', '{} {}', '')]
    [True, False, False, False]
    """
    try:
        _FAST.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        # the library refuses surrogates and deep nesting, which are JSON: the grammar decides
        return _scan(text)
    return True


def _scan(text: str) -> bool:
    """Walk `text` by the grammar, with a stack of our own: any depth, linear time."""
    closers: list[str] = []
    expected = _OPENS
    position = 0
    while (found := expected.match(text, position)) is not None:
        position = found.end()
        piece = found[1]
        if piece == "{":
            closers.append("}")
            expected = _FIRST_KEY
        elif piece == "[":
            closers.append("]")
            expected = _FIRST_ITEM
        elif piece == "," or piece[-1] == ":":
            expected = _VALUE
        else:
            if piece in ("}", "]"):
                closers.pop()
                if not closers:
                    return _REST.match(text, position) is not None
            expected = _MORE_KEYS if closers[-1] == "}" else _MORE_ITEMS
    return False
