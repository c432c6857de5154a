"""The base64 data of a part: its text, or its bytes, searched for secrets."""

from __future__ import annotations

import base64
import binascii

from golem_cli.core.secrets.find import Found, find_secrets


def secrets_in_data(data: str) -> list[Found]:
    """Return the secrets in base64 `data`; their places are those in what it stands for.

    Text is searched like every text. In other files every byte beyond ASCII counts as a mark, and escapes
    are not looked through: a photograph has many bytes, and means nothing by them. What is no base64 is text.

    >>> secrets_in_data("aGk=")
    []
    """
    text = text_in(data)
    if text is not None:
        return find_secrets(text)
    raw = bytes_in(data)
    return find_secrets(data) if raw is None else find_secrets(raw.decode("ascii", "replace"), escapes=False)


def text_in(data: str) -> str | None:
    """Return the text that base64 `data` stands for; None when it is no base64 or no text.

    >>> text_in("aGk="), text_in("/w=="), text_in("?")
    ('hi', None, None)
    """
    raw = bytes_in(data)
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None


def bytes_in(data: str) -> bytes | None:
    """Return the bytes that base64 `data` stands for; None when it is no base64."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
