"""Where the result of a cleaning goes: in place of its file, into a new one, to stdout; and back again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import open_store
from golem_cli.cli.sources import find_conversation
from golem_cli.core.errors import ConversationChanged, GolemError
from golem_cli.core.message import USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from golem_cli.cli.cleaning.report import Cleaned
    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript
    from golem_cli.core.conversation import Conversation


def write_in_place(source: Source, cleaned: Cleaned, environment: Environment) -> str:
    """Put the result in the place of what was read and return a line that says where the original is."""
    if source.conversation_id:
        backup = _write_conversation(source, cleaned, environment)
    else:
        backup = _write_file(source, cleaned)
    kept = f"; the original is {backup}, and --undo brings it back" if backup else ""
    return f"{source.name}: written{kept}"


def write_to_new_file(source: Source, cleaned: Cleaned, out: str) -> str:
    """Write the result to a file that does not exist yet, in the form of its source."""
    from golem_cli.core.codec import dump_transcript
    from golem_cli.store.external import write_new

    write_new(Path(out), dump_transcript(result_of(source.transcript, cleaned)))
    return f"{source.name}: the result is in {out}"


def write_to_stdout(source: Source, cleaned: Cleaned, environment: Environment) -> None:
    """Write the result to standard output, in the form of its source."""
    from golem_cli.core.codec import dump_transcript

    environment.write_transcript(dump_transcript(result_of(source.transcript, cleaned)))


def undo(name: str, environment: Environment) -> str:
    """Bring back the original of a file or conversation; return a line that says what became of the other."""
    from golem_cli.store import external

    conversation_id = find_conversation(name, environment)
    store = open_store(environment)
    undone = store.undo(conversation_id) if conversation_id else external.undo(Path(name))

    def original() -> Conversation:
        """Whatever it has, its journal too."""
        if conversation_id:
            return store.look(conversation_id, salvage=True).conversation
        return _in_file(Path(name))

    later = _prompts(lambda: _in_file(undone)) - _prompts(original)
    return f"{name}: the original is back; what it took the place of is {undone}{_later_prompts(later)}"


def _later_prompts(count: int) -> str:
    """Say how many prompts came after the original: whoever undoes a repair may not think of them."""
    from golem_cli.render.words import counted

    return f"; that alone has {counted(count, 'later prompt')} and what was answered" if count > 0 else ""


def _in_file(path: Path) -> Conversation:
    from golem_cli.cli.showing import conversation_of
    from golem_cli.store.external import read_external

    return conversation_of(read_external(path, salvage=True).transcript)


def _prompts(read: Callable[[], Conversation]) -> int:
    """Count the prompts, those of turns that a conversation goes on without too; 0 when it cannot be read."""
    from golem_cli.core.entries import entries
    from golem_cli.core.recovery import settle

    try:
        conversation = read()
    except GolemError:
        return 0
    return sum(entry.message.role == USER for entry in entries(settle(conversation)))


def result_of(transcript: Transcript, cleaned: Cleaned) -> Transcript:
    """Return `transcript` with what the pass made of it; everything else of a conversation object stays."""
    conversation = transcript.conversation
    if conversation is not None and cleaned.runs is not None:
        conversation = msgspec.structs.replace(conversation, runs=cleaned.runs)
    return replace(transcript, messages=cleaned.messages, conversation=conversation, salvaged="")


def _write_file(source: Source, cleaned: Cleaned) -> Path | None:
    from golem_cli.store.external import ExternalFile, write_in_form

    if source.path is None or not source.path.is_file():
        raise WrongUsage(f"{source.name} is no regular file and cannot be written in place; use -o OUT")
    read = ExternalFile(path=source.path.resolve(), data=source.original, transcript=source.transcript)
    return write_in_form(read, result_of(source.transcript, cleaned))


def _write_conversation(source: Source, cleaned: Cleaned, environment: Environment) -> Path | None:
    salvaged = bool(source.transcript.salvaged)
    with open_store(environment).open(source.conversation_id, salvage=salvaged) as writer:
        if list(writer.conversation.messages) != source.transcript.messages:
            raise ConversationChanged(
                f"{source.name} was changed meanwhile; nothing was written: run it again"
            )
        runs = writer.conversation.runs if cleaned.runs is None else cleaned.runs
        changed = msgspec.structs.replace(writer.conversation, messages=tuple(cleaned.messages), runs=runs)
        return writer.replace(changed, backup=writer.original is None) or writer.original
