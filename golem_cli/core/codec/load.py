"""Bytes → messages, runs, conversations, transcripts: the fast way where it is sure, else the definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from golem_cli.core.codec.document import BASE_DEPTH, read_document, read_message, read_run
from golem_cli.core.codec.fast import read_fast
from golem_cli.core.codec.flaw import Flaw
from golem_cli.core.codec.scan import Cursor
from golem_cli.core.codec.text import read_text
from golem_cli.core.errors import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Callable

    from golem_cli.core.codec.transcript import Transcript
    from golem_cli.core.conversation import Conversation, RunRecord
    from golem_cli.core.message import Message

Record = TypeVar("Record")


def load_transcript(data: bytes | str, *, salvage: bool = False) -> Transcript:
    """Read a document of any of the three forms: array, conversation object, one message a line.

    UTF-8, or UTF-16 and UTF-32 with a byte order mark. With `salvage` a text that stops in the middle gives
    what precedes the cut. Raises TranscriptError, and CutTranscriptError for a text that stops in the middle.
    """
    text = read_text(data)
    return read_fast(text) or read_document(text, salvage=salvage)


def load_messages(data: bytes | str) -> list[Message]:
    """Read the messages of a document of any of the three forms. Raises TranscriptError.

    >>> load_messages(b'[{"role": "user", "content": "hi"}]')[0].content
    'hi'
    """
    return load_transcript(data).messages


def load_conversation(data: bytes | str) -> Conversation:
    """Read a document of the object form. Raises TranscriptError, also for the other forms."""
    conversation = load_transcript(data).conversation
    if conversation is None:
        raise TranscriptError('expected a golem conversation object, {"golem": 1, …}, found only messages')
    return conversation


def load_message(data: bytes | str) -> Message:
    """Read one message. Raises TranscriptError."""
    return _load_record(data, read_message)


def load_run(data: bytes | str) -> RunRecord:
    """Read one run record. Raises TranscriptError."""
    return _load_record(data, read_run)


def _load_record(data: bytes | str, read: Callable[[Cursor], Record]) -> Record:
    text = read_text(data)
    characters = text.characters()
    cursor = Cursor(characters, depth=BASE_DEPTH["jsonl"])
    try:
        record = read(cursor)
        if cursor.peek() or text.torn or text.padded:
            raise cursor.flaw("expected the end of the text")
    except Flaw as flaw:
        before = characters[: flaw.position]
        offset, line = text.offset(before), before.count("\n") + 1
        field = f', field "{flaw.field}"' if flaw.field else ""
        problem = f"line {line}, byte {offset}{field}: {flaw.problem}"
        raise TranscriptError(problem, field=flaw.field, line=line, offset=offset) from None
    return record
