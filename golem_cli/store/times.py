"""The clock of the store: RFC 3339 in UTC, to the millisecond."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Gives the time now, aware of its zone."""


def system_clock() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """Write a moment as conversations keep it.

    >>> rfc3339(datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC))
    '2026-01-02T03:04:05.678Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
