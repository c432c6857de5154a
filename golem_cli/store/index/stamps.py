"""What tells from outside that a conversation changed: the identities of its file and its journal."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.identity import is_canonical_uuid
from golem_cli.store.loading import identity_from

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.store.loading import Identity

Stamp = bytes
"""The identities of file and journal, None for a missing one, as MessagePack."""

_CLOCK_TICK: Final = 2_000_000_000
"""Nanoseconds that the clock of a file system may stand still (FAT: two seconds)."""


def stamps_in(folder: Path) -> dict[str, Stamp]:
    """Return the stamp of every conversation in `folder`, by id; none when there is no folder.

    Raises `OSError`.
    """
    files: dict[str, Identity] = {}
    journals: dict[str, Identity] = {}
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return {}
    with entries:
        for entry in entries:
            stem, _, suffix = entry.name.partition(".")
            seen = files if suffix == "json" else journals if suffix == "journal" else None
            if seen is not None and is_canonical_uuid(stem):
                try:
                    seen[stem] = identity_from(entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue  # it went away while we looked
    encode = msgspec.msgpack.encode
    return {each: encode((files.get(each), journals.get(each))) for each in {**files, **journals}}


def is_young(stamp: Stamp) -> bool:
    """Whether the files changed so recently that a further change might not show in their stamp."""
    now = time.time_ns()
    identities: list[Identity] = msgspec.msgpack.decode(stamp)
    return any(abs(now - moment) < _CLOCK_TICK for each in identities if each for moment in each[2:])
