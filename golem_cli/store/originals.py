"""What is kept of a file whose place another takes: under which names, and how it comes back."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import StoreError
from golem_cli.store.atomic import backups, keep_original, numbered, sync_folder
from golem_cli.store.failures import store_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from golem_cli.core.message import Message

ORIGINAL: Final = ".orig"
"""The file as it was before `-w` or a salvage."""
UNDONE: Final = ".undone"
"""What `--undo` took away."""
DAMAGED: Final = ".damaged"
"""A journal of which something could not be used."""
FOREIGN: Final = ".foreign"
"""The journal of another conversation."""
ORPHANED: Final = ".orphaned"
"""A journal whose file was gone."""
AWAY: Final = ".away"
"""What somebody moved out of the way, as the doctor advises."""

_KEPT: Final = "|".join(map(re.escape, (ORIGINAL, UNDONE, DAMAGED, FOREIGN, ORPHANED, AWAY)))
_is_kept_aside: Final = re.compile(rf"\.(?:json|journal)(?:{_KEPT})(?:\.[0-9]+)?").fullmatch


def is_kept_aside(ending: str) -> bool:
    """Whether a file of a conversation whose name ends so, behind the id, was kept aside.

    >>> is_kept_aside(".json.orig"), is_kept_aside(".journal.damaged.2"), is_kept_aside(".json.bak")
    (True, True, False)
    """
    return _is_kept_aside(ending) is not None


def undo(path: Path, *, journal: Path | None = None) -> Path:
    """Bring back the newest original that was kept of `path`; return where the undone file is kept now.

    The `journal` that was kept together with it comes back too, and one that is in its place is kept with the
    undone file. Raises `StoreError` when there is nothing to bring back.
    """
    with store_errors("undo", path):
        number = newest_original(path)
        if not number:
            raise StoreError(f"there is nothing to undo: no {numbered(path, ORIGINAL, 1)}")
        in_the_way = journal if journal is not None and journal.is_file() else None
        undone = keep_original(path, suffix=UNDONE, journal=in_the_way)
        if journal is not None and (kept := numbered(journal, ORIGINAL, number)).is_file():
            kept.replace(journal)
        elif in_the_way is not None:
            in_the_way.unlink()
        # never `put_in_place`, which would remove the original on an error
        numbered(path, ORIGINAL, number).replace(path)
        sync_folder(path.parent)
    return undone


def newest_original(path: Path) -> int:
    """Return the number of the original of `path` that was kept last; 0 when there is none.

    A folder or a symbolic link with such a name is not one that we kept.
    """
    return max((number for number, entry in backups(path, ORIGINAL) if _is_plain_file(entry)), default=0)


def refuse_misread(path: Path, data: bytes, messages: Sequence[Message]) -> None:
    """Raise `StoreError` when what is about to take the place of `path` does not say what it should."""
    from golem_cli.core.codec import load_transcript

    if load_transcript(data).messages != list(messages):
        raise StoreError(f"{path} would not read as it should; nothing was changed")


def _is_plain_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)
