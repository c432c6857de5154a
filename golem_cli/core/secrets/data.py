"""The base64 data of a part: its text, or its bytes, searched for secrets."""

from __future__ import annotations

import base64
import binascii
import codecs
from contextlib import suppress
from typing import Final

from golem_cli.core.secrets.find import Found, find_secrets

_MARKED: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""How the text behind these first bytes is written: so do some editors and shells."""
_TO_BASE64: Final = str.maketrans("-_", "+/", "\r\n")
"""The other alphabet and lines → base64 as it is decoded (RFC 4648, sections 5 and 3.1)."""
_SHORTEST_MEDIA: Final = 512
"""Characters of such base64 that may stand for something else than text; less may be a key of any service."""


def secrets_in_data(data: str) -> list[Found]:
    """Return the secrets in base64 `data`; their places are those in what it stands for.

    Text is searched like every text. In other files every byte beyond ASCII counts as a mark, and escapes
    are not looked through: a photograph has many bytes, and means nothing by them; but text of two bytes a
    character is seen. What is no base64 is text.

    >>> secrets_in_data("aGk=")
    []
    """
    text = text_in(data)
    if text is not None:
        return find_secrets(text)
    raw = bytes_in(data)
    if raw is None:
        return find_secrets(data)
    narrow = raw.decode("ascii", "replace")
    return [
        found for text in (narrow, narrow.replace("\0", "")) for found in find_secrets(text, escapes=False)
    ]


def text_in(data: str) -> str | None:
    r"""Return the text that base64 `data` stands for; None when it is no base64 or no text.

    >>> text_in("aGk="), text_in("//5oAGkA"), text_in("/w=="), text_in("?")
    ('hi', '\ufeffhi', None, None)
    """
    raw = bytes_in(data)
    return None if raw is None else _decoded(raw)


def data_of(text: str, *, like: str) -> str:
    r"""Return `text` as base64 data, written as that in the data `like` is.

    >>> data_of("ho", like="aGk="), data_of("\ufeffho", like="//5oAGkA")
    ('aG8=', '//5oAG8A')
    """
    return base64.b64encode(text.encode(_encoding(bytes_in(like) or b""))).decode("ascii")


def bytes_in(data: str) -> bytes | None:
    """Return the bytes that base64 `data` stands for, or None.

    That of the other alphabet, in lines or without padding counts too, unless it is more likely a text that
    only looks so: one with a key in it, or a short one that stands for no text.
    """
    with suppress(binascii.Error, ValueError):
        return base64.b64decode(data, validate=True)
    plain = data.translate(_TO_BASE64)
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    stands_for_something = len(data) >= _SHORTEST_MEDIA or _decoded(raw) is not None
    return raw if stands_for_something and not find_secrets(data) else None


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode(_encoding(raw))
    except UnicodeDecodeError:
        return None


def _encoding(raw: bytes) -> str:
    return _MARKED.get(raw[:2], "utf-8")
