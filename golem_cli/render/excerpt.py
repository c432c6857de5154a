"""A match within its text, on one line of a given width."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from golem_cli.render.cells import first_cells, most_cells
from golem_cli.render.neutralize import one_line

_CONTEXT: Final = 400
"""Characters on either side of the match that are looked at."""
_SPACES: Final = re.compile(r"\s+")
_CUT: Final = "…"


def excerpt(
    text: str, start: int, end: int, *, width: int, clean: Callable[[str], str] = one_line
) -> tuple[str, str, str]:
    """Return what stands before the match, the match, and what follows, in at most `width` cells together.

    White space becomes single spaces, and `…` stands where text is left out. `clean` makes each part fit to
    be shown.

    >>> excerpt("one two three four five six", 8, 13, width=16)
    ('…o ', 'three', ' four …')
    """
    first = max(start - _CONTEXT, 0)
    before, match, after = (
        clean(_SPACES.sub(" ", part))
        for part in (text[first:start], text[start : min(end, start + _CONTEXT)], text[end : end + _CONTEXT])
    )
    match = first_cells(match, width)
    room = width - most_cells(match)
    after_cells = most_cells(after)
    before = _last_cells(before.lstrip(), max(room // 3, room - after_cells), whole=first == 0)
    after = after.rstrip()
    room -= most_cells(before)
    if most_cells(after) <= room and end + _CONTEXT >= len(text):
        return before, match, after
    return before, match, first_cells(after, max(room - 1, 0)) + (_CUT if room > 0 else "")


def _last_cells(text: str, width: int, *, whole: bool) -> str:
    """Return the end of `text`, from the beginning of a word if one is near; `whole`: nothing precedes it."""
    if whole and most_cells(text) <= width:
        return text
    if width < 1:
        return ""
    kept = text
    while most_cells(kept) > width - 1:
        kept = kept[max((most_cells(kept) - width) // 2, 1) :]
    space = kept.find(" ")
    if kept is not text and -1 < space < len(kept) // 2:
        kept = kept[space + 1 :]
    return _CUT + kept
