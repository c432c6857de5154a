"""Bringing the index up to date: what changed is read again, what is gone is forgotten."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import GolemError
from golem_cli.store.index.database import IndexDamaged, IndexUnusable
from golem_cli.store.index.stamps import is_young
from golem_cli.store.index.words import words_of
from golem_cli.store.outline import Outline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from golem_cli.store.index.database import Database
    from golem_cli.store.index.stamps import Stamp
    from golem_cli.store.summary import Summary

_BATCH: Final = 1000
"""Conversations written at once: others need not wait long, and a build that is stopped keeps what it has."""


def refresh(database: Database, stamps: Mapping[str, Stamp], folder: Path) -> set[str]:
    """Read what changed since the index saw it; return the ids that the index is right about now.

    What cannot be read, or changed just now, is not kept: it is read anew each time. When the index cannot
    be written the rest goes without. Raises `IndexUnusable` when it cannot even be read.
    """
    known = database.stamps()
    right = {each for each, stamp in known.items() if stamps.get(each) == stamp}
    outdated = known.keys() - right
    new = [each for each, stamp in stamps.items() if each not in right and not is_young(stamp)]
    try:
        if outdated:
            with database.transaction():
                database.forget(outdated)
                if database.clear_if_stale():
                    right.clear()
                    new = [each for each, stamp in stamps.items() if not is_young(stamp)]
        for start in range(0, len(new), _BATCH):
            right |= _keep(database, new[start : start + _BATCH], stamps, folder)
    except IndexDamaged:
        raise
    except IndexUnusable:
        pass
    return right


def _keep(database: Database, ids: Sequence[str], stamps: Mapping[str, Stamp], folder: Path) -> set[str]:
    """Read conversations, then write them in one go; return the ids of those that were kept."""
    read = [(each, _read(folder / f"{each}.json")) for each in ids]
    readable = [(each, outline) for each, outline in read if outline is not None]
    if not readable:
        return set()
    with database.transaction():
        database.forget([each for each, _ in readable])  # another process may have been faster
        return {each for each, (summary, words) in readable if database.keep(summary, stamps[each], words)}


def _read(path: Path) -> tuple[Summary, str] | None:
    """Return the summary and the words of a conversation; None for one that is damaged or gone."""
    with suppress(GolemError, OSError):
        outline = Outline(path)
        return outline.summary, " ".join(words_of("\n".join(piece.text for piece in outline.pieces())))
    return None
