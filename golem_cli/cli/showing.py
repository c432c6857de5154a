"""A transcript as plain lines: numbered messages, calls and results in short, and the runs that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.conversation import Conversation
from golem_cli.core.entries import entries
from golem_cli.core.message import TOOL
from golem_cli.core.recovery import settle
from golem_cli.core.run_status import DONE
from golem_cli.render.neutralize import one_line
from golem_cli.render.transcript import marks, part_line
from golem_cli.render.words import counted, record_says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript
    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.message import Message

SHORT: Final = 200
"""Cells of a result or of arguments that the overview shows; message N alone is shown whole."""


def transcript_lines(source: Source) -> Iterator[str]:
    """Yield the whole transcript: what it is, its messages and what is left out, runs that ended badly."""
    seen = settle(conversation_of(source.transcript))
    yield head_line(source)
    for number, message, left_out_by in entries(seen):
        yield ""
        yield from message_lines(message, number, limit=SHORT, left_out_by=left_out_by)
    for run in seen.runs:
        if run.status != DONE:
            yield ""
            yield from _run_lines(run)


def head_line(source: Source) -> str:
    """Say what was read: its title, its id or the file's name, the number of messages that a reader sees."""
    conversation = conversation_of(source.transcript)
    title = f"{one_line(conversation.title)} — " if conversation.title else ""
    name = source.conversation_id or one_line(source.name)
    return f"{title}{name}, {counted(len(settle(conversation).messages), 'message')}"


def conversation_of(transcript: Transcript) -> Conversation:
    """Return what was read as a conversation; bare messages are one without runs."""
    import msgspec

    return msgspec.structs.replace(
        transcript.conversation or Conversation(), messages=tuple(transcript.messages)
    )


def message_lines(
    message: Message, number: int, *, limit: int | None = None, left_out_by: RunRecord | None = None
) -> Iterator[str]:
    """Yield one message; `limit` bounds what is shown of results, thinking and arguments."""
    about = [mark.strip("()") for mark in marks(message, left_out_by)]
    if message.role == TOOL:
        about.insert(0, f"{message.tool_name or 'unnamed'}, {message.tool_call_id or 'without an id'}")
    head = f"{number or ''} {message.role or 'no role'}".lstrip()
    yield one_line(head + (f" ({', '.join(about)})" if about else ""))
    for block in message.thoughts:
        yield f"  thinking: {_short(block.text or '(redacted)', limit)}"
    if message.content:
        yield _short(message.content, limit if message.role == TOOL else None)
    for part in message.parts:
        yield f"  {part_line(part)}"
    for call in message.tool_calls:
        yield f"  calls {one_line(call.name)} {_short(call.args, limit)}"
        yield f"    with the id {one_line(call.id)}" if call.id else "    without an id"


def _run_lines(run: RunRecord) -> Iterator[str]:
    stage = f" at stage {run.stage}" if run.stage else ""
    why = f"; {record_says(run)}" if run.error else ""
    yield one_line(f"run {run.run_id}: {run.status}{stage}{why}")


def _short(text: str, limit: int | None) -> str:
    """Cut `text` to `limit` cells on one line; None leaves it whole."""
    if limit is None:
        return text
    from golem_cli.render.cells import shorten

    return shorten(one_line(" ".join(text.split())), limit)
