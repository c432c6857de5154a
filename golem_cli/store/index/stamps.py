"""What tells from outside that a conversation changed: the identities of its file and its journal."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from golem_cli.core.identity import CANONICAL_UUID
from golem_cli.store.file_identity import Identity, identity_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


Stamp = tuple[Identity, Identity]
"""The identities of file and journal, None for a missing one."""

_file_of_a_conversation: Final = re.compile(rf"({CANONICAL_UUID})\.(json|journal)").fullmatch

_CLOCK_TICK: Final = 2_000_000_000
"""Nanoseconds that the clock of a file system may stand still (FAT: two seconds)."""


def ids_in(folder: Path) -> set[str]:
    """Return the ids of all conversations in `folder`; none when there is no folder. Raises `OSError`."""
    return {conversation_id for conversation_id, _, _ in _entries(folder)}


def stamps_in(folder: Path) -> dict[str, Stamp]:
    """Return the stamp of every conversation in `folder`, in the order of their ids; none without a folder.

    Raises `OSError`.
    """
    files: dict[str, Identity] = {}
    journals: dict[str, Identity] = {}
    for conversation_id, suffix, entry in _entries(folder):
        try:
            identity = identity_from(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            continue  # it went away while we looked
        (files if suffix == "json" else journals)[conversation_id] = identity
    return {each: (files.get(each), journals.get(each)) for each in sorted({**files, **journals})}


def _entries(folder: Path) -> Iterator[tuple[str, str, os.DirEntry[str]]]:
    """Yield the files and journals of conversations: id, suffix without its dot, entry."""
    try:
        with _looked_into(folder) as entries:
            for entry in entries:
                if found := _file_of_a_conversation(entry.name):
                    yield found[1], found[2], entry
    except FileNotFoundError:
        return


@contextmanager
def _looked_into(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Give the entries of a folder: by its descriptor where that can be, so that no look walks its path."""
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def rightly_known(known: Mapping[str, Stamp], stamps: Mapping[str, Stamp]) -> set[str]:
    """Return the ids of the conversations that are as the index knows them."""
    return {each for each, stamp in known.items() if stamps.get(each) == stamp}


def is_behind(known: Mapping[str, Stamp], right: set[str], stamps: Mapping[str, Stamp]) -> bool:
    """Whether there is anything to forget, or to read and keep; what changed just now waits."""
    return not known.keys() <= stamps.keys() or any(
        each not in right and not is_young(stamp) for each, stamp in stamps.items()
    )


def is_young(stamp: Stamp) -> bool:
    """Whether the files changed so recently that a further change might not show in their stamp."""
    now = time.time_ns()
    return any(abs(now - moment) < _CLOCK_TICK for each in stamp if each for moment in each[2:])
