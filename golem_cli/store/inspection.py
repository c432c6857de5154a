"""Looking at a store without touching it: no lock is taken for writing, no file made, none changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from golem_cli.core.errors import ConversationNotFound, CutTranscriptError, GolemError, TranscriptError
from golem_cli.core.identity import is_canonical_uuid
from golem_cli.core.run_status import RUNNING
from golem_cli.store.atomic import read_regular
from golem_cli.store.loading import SUFFIXES, load, says_nothing
from golem_cli.store.lock import holder_of, is_held
from golem_cli.store.obstacles import obstacle_at
from golem_cli.store.originals import is_kept_aside


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """What the disk has of one conversation.

    `problem` says why it cannot be read, "" when it can; `cut` that its text merely stops in the middle and
    can be salvaged, `empty` that there is none, `wrong` that it is there and says what no conversation does.
    `obstacles` are those of `paths` that are no files, `closed` those that we may not read. `version` is that
    of the file with its journal, `messages` counts those that a reader sees, `changes` what repair would
    change, `damaged` unusable journal entries. `torn` says that the last entry was never completed,
    `orphaned` that there is a journal and no file, `foreign` of which other conversation the journal is.
    `crashed` says that a run is marked as running and nobody writes; `holder` names who does.
    """

    conversation_id: str
    paths: tuple[Path, ...]
    problem: str = ""
    cut: bool = False
    empty: bool = False
    wrong: bool = False
    obstacles: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()
    messages: int = 0
    version: int = 1
    changes: int = 0
    damaged: int = 0
    torn: bool = False
    orphaned: bool = False
    foreign: str = ""
    crashed: bool = False
    holder: str = ""


def inspect_conversations(folder: Path, locks: Path) -> Iterator[Inspected]:
    """Yield what is known of each conversation in `folder`, by id. Raises `OSError` for the folder itself."""
    files: dict[str, list[Path]] = {}
    for path in sorted(_entries(folder)):
        if _is_of_a_conversation(path):
            files.setdefault(path.stem, []).append(path)
    for conversation_id, paths in files.items():
        yield _inspect(folder / f"{conversation_id}.json", tuple(paths), locks)


def strangers(folder: Path) -> Iterator[Path]:
    """Yield what lies in a folder of conversations and is none, nor the backup of one: leftovers, mostly."""
    for path in sorted(_entries(folder)):
        if not _is_of_a_conversation(path) and not _kept_of(path):
            yield path


def kept_aside(folder: Path, *, of: str = "") -> list[Path]:
    """Return what `-w`, `--undo`, salvage and recovery have kept beside the conversations in `folder`.

    With an id, only what was kept `of` that conversation.
    """
    named = ((path, _kept_of(path)) for path in sorted(_entries(folder)))
    return [path for path, name in named if name and of in {"", name}]


def stale_notes(locks: Path) -> Iterator[Path]:
    """Yield the notes of who holds a lock that nobody holds any more."""
    for path in sorted(_entries(locks)):
        if path.suffix == ".holder" and not obstacle_at(path) and not is_held(locks, path.stem):
            yield path


def lock_obstacles(locks: Path) -> Iterator[Path]:
    """Yield what has the name of a lock, or of the note to one, and is no file."""
    for path in sorted(_entries(locks)):
        if path.suffix in {".lock", ".holder"} and obstacle_at(path):
            yield path


def _is_of_a_conversation(path: Path) -> bool:
    return path.suffix in SUFFIXES and is_canonical_uuid(path.stem)


def _kept_of(path: Path) -> str:
    """Return the id of the conversation of which a file was kept aside, "" for every other file."""
    stem, dot, rest = path.name.partition(".")
    return stem if is_canonical_uuid(stem) and is_kept_aside(dot + rest) else ""


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _says_nothing(path: Path) -> bool:
    try:
        return says_nothing(read_regular(path))
    except OSError:
        return False  # nobody knows


def _can_be_salvaged(path: Path) -> bool:
    try:
        return bool(load(path, salvage=True).salvaged)
    except (GolemError, OSError):
        return False


def _inspect(path: Path, paths: tuple[Path, ...], locks: Path) -> Inspected:
    from golem_cli.core.history import normalize_history
    from golem_cli.core.recovery import pending_calls, settle

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
            problem=error.problem if isinstance(error, GolemError) else str(error),
            cut=isinstance(error, CutTranscriptError) and _can_be_salvaged(path),
            empty=_says_nothing(path if path in paths else paths[0]),
            wrong=isinstance(error, TranscriptError),
            obstacles=tuple(each for each in paths if obstacle_at(each)),
            closed=tuple(each for each in paths if not obstacle_at(each) and not os.access(each, os.R_OK)),
            holder=holder,
        )
    conversation = loaded.conversation
    _, repair = normalize_history(list(conversation.messages), pending=pending_calls(conversation))
    return msgspec.structs.replace(
        found,
        messages=len(settle(conversation).messages),
        version=conversation.version,
        changes=len(repair.synthesized) + len(repair.dropped),
        damaged=loaded.damaged,
        torn=loaded.torn and not held,
        orphaned=loaded.orphaned,
        foreign=loaded.foreign,
        crashed=not held and any(run.status == RUNNING for run in conversation.runs),
        holder=holder,
    )
