"""The clock of the store: RFC 3339 in UTC, to the millisecond."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Gives the time now, aware of its zone."""


def system_clock() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def readable(moment: str) -> str:
    """Return a moment that a file names as `rfc3339` writes it, so that text order is the order of time.

    "" for what is no time. One without a zone is taken for UTC.

    >>> readable("2026-01-02T05:04:05+02:00"), readable("soon")
    ('2026-01-02T03:04:05.000Z', '')
    """
    try:
        then = datetime.fromisoformat(moment)
        return rfc3339(then if then.tzinfo else then.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return ""


def later(moment: str, other: str) -> str:
    """Return the later one of a moment as `rfc3339` writes it and another; what is no time gives way.

    >>> later("2026-01-02T03:04:05.678Z", "zzz")
    '2026-01-02T03:04:05.678Z'
    """
    return max(moment, readable(other))


def rfc3339(moment: datetime) -> str:
    """Write a moment as conversations keep it.

    >>> rfc3339(datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC))
    '2026-01-02T03:04:05.678Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
