"""Messages, runs and conversations → bytes: one message a line, stable key order, unknown fields last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.codec.contract import CONVERSATION, MESSAGE, RUN
from golem_cli.core.codec.record import write_members, write_record
from golem_cli.core.codec.wire import encode_lines
from golem_cli.core.conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from golem_cli.core.codec.transcript import Transcript
    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.message import Message


def dump_message(message: Message) -> bytes:
    """Write one message on one line, without the line's end."""
    return write_record(message, MESSAGE).encode()


def dump_run(run: RunRecord) -> bytes:
    """Write one run record on one line, without the line's end."""
    return write_record(run, RUN).encode()


def dump_messages(messages: Iterable[Message]) -> bytes:
    """Write a JSON array, one message a line.

    >>> from golem_cli.core.message import Message
    >>> print(dump_messages([Message(role="user", content="hi")]).decode(), end="")
    [
    {"role":"user","content":"hi"}
    ]
    """
    return b"".join([*_list(list(messages)), b"\n"])


def dump_conversation(conversation: Conversation) -> bytes:
    """Write the object form: the keys in the contract's order, one message a line and one run a line."""
    bare = msgspec.structs.replace(conversation, messages=(), runs=())
    pieces: list[bytes] = []
    for name, value in write_members(bare, CONVERSATION).items():
        pieces.append(f"{',' if pieces else '{'}{name}:".encode())
        if name == '"messages"':
            pieces += _list(conversation.messages)
        elif name == '"runs"':
            pieces += _bracket([b",\n".join(map(dump_run, conversation.runs))] if conversation.runs else [])
        else:
            pieces.append(value.encode())
    return b"".join([*pieces, b"}\n"])


def dump_transcript(transcript: Transcript) -> bytes:
    """Write a transcript in its own form, in UTF-8; `transcript.messages` are what is written.

    No message at all is written as an empty array in the `jsonl` form, since nothing is no document.
    """
    if transcript.form == "object":
        conversation = transcript.conversation or Conversation()
        messages = tuple(transcript.messages)
        return dump_conversation(msgspec.structs.replace(conversation, messages=messages))
    if transcript.form == "jsonl" and transcript.messages:
        return b"".join([*encode_lines(transcript.messages, b"\n"), b"\n"])
    return dump_messages(transcript.messages)


def _list(messages: Sequence[Message]) -> list[bytes]:
    return _bracket(encode_lines(messages, b",\n"))


def _bracket(lines: list[bytes]) -> list[bytes]:
    return [b"[\n", *lines, b"\n]"] if lines else [b"[]"]
