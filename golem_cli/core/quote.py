"""Foreign text inside a sentence of ours: on one line, a mark for what acts on a terminal or hides."""

from __future__ import annotations

from typing import Final

_LONGEST: Final = 60


def marked(text: str, *, longest: int | None = None) -> str:
    r"""Return `text` with every control and invisible character as a mark, the same that screens show.

    With `longest` at most so many characters, marks counted as they are shown and none cut in two.

    >>> print(marked("a\x1b\u202e"))
    a⟦U+001B⟧⟦U+202E⟧
    >>> print(marked("a\x1b\u202e", longest=12))
    a⟦U+001B⟧…
    """
    shown = [_shown(character) for character in (text if longest is None else text[: longest + 1])]
    if longest is None or sum(map(len, shown)) <= longest:
        return "".join(shown)
    while sum(map(len, shown)) >= longest:
        shown.pop()
    return "".join(shown) + "…"


def quoted(text: str, *, longest: int = _LONGEST) -> str:
    r"""Return `text` in quotes, marked, cut to `longest` characters.

    >>> print(quoted("a\nb"))
    'a⟦U+000A⟧b'
    """
    return repr(marked(text, longest=longest))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"⟦U+{code:04X}⟧"
