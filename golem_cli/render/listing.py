"""Conversations as a table: the newest first, as `/sessions` shows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol

from golem_cli.render.neutralize import neutralize

if TYPE_CHECKING:
    from rich.table import Table

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))
_BAD: Final = frozenset({"failed", "damaged", "interrupted"})


class Listed(Protocol):
    """What a list shows of a conversation; the store's summaries have it."""

    @property
    def conversation_id(self) -> str:
        """Its id."""
        ...

    @property
    def title(self) -> str:
        """Its title, perhaps empty."""
        ...

    @property
    def updated_at(self) -> str:
        """When it was changed last, as RFC 3339."""
        ...

    @property
    def message_count(self) -> int:
        """How many messages it has."""
        ...

    @property
    def model(self) -> str:
        """The model that it talks to."""
        ...

    @property
    def status(self) -> str:
        """How its last run ended."""
        ...


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


def conversation_table(listed: Sequence[Listed], *, now: datetime | None = None) -> Table:
    """Return the table of `listed`, in the order given. Ids are whole, so that they can be pasted."""
    from rich.table import Table
    from rich.text import Text

    moment = now or datetime.now(UTC)
    table = Table(box=None, pad_edge=False, header_style="note")
    table.add_column("id", no_wrap=True, min_width=8)
    table.add_column("age", justify="right", no_wrap=True)
    table.add_column("messages", justify="right", no_wrap=True)
    table.add_column("title", ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column("model", no_wrap=True, overflow="ellipsis")
    table.add_column("status", no_wrap=True)
    for one in listed:
        status = _one_line(one.status)
        table.add_row(
            Text(_one_line(one.conversation_id)),
            Text(age(one.updated_at, moment)),
            Text(str(one.message_count)),
            Text(_one_line(one.title) or "Untitled"),
            Text(_one_line(one.model)),
            Text(status, style="failure" if status in _BAD else ""),
        )
    return table


def _one_line(text: str) -> str:
    return neutralize(text, single_line=True)
