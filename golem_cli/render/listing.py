"""Conversations → lines of a table: ids as short as they can be, ages, and columns that fit the screen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from golem_cli.render.neutralize import one_line

if TYPE_CHECKING:
    from golem_cli.chat.ports import Listed

SHORTEST_ID: Final = 8
"""Characters of an id that are shown at least."""

_COLUMNS: Final = ("ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE")
_STATUS, _MODEL, _TITLE = 3, 4, 5
_LEAVING: Final = (_MODEL, 2, 1, _STATUS, _TITLE)
"""The columns that a narrow screen has no room for, the first to leave first. The id never leaves."""
_LONGEST: Final = {_STATUS: 12, _MODEL: 40}
"""Cells of what a file may say at any length; the title takes what is left."""
_NARROWEST: Final = {_MODEL: 12, _TITLE: 12}
"""Cells below which a column is no use."""
_GAP: Final = "  "

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def conversation_lines(
    shown: Sequence[Listed], ids: Sequence[str], *, width: int | None, now: datetime | None = None
) -> Iterator[str]:
    """Yield the table's lines, its head first. `ids` are those of all conversations.

    `width` cells bound a line; None gives every column and whole titles, as for a pipe. As much of an id is
    shown as tells it from all others, never less: commands take it so.
    """
    length = distinguishing_length((each.conversation_id for each in shown), ids)
    moment = now or datetime.now(UTC)
    rows = [_COLUMNS, *(_cells(each, length, moment) for each in shown)]
    sizes = _sizes(rows, width)
    for row in rows:
        fitted = (_fitted(cell, size) for cell, size in zip(row, sizes, strict=True) if size)
        yield _GAP.join(fitted).rstrip()


def _cells(each: Listed, id_length: int, now: datetime) -> tuple[str, ...]:
    cells = (
        each.conversation_id[:id_length],
        age(each.updated_at, now),
        str(each.message_count),
        each.status,
        each.model,
        _reason(each) or each.title or "Untitled",
    )
    return tuple(one_line(cell) for cell in cells)


def _reason(each: Listed) -> str:
    """Say why it cannot be read, in short: without the file's path, which has the id.

    >>> from types import SimpleNamespace
    >>> _reason(SimpleNamespace(conversation_id="0193", problem="/d/0193.json: it is cut"))
    'it is cut'
    """
    ends = (f"{each.conversation_id}.{suffix}: " for suffix in ("json", "journal"))
    return next((each.problem.partition(end)[2] for end in ends if end in each.problem), each.problem)


def _sizes(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Return the cells of each column; 0 for one that there is no room for."""
    sizes = [max(map(_cell_width, column)) for column in zip(*rows, strict=True)]
    sizes = [min(size, _LONGEST.get(column, size)) for column, size in enumerate(sizes)]
    if width is None:
        return sizes
    for column in _LEAVING:
        if _least(sizes) <= width:
            break
        sizes[column] = 0
    model, title = sizes[_MODEL], sizes[_TITLE]
    room = width - (_total(sizes) - model - title)
    sizes[_MODEL] = max(min(model, max(room // 2, room - title)), 0)
    sizes[_TITLE] = max(min(title, room - sizes[_MODEL]), 0)
    return sizes


def _least(sizes: Sequence[int]) -> int:
    """Return the cells of the narrowest line with these columns."""
    return _total([min(size, _NARROWEST.get(column, size)) for column, size in enumerate(sizes)])


def _total(sizes: Sequence[int]) -> int:
    present = [size for size in sizes if size]
    return sum(present) + len(_GAP) * (len(present) - 1)


def _fitted(cell: str, size: int) -> str:
    """Cut or fill `cell` to exactly `size` cells."""
    from golem_cli.render.cells import shorten

    short = shorten(cell, size)
    return short + " " * (size - _cell_width(short))


def _cell_width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def distinguishing_length(shown: Iterable[str], ids: Iterable[str]) -> int:
    """Return how many characters of an id tell each of `shown` from all other `ids`.

    Where one is the beginning of another (`ID` and `ID.2` in the trash) both are shown whole.

    >>> distinguishing_length(["0193aaaa-1"], ["0193aaaa-1", "0193aaaa-2"]), distinguishing_length([], [])
    (10, 8)
    """
    ordered = sorted(ids)
    length = SHORTEST_ID
    for each in shown:
        place = bisect_left(ordered, each)
        for neighbour in ordered[max(place - 1, 0) : place + 2]:  # they share most with it
            if neighbour != each and (neighbour.startswith(each) or each.startswith(neighbour)):
                length = max(length, len(each), len(neighbour))
            while neighbour != each and neighbour[:length] == each[:length]:
                length += 1
    return length


def age(moment: str, now: datetime) -> str:
    """Say how long ago `moment` (RFC 3339) was, in its largest unit; "" for what is no time.

    >>> age("2026-01-01T00:00:00.000Z", datetime(2026, 1, 1, 2, 30, tzinfo=UTC))
    '2 h'
    """
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return ""
    seconds = (now - (then if then.tzinfo else then.replace(tzinfo=UTC))).total_seconds()
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
