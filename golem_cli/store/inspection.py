"""Looking at a store without touching it: no lock is taken for writing, no file made, none changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from golem_cli.core.errors import ConversationNotFound, CutTranscriptError, GolemError
from golem_cli.core.identity import is_canonical_uuid
from golem_cli.core.run_status import RUNNING
from golem_cli.store.loading import SUFFIXES, load
from golem_cli.store.lock import holder_of, is_held


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """What the disk has of one conversation.

    `problem` says why it cannot be read, "" when it can; `cut` that its text merely stops in the middle, and
    `empty` that there is none. `messages` and `version` are those of the file with
    its journal; `changes` counts what repair would change. `damaged` counts unusable journal entries, `torn`
    says that the last one was never completed, `orphaned` that there is a journal and no file. `crashed`
    says that a run is marked as running and nobody writes; `holder` names who does.
    """

    conversation_id: str
    paths: tuple[Path, ...]
    problem: str = ""
    cut: bool = False
    empty: bool = False
    messages: int = 0
    version: int = 1
    changes: int = 0
    damaged: int = 0
    torn: bool = False
    orphaned: bool = False
    crashed: bool = False
    holder: str = ""


def inspect_conversations(folder: Path, locks: Path) -> Iterator[Inspected]:
    """Yield what is known of each conversation in `folder`, by id. Raises `OSError` for the folder itself."""
    files: dict[str, list[Path]] = {}
    for path in sorted(_entries(folder)):
        if path.suffix in SUFFIXES and is_canonical_uuid(path.stem):
            files.setdefault(path.stem, []).append(path)
    for conversation_id, paths in files.items():
        yield _inspect(folder / f"{conversation_id}.json", tuple(paths), locks)


def strangers(folder: Path) -> Iterator[Path]:
    """Yield what lies in a folder of conversations and is none, nor the backup of one: leftovers, mostly."""
    for path in sorted(_entries(folder)):
        stem, _, rest = path.name.partition(".")
        if not (is_canonical_uuid(stem) and rest.startswith(("json", "journal"))):
            yield path


def stale_notes(locks: Path) -> Iterator[Path]:
    """Yield the notes of who holds a lock that nobody holds any more."""
    for path in sorted(_entries(locks)):
        if path.suffix == ".holder" and not is_held(locks, path.stem):
            yield path


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _has_bytes(path: Path) -> bool:
    try:
        return path.lstat().st_size > 0
    except OSError:
        return True  # nobody knows


def _inspect(path: Path, paths: tuple[Path, ...], locks: Path) -> Inspected:
    from golem_cli.core.history import normalize_history
    from golem_cli.core.recovery import pending_calls

    found = Inspected(conversation_id=path.stem, paths=paths)
    held = is_held(locks, path.stem)
    holder = holder_of(locks, path.stem) if held else ""
    try:
        loaded = load(path)
    except ConversationNotFound:
        return msgspec.structs.replace(found, holder=holder)  # it went away meanwhile
    except (GolemError, OSError) as error:
        return msgspec.structs.replace(
            found,
            problem=str(error),
            cut=isinstance(error, CutTranscriptError),
            empty=not any(_has_bytes(each) for each in paths),
            holder=holder,
        )
    conversation = loaded.conversation
    _, repair = normalize_history(list(conversation.messages), pending=pending_calls(conversation))
    return msgspec.structs.replace(
        found,
        messages=len(conversation.messages),
        version=conversation.version,
        changes=len(repair.synthesized) + len(repair.dropped),
        damaged=loaded.damaged,
        torn=loaded.torn and not held,
        orphaned=not path.exists(),
        crashed=not held and any(run.status == RUNNING for run in conversation.runs),
        holder=holder,
    )
