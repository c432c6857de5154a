"""Conversations → lines of a table: ids as short as they can be, ages, titles cut to the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from golem_cli.render.neutralize import neutralize

if TYPE_CHECKING:
    from golem_cli.chat.ports import Listed

SHORTEST_ID: Final = 8
"""Characters of an id that are shown at least."""
NARROWEST_TITLE: Final = 12

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def conversation_lines(
    shown: Sequence[Listed], ids: Sequence[str], *, width: int | None, now: datetime | None = None
) -> Iterator[str]:
    """Yield the table's lines, its head first. `ids` are those of all conversations.

    `width` cells bound a line; None gives whole titles, as for a pipe. As much of an id is shown as tells it
    from all others; commands take it so.
    """
    from golem_cli.render.cells import shorten

    length = distinguishing_length(ids)
    moment = now or datetime.now(UTC)
    head = ("ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE")
    rows = [head, *(_cells(each, length, moment) for each in shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    for row in rows:
        fixed = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=False))
        title = row[-1] if width is None else shorten(row[-1], max(width - len(fixed) - 2, NARROWEST_TITLE))
        yield f"{fixed}  {title}".rstrip()


def _cells(each: Listed, id_length: int, now: datetime) -> tuple[str, ...]:
    cells = (
        each.conversation_id[:id_length],
        age(each.updated_at, now),
        str(each.message_count),
        each.status,
        each.model,
        each.problem or each.title or "Untitled",
    )
    return tuple(neutralize(cell, single_line=True) for cell in cells)


def distinguishing_length(ids: Sequence[str]) -> int:
    """Return how many characters of an id tell each of `ids` from all others.

    >>> distinguishing_length(["0193aaaa-1", "0193aaaa-2"]), distinguishing_length(["0193aaaa-1"])
    (10, 8)
    """
    shared = 0
    for first, second in pairwise(sorted(ids)):
        common = next(
            (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first)
        )
        shared = max(shared, common)
    return max(shared + 1, SHORTEST_ID)


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
