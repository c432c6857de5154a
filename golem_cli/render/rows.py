"""Rows of styled text as what a terminal is sent: SGR sequences only where the style changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style

Row = list[Segment]


@lru_cache(maxsize=512)
def sgr(style: Style, *, color: bool) -> str:
    """Return the sequence that switches `style` on, "" for none."""
    before, _, _ = (style if color else style.without_color).render("\0").partition("\0")
    return before


def to_ansi(row: Sequence[Segment], *, color: bool) -> str:
    """Return one row as text with SGR sequences; no blanks at its end."""
    end = len(row)
    while end and _is_blank(row[end - 1]):
        end -= 1
    out: list[str] = []
    current = ""
    for text, style, _ in row[:end]:
        wanted = sgr(style, color=color) if style else ""
        if wanted != current:
            out.append(("\x1b[0m" if current else "") + wanted)
            current = wanted
        out.append(text)
    if current:
        return "".join(out) + "\x1b[0m"
    return "".join(out).rstrip(" ")


def _is_blank(segment: Segment) -> bool:
    """Whether nothing of it can be seen."""
    style = segment.style
    return not segment.text.strip(" ") and not (style and (style.bgcolor or style.underline or style.reverse))
