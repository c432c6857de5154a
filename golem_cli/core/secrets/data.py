"""The base64 data of a part: its text, or its bytes, searched for secrets."""

from __future__ import annotations

import base64
import binascii
import codecs
from typing import Final

from golem_cli.core.secrets.find import Found, find_secrets

_MARKED: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""How the text behind these first bytes is written: so do some editors and shells."""
_NOT_BASE64: Final = str.maketrans("-_", "+/", " \t\r\n")


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
    try:
        return None if raw is None else raw.decode(_encoding(raw))
    except UnicodeDecodeError:
        return None


def data_of(text: str, *, like: str) -> str:
    r"""Return `text` as base64 data, written as that in the data `like` is.

    >>> data_of("ho", like="aGk="), data_of("\ufeffho", like="//5oAGkA")
    ('aG8=', '//5oAG8A')
    """
    return base64.b64encode(text.encode(_encoding(bytes_in(like) or b""))).decode("ascii")


def bytes_in(data: str) -> bytes | None:
    """Return the bytes that base64 `data` stands for, in lines and of both alphabets; or None."""
    plain = data.translate(_NOT_BASE64)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _encoding(raw: bytes) -> str:
    return _MARKED.get(raw[:2], "utf-8")
