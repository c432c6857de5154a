"""The trash: what was deleted, until somebody brings it back or empties it. Nothing leaves it by age.

An entry is a conversation's file and its journal under one name: the conversation's id, with `.2`, `.3`, …
when an earlier one of that id is there already. What stood in a file's place (a folder, a link, a pipe) is
kept as it is, and never followed.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ConversationChanged, ConversationNotFound, StoreError
from golem_cli.core.quote import quoted
from golem_cli.store.atomic import make_folder, second_name, sync_folder
from golem_cli.store.failures import store_errors
from golem_cli.store.loading import SUFFIXES
from golem_cli.store.obstacles import is_there, obstacle_at
from golem_cli.store.outline import summarize
from golem_cli.store.summary import as_seen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from golem_cli.store.lock import ConversationLock
    from golem_cli.store.summary import Summary

_ENTRY: Final = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.[0-9]+)?\Z")


class Trash:
    """The deleted conversations in `folder`; those that are restored go to `conversations`.

    `lock` makes the lock of a conversation. Every method raises `StoreError`.
    """

    def __init__(self, folder: Path, conversations: Path, lock: Callable[[str], ConversationLock]) -> None:
        self.folder = folder
        self._conversations = conversations
        self._lock = lock

    def put(self, path: Path) -> Path:
        """Move the conversation file at `path` here, with its journal; its lock is the caller's business.

        Return where the file is now; where the journal is when there is no file.
        """
        make_folder(self.folder)
        moved = target = _free_name(self.folder / path.name)
        for suffix in reversed(SUFFIXES):
            source = path.with_suffix(suffix)
            if is_there(source):
                moved = source.replace(target.with_suffix(suffix))
        sync_folder(self.folder)
        sync_folder(path.parent)
        return moved

    def names(self) -> list[str]:
        """Return the names of the entries."""
        with store_errors("list", self.folder):
            if not self.folder.exists():
                return []
            found = (path.name.removesuffix(path.suffix) for path in self._files())
            return sorted(set(found), reverse=True)

    def summaries(self) -> list[Summary]:
        """Sum up every entry, the one changed last first; its name stands where the id would.

        Nobody works on one: a run that seems to be running crashed.
        """
        found = (summarize(self.folder / f"{name}.json") for name in self.names())
        known = [_without_self(as_seen(each, lambda _: False)) for each in found if each is not None]
        return sorted(known, key=lambda each: (each.updated_at, each.conversation_id), reverse=True)

    def restore(self, name: str) -> str:
        """Bring an entry back, with its journal, and return the conversation's id. Nothing is overwritten.

        A restore that was cut off in the middle is completed by doing it again.
        """
        if name not in self.names():
            raise ConversationNotFound(f"there is no {quoted(name)} in the trash")
        conversation_id = conversation_of(name)
        lock = self._lock(conversation_id)
        lock.acquire()
        try:
            with store_errors("restore", self.folder / f"{name}.json"):
                self._move_back(name, self._conversations / f"{conversation_id}.json")
        finally:
            lock.release()
        return conversation_id

    def empty(self) -> int:
        """Erase every entry for good and return how many there were. Other files are let be.

        A folder that is not empty stays, and is told as a `StoreError` when all else is erased.
        """
        names = self.names()
        with store_errors("empty", self.folder):
            files = self._files() if names else []
        full = []
        for path in files:
            with store_errors("erase", path):
                if not _erased(path):
                    full.append(path)
        if full:
            raise StoreError(
                f"{full[0]} is a folder with something in it, which golem does not erase; all else is erased"
            )
        return len(names)

    def _files(self) -> list[Path]:
        return [
            path
            for path in self.folder.iterdir()
            if path.suffix in SUFFIXES and _ENTRY.match(path.name.removesuffix(path.suffix))
        ]

    def _move_back(self, name: str, target: Path) -> None:
        make_folder(target.parent)
        moves = [
            (source, target.with_suffix(suffix))
            for suffix in SUFFIXES
            if is_there(source := self.folder / f"{name}{suffix}")
        ]
        restored = [place for source, place in moves if is_there(place) and _is_one_file(source, place)]
        if any(is_there(target.with_suffix(s)) and target.with_suffix(s) not in restored for s in SUFFIXES):
            raise ConversationChanged(
                f"conversation {target.stem} exists already, and nothing was overwritten; "
                f"golem delete {target.stem} makes room"
            )
        for source, place in moves:
            if obstacle_at(source):
                source.rename(place)  # it can have no second name
            elif place not in restored:
                second_name(source, place)
        sync_folder(target.parent)
        for source, _ in moves:
            source.unlink(missing_ok=True)
        sync_folder(self.folder)


def conversation_of(name: str) -> str:
    """Return the id of the conversation that an entry is.

    >>> conversation_of("01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11.2")
    '01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11'
    """
    return name.partition(".")[0]


def _is_one_file(path: Path, other: Path) -> bool:
    return os.path.samestat(path.lstat(), other.lstat())


def _erased(path: Path) -> bool:
    """Erase a file, a link itself, or an empty folder; False for a folder that is not empty."""
    if obstacle_at(path) != "a folder":
        path.unlink()
        return True
    try:
        path.rmdir()
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        return False
    return True


def _without_self(summary: Summary) -> Summary:
    """A name with a number is not the id in the file, but no fork of it either."""
    if summary.forked_from != conversation_of(summary.conversation_id):
        return summary
    return msgspec.structs.replace(summary, forked_from="")


def _free_name(path: Path) -> Path:
    number = 1
    candidate = path
    while any(is_there(candidate.with_suffix(suffix)) for suffix in SUFFIXES):
        number += 1
        candidate = path.with_name(f"{path.stem}.{number}.json")
    return candidate
