"""Where the result of a cleaning goes: in place of its file, into a new one, to stdout; and back again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import open_store
from golem_cli.cli.sources import find_conversation
from golem_cli.core.errors import ConversationChanged

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript
    from golem_cli.core.message import Message


def write_in_place(source: Source, messages: list[Message], environment: Environment) -> str:
    """Put `messages` in the place of what was read and return a line that says where the original is."""
    if source.conversation_id:
        backup = _write_conversation(source, messages, environment)
    else:
        backup = _write_file(source, messages)
    kept = f"; the original is {backup}, and --undo brings it back" if backup else ""
    return f"{source.name}: written{kept}"


def write_to_new_file(source: Source, messages: list[Message], out: str) -> str:
    """Write the result to a file that does not exist yet, in the form of its source."""
    from golem_cli.core.codec import dump_transcript
    from golem_cli.store.external import write_new

    write_new(Path(out), dump_transcript(with_messages(source.transcript, messages)))
    return f"{source.name}: the result is in {out}"


def write_to_stdout(source: Source, messages: list[Message], environment: Environment) -> None:
    """Write the result to standard output, in the form of its source."""
    from golem_cli.core.codec import dump_transcript

    environment.write_transcript(dump_transcript(with_messages(source.transcript, messages)))


def undo(name: str, environment: Environment) -> str:
    """Bring back the original of a file or conversation; return a line that says what became of the other."""
    from golem_cli.store import external

    conversation_id = find_conversation(name, environment)
    undone = open_store(environment).undo(conversation_id) if conversation_id else external.undo(Path(name))
    return f"{name}: the original is back; what it took the place of is {undone}"


def with_messages(transcript: Transcript, messages: list[Message]) -> Transcript:
    """Return `transcript` with other messages; everything else of a conversation object stays."""
    return replace(transcript, messages=messages, salvaged="")


def _write_file(source: Source, messages: list[Message]) -> Path | None:
    from golem_cli.store.external import ExternalFile, write_in_form

    if source.path is None or not source.path.is_file():
        raise WrongUsage(f"{source.name} is no regular file and cannot be written in place; use -o OUT")
    read = ExternalFile(path=source.path.resolve(), data=source.original, transcript=source.transcript)
    return write_in_form(read, with_messages(source.transcript, messages))


def _write_conversation(source: Source, messages: list[Message], environment: Environment) -> Path | None:
    with open_store(environment).open(source.conversation_id) as writer:
        if list(writer.conversation.messages) != source.transcript.messages:
            raise ConversationChanged(
                f"{source.name} was changed meanwhile; nothing was written: run it again"
            )
        changed = msgspec.structs.replace(writer.conversation, messages=tuple(messages))
        return writer.replace(changed, backup=True)
