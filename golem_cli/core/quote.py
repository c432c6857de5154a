"""Foreign text inside a sentence of ours: on one line, a mark for what acts on a terminal or hides."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 60


def marked(text: str) -> str:
    r"""Return `text` with every control and invisible character as a mark, the same that screens show.

    >>> print(marked("a\x1b\u202e"))
    a⟦U+001B⟧⟦U+202E⟧
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _mark(c) for c in text)


def quoted(text: str, *, longest: int = _LONGEST) -> str:
    r"""Return `text` in quotes, marked, cut at `longest` characters.

    >>> print(quoted("a\nb"))
    'a⟦U+000A⟧b'
    """
    return repr(marked(text if len(text) <= longest else text[: longest - 1] + "…"))


def _mark(character: str) -> str:
    code = ord(character)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"⟦U+{code:04X}⟧"
