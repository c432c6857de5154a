"""Bringing the index up to date: what changed is read again, what is gone is forgotten."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import GolemError
from golem_cli.store.index.database import IndexDamaged, IndexUnusable
from golem_cli.store.index.stamps import is_young
from golem_cli.store.index.words import indexed
from golem_cli.store.outline import Outline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from golem_cli.store.index.database import Database
    from golem_cli.store.index.stamps import Stamp
    from golem_cli.store.summary import Summary

_BATCH: Final = 1000
"""Conversations written at once: others need not wait long, and a build that is stopped keeps what it has."""


def refresh(database: Database, stamps: Mapping[str, Stamp], folder: Path) -> None:
    """Read what changed since the index saw it, as far as the index can be written.

    What cannot be read, or changed just now, is not kept: it is read anew each time. Raises `IndexUnusable`
    when the index cannot even be read.
    """
    known = database.stamps()
    outdated = [each for each, stamp in known.items() if stamps.get(each) != stamp]
    try:
        if outdated:
            with database.transaction():
                database.forget(outdated)
                if database.clear_if_stale():
                    known = {}
        changed = (each for each, stamp in stamps.items() if known.get(each) != stamp)
        new = [each for each in changed if not is_young(stamps[each])]
        for start in range(0, len(new), _BATCH):
            _keep(database, new[start : start + _BATCH], stamps, folder)
    except IndexDamaged:
        raise
    except IndexUnusable:
        return


def _keep(database: Database, ids: Sequence[str], stamps: Mapping[str, Stamp], folder: Path) -> None:
    """Read conversations, then write them in one go."""
    read = [(each, _read(folder / f"{each}.json")) for each in ids]
    readable = [(each, outline) for each, outline in read if outline is not None]
    if not readable:
        return
    with database.transaction():
        database.keep((summary, stamps[each], text) for each, (summary, text) in readable)


def _read(path: Path) -> tuple[Summary, str] | None:
    """Return the summary and the text of a conversation; None for one that is damaged or gone."""
    with suppress(GolemError, OSError):
        outline = Outline(path)
        return outline.summary, "\n".join(indexed(piece.text) for piece in outline.pieces())
    return None
