"""Identity: the ids of runs and conversations."""

from __future__ import annotations

import re
from typing import Final

CANONICAL_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""The regular expression of a UUID in its canonical lower-case form."""

_is_canonical: Final = re.compile(CANONICAL_UUID).fullmatch


def new_id() -> str:
    """Mint a UUID version 7 (RFC 9562): lower-case, canonical; later ids sort later.

    >>> new_id() < new_id()
    True
    """
    import uuid_utils

    return str(uuid_utils.uuid7())


def is_canonical_uuid(text: str) -> bool:
    """Whether `text` is a UUID in its canonical lower-case form: only such an id may name a file.

    >>> is_canonical_uuid(new_id()), is_canonical_uuid("../../etc/passwd")
    (True, False)
    """
    return _is_canonical(text) is not None
