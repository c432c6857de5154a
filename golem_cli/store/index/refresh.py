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
    from collections.abc import Collection, Mapping
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
    try:
        known = _known(database)
        changed = [each for each, stamp in stamps.items() if known.get(each) != stamp and not is_young(stamp)]
        _forget(database, known.keys() - stamps.keys())
        for start in range(0, len(changed), _BATCH):
            batch = changed[start : start + _BATCH]
            read = {each: outline for each in batch if (outline := _read(folder / f"{each}.json"))}
            _forget(database, known.keys() & set(batch) - read.keys())
            _keep(database, read, stamps)
    except IndexDamaged:
        raise
    except IndexUnusable:
        return


def _known(database: Database) -> Mapping[str, Stamp]:
    """Return what the index knows, after clearing it when most words in it are nobody's any more.

    Words that are not what was written would count as that once others are added.
    """
    with database.transaction():
        database.check_words()
        database.clear_if_stale()
    return database.stamps()


def _forget(database: Database, ids: Collection[str]) -> None:
    if ids:
        with database.transaction():
            database.forget(ids)


def _keep(database: Database, read: Mapping[str, tuple[Summary, str]], stamps: Mapping[str, Stamp]) -> None:
    if read:
        with database.transaction():
            database.keep((summary, stamps[each], text) for each, (summary, text) in read.items())


def _read(path: Path) -> tuple[Summary, str] | None:
    """Return the summary and the text of a conversation; None for one that is damaged or gone."""
    with suppress(GolemError, OSError):
        outline = Outline(path)
        return outline.summary, "\n".join(indexed(piece.text) for piece in outline.pieces())
    return None
