"""One line about each conversation: what lists, pickers and name look-ups need."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.run_status import FAILED, RUNNING
from golem_cli.store.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAMAGED = "damaged"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in short.

    `updated_at` is as `rfc3339` writes it; when the file was written, where it names a moment that is none.
    `message_count` counts what a reader sees: with what a stopped last run left behind. `status` is its last
    run's, "" before the first run, `damaged` for a file that cannot be read; `problem`
    then says why, and `advice` what to do, "" where nobody knows. `imported_from` is the outside file that it
    is a copy of, "" for most.
    """

    conversation_id: str
    title: str = ""
    created_at: str = ""
    updated_at: str = ""
    message_count: int = 0
    model: str = ""
    status: str = ""
    folder: Path
    forked_from: str = ""
    imported_from: str = ""
    problem: str = ""
    advice: str = ""

    @property
    def path(self) -> Path:
        """Its file in `folder`."""
        return self.folder / f"{self.conversation_id}.json"


class Listing(msgspec.Struct, frozen=True):
    """Conversations to show, the one changed last first, and the ids of all, the one begun last first."""

    shown: list[Summary]
    ids: list[str]


def as_seen(summary: Summary, is_held: Callable[[str], bool]) -> Summary:
    """Return the summary of a run that seems to be running as failed, when no writer holds it: it crashed."""
    if summary.status == RUNNING and not is_held(summary.conversation_id):
        return msgspec.structs.replace(summary, status=FAILED)
    return summary


def damaged(path: Path, problem: str, advice: str = "") -> Summary:
    """Return the summary of a file that cannot be read, for the reason `problem`; `advice` may help."""
    return Summary(
        conversation_id=path.stem,
        updated_at=changed_at(path),
        status=DAMAGED,
        folder=path.parent,
        problem=problem,
        advice=advice,
    )


def changed_at(path: Path) -> str:
    """Return when the file at `path` was written, "" when that cannot be told."""
    try:
        return rfc3339(datetime.fromtimestamp(path.lstat().st_mtime, UTC))
    except (OSError, ValueError, OverflowError):
        return ""
