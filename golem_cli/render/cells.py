"""How many terminal cells text takes, and how to shorten it without cutting a character in two."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_PICTURES: Final = 0x1F000


@lru_cache(maxsize=8192)
def _most_cells_of(char: str) -> int:
    return 2 if ord(char) >= _PICTURES or unicodedata.east_asian_width(char) in "WFA" else 1


def most_cells(text: str) -> int:
    r"""Return the most cells that any terminal may give to `text`: terminals disagree on emoji and marks.

    Every code point counts, joiners and combining marks included; ambiguous widths count double.

    >>> most_cells("abc"), most_cells("漢字"), most_cells("e\u0301")
    (3, 4, 3)
    """
    return len(text) if text.isascii() else sum(map(_most_cells_of, text))


def shorten(text: str, width: int) -> str:
    """Cut `text` (one line) to `width` cells at a grapheme boundary and say how many characters are left out.

    >>> shorten("abcdefghijklmnop", 12)
    'abcde… (+11)'
    >>> shorten("short", 12)
    'short'
    """
    if _fits(text, width):
        return text
    kept = len(first_cells(text, max(width - len(f"… (+{len(text)})"), 0)))
    return f"{text[:kept]}… (+{len(text) - kept})" if width > 0 else ""


def _fits(text: str, width: int) -> bool:
    if text.isascii():
        return len(text) <= width
    from rich.cells import cell_len

    return len(text) <= width * 8 and cell_len(text) <= width


def first_cells(text: str, width: int) -> str:
    """Return the longest beginning of `text` that takes at most `width` cells and cuts no grapheme."""
    if text.isascii():
        return text[:width]
    from rich.cells import split_graphemes

    end = 0
    # No grapheme that fits starts beyond here; a longer text need not be looked at.
    for _, stop, cells in split_graphemes(text[: width * 8 + 8])[0]:
        width -= cells
        if width < 0:
            break
        end = stop
    return text[:end]


def break_rows(text: str, width: int) -> list[str]:
    """Break `text` into rows of at most `width` cells, at a space where there is one.

    >>> break_rows("one two three", 8)
    ['one two', 'three']
    """
    rows: list[str] = []
    for line in text.split("\n"):
        rest = line
        while len(fits := first_cells(rest, max(width, 2)) or rest[:1]) < len(rest):
            space = fits.rfind(" ") if rest[len(fits)] != " " else len(fits)
            cut = space if space > 0 else len(fits)
            rows.append(rest[:cut])
            rest = rest[cut:].removeprefix(" ")
        rows.append(rest)
    return rows
