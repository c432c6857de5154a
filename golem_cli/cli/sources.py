"""What a command is pointed at: a file, standard input (`-`), or a conversation of the store."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from golem_cli.cli.environment import STANDARD_STREAM
from golem_cli.cli.failures import WrongUsage, did_you_mean
from golem_cli.cli.home import open_store, tell_losses
from golem_cli.core.codec import Transcript, load_transcript
from golem_cli.core.errors import ConversationNotFound, CutTranscriptError, TranscriptError
from golem_cli.core.identity import is_canonical_uuid
from golem_cli.core.quote import quoted

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment


@dataclass(frozen=True, kw_only=True)
class Source:
    """A transcript that was read, and where from.

    `name` is what the person typed. `path` is set for a file outside the store and `original` holds its bytes
    as they were read; `conversation_id` is set for a conversation of the store; neither for standard input.
    """

    name: str
    transcript: Transcript
    path: Path | None = None
    original: bytes = b""
    conversation_id: str = ""


def read_source(reference: str, environment: Environment, *, salvage: bool | None = None) -> Source:
    """Read what `reference` names. Raises `WrongUsage`, `TranscriptError` or a `StoreError`.

    `salvage` is the flag of that name; None for a command that has none.
    """
    if reference == STANDARD_STREAM:
        data = environment.read_input()
        return Source(name=reference, transcript=_parse(reference, data, salvage=salvage), original=data)
    conversation_id = find_conversation(reference, environment)
    if conversation_id:
        transcript = _kept(conversation_id, environment, salvage=salvage)
        return Source(name=reference, transcript=transcript, conversation_id=conversation_id)
    path = Path(reference)
    data = read_file(path)
    return Source(
        name=reference, transcript=_parse(reference, data, salvage=salvage), path=path, original=data
    )


def _kept(conversation_id: str, environment: Environment, *, salvage: bool | None) -> Transcript:
    found = open_store(environment).look(conversation_id, salvage=bool(salvage))
    tell_losses(conversation_id, found.losses, environment)
    return Transcript(
        form="object",
        messages=list(found.conversation.messages),
        conversation=found.conversation,
        salvaged=found.salvaged,
    )


def find_conversation(reference: str, environment: Environment) -> str:
    """Return the id of the conversation that `reference` names, or "" when it names a file.

    A file wins over a title, and a conversation's own file in the store is that conversation.
    """
    store = open_store(environment)
    path = Path(reference)
    if path.exists():
        own = path.resolve()
        ours = own == store.conversations.resolve() / f"{own.stem}.json"
        return own.stem if ours and is_canonical_uuid(own.stem) else ""
    if _looks_like_a_path(reference):
        return ""
    try:
        return store.resolve(reference)
    except ConversationNotFound as error:
        near = _near_file(path)
        if near:
            raise WrongUsage(f"there is no file and no conversation {reference}{near}") from error
        raise


def read_file(path: Path) -> bytes:
    """Return the bytes of `path`, or say in one line why they cannot be had."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise WrongUsage(f"{path}: there is no such file{_near_file(path)}") from error
    except IsADirectoryError as error:
        raise WrongUsage(f"{path} is a folder; name a transcript file in it") from error
    except OSError as error:
        if path.is_dir():  # Windows answers "permission denied" for a folder
            raise WrongUsage(f"{path} is a folder; name a transcript file in it") from error
        raise WrongUsage(f"{path} cannot be read: {error.strerror}; check its permissions") from error
    except ValueError as error:  # a NUL in the name
        raise WrongUsage(f"{quoted(str(path))} cannot be a file's name") from error


def _looks_like_a_path(reference: str) -> bool:
    return "/" in reference or "\\" in reference or reference.endswith((".json", ".jsonl", ".ndjson"))


def _near_file(path: Path) -> str:
    try:
        return did_you_mean(path.name, (entry.name for entry in path.parent.iterdir() if entry.is_file()))
    except OSError:
        return ""


def _parse(name: str, data: bytes, *, salvage: bool | None) -> Transcript:
    try:
        return load_transcript(data, salvage=bool(salvage))
    except TranscriptError as error:
        error.place = "standard input" if name == STANDARD_STREAM else name
        if salvage is None and isinstance(error, CutTranscriptError):
            error.salvaged_by(shlex.join(["golem", "normalize", "--salvage", name]))
        raise
