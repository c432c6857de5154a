"""Summaries → lines of a table: ids as short as they can be, ages, titles cut to the screen."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from golem_cli.cli.environment import Environment
    from golem_cli.store.summary import Summary

SHORTEST_ID: Final = 8
"""Characters of an id that are shown at least."""


def lines_of(shown: Sequence[Summary], ids: Sequence[str], environment: Environment) -> Iterator[str]:
    """Yield the table's lines. `ids` are those of all conversations. A pipe gets whole titles."""
    from golem_cli.render.cells import shorten
    from golem_cli.render.listing import age
    from golem_cli.render.neutralize import neutralize

    length = distinguishing_length(ids)
    now = datetime.now(UTC)
    rows = [
        (
            summary.conversation_id[:length],
            age(summary.updated_at, now),
            str(summary.message_count),
            summary.status,
            neutralize(summary.model, single_line=True),
            neutralize(summary.problem or summary.title, single_line=True),
        )
        for summary in shown
    ]
    header = ("ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE")
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    for row in (header, *rows):
        fixed = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        room = environment.columns - len(fixed) - 2
        title = shorten(row[-1], max(room, 12)) if environment.stdout_is_terminal else row[-1]
        yield f"{fixed}  {title}".rstrip()


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
