"""Where a list item that is taller than the screen can be cut, so that both parts look like the whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from golem_cli.render.markdown import block_parser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_MARK: Final = re.compile(r" *(?:[-+*]|\d{1,9}[.)])")
_DRAWN_MARK: Final = re.compile(r" *(?:•|\d+\.) ")
_CHILD: Final = 2
"""The level of the blocks in an item of a top-level list."""


class SplitItem(NamedTuple):
    """The lines that are certain, those that stand for the rest, and whether a blank row is between them.

    The rest begins with the item's mark alone, and with the fence's first line again when that is cut.
    """

    certain: list[str]
    rest: list[str]
    apart: bool = False


def split_item(lines: Sequence[str]) -> SplitItem | None:
    """Cut an open item before its last block; a fence that is the last one, between two lines of code."""
    tokens = block_parser().parse("\n".join(lines), {})
    mark = _MARK.match(lines[0])
    children = [one for one in tokens if one.level == _CHILD and one.nesting >= 0 and one.map]
    items = sum(one.type == "list_item_open" and one.level == 1 for one in tokens)
    if not mark or items != 1 or not children:
        return None
    last = children[-1]
    start = last.map[0] if last.map else 0
    if last.type == "fence" and start > 0 and (cut := _cut_of_code(lines, start, last)):
        return SplitItem(list(lines[:cut]), [mark.group(), lines[start], *lines[cut:]])
    if len(children) == 1:
        return None
    apart = last.type == children[-2].type == "paragraph_open"
    return SplitItem(list(lines[:start]), [mark.group(), *lines[start:]], apart)


def _cut_of_code(lines: Sequence[str], start: int, fence: Token) -> int:
    """The last place between two lines of code of a fence, or 0: blank lines at an edge would be lost."""
    end = fence.map[1] if fence.map else 0
    closed = bool(lines[end - 1].strip()) and not lines[end - 1].strip().strip(fence.markup[0])
    for cut in range(end - 1 - closed, start + 1, -1):
        if lines[cut].strip() and lines[cut - 1].strip():
            return cut
    return 0


def without_mark(rows: list[str]) -> list[str]:
    """Return the rows of an item's rest: its mark stands above them already."""
    if rows and (mark := _DRAWN_MARK.match(rows[0])):
        return [" " * len(mark.group()) + rows[0][mark.end() :], *rows[1:]]
    return rows
