"""Text of foreign origin inside a sentence of ours: in quotes, on one line, harmless, not too long."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 60


def quoted(text: str) -> str:
    r"""Return `text` in quotes with every control and invisible character escaped, cut at 60 characters.

    >>> print(quoted("a\nb"))
    'a\nb'
    """
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
