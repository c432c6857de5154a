"""The base64 data of a part as text, to be searched like text."""

from __future__ import annotations

import base64
import binascii


def text_in(data: str) -> str | None:
    """Return the text that base64 `data` stands for, None when it is no base64.

    Bytes that are no UTF-8 become U+FFFD: a key that stands in a document of another kind is found too.

    >>> text_in("aGk="), text_in("?")
    ('hi', None)
    """
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None
