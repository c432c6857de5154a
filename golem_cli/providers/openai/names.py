"""The forms of tools' names and of calls' ids that services of OpenAI's formats take.

Sources: OpenAI API reference, "Create chat completion" and "Create a model response" (names match
^[a-zA-Z0-9_-]+$ and have at most 64 characters); decolua/9router issue 393 (a `call_id` of more than 64
characters is refused); mistralai/mistral-common, `validator.py` (ids match ^[a-zA-Z0-9]{9}$, names as above).
"""

from __future__ import annotations

import hashlib
import re
import string
from typing import Final

from golem_cli.providers.wire.names import fitted

ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
"""An id of the Responses API."""

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_ALPHABET: Final = string.digits + string.ascii_letters


def is_name(name: str) -> bool:
    """Whether a tool may be declared by that name."""
    return _NAME.fullmatch(name) is not None


def wire_name(name: str) -> str:
    """`name` as the formats take it: itself, or something like it that no other name becomes.

    >>> wire_name("get_weather"), wire_name("docs.search").startswith("docs_search_")
    ('get_weather', True)
    """
    return fitted(name, _NAME)


def wire_id(call_id: str, length: int) -> str:
    """`call_id` as a service with ids of exactly `length` letters and digits takes it; 0 takes any.

    A pure function of the id, so that call and result still pair, in this request and in all later ones.

    >>> wire_id("call_1", 0), len(wire_id("call_1", 9)), wire_id("abcDEF123", 9)
    ('call_1', 9, 'abcDEF123')
    """
    if not length or (len(call_id) == length and call_id.isascii() and call_id.isalnum()):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest(), "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
