"""A conversation as lists and search see it, from one cheap parse: its summary, and all of its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.conversation import Conversation
from golem_cli.core.errors import ConversationNotFound, GolemError
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.recovery import settle
from golem_cli.core.run_status import RUNNING, STOPPED_SHORT
from golem_cli.store.atomic import read_regular
from golem_cli.store.failures import reason_of
from golem_cli.store.imports import IMPORTED_FROM, path_in
from golem_cli.store.loading import journal_path_of, load
from golem_cli.store.obstacles import is_there
from golem_cli.store.summary import Summary, changed_at, damaged
from golem_cli.store.times import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A text in a conversation. `message` is its message's number from 1, 0 outside the messages.

    `place` is the message's role, or `title`, `instructions`, `prompt`, `partial text` or `error`.
    """

    place: str
    text: str
    message: int = 0


class _Run(msgspec.Struct, frozen=True, rename="camel"):
    status: str = RUNNING
    error: str = ""
    prompt: str = ""
    partial_text: str = ""


class _Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a summary needs; messages are counted here, and decoded when their text is asked for."""

    golem: int
    title: str | None = ""
    created_at: str | None = ""
    updated_at: str | None = ""
    model: str | None = ""
    instructions: str | None = ""
    forked_from: str | None = ""
    imported_from: msgspec.Raw = msgspec.Raw(b"")
    messages: list[msgspec.Raw] = []
    runs: list[_Run] = []


class _Part(msgspec.Struct, frozen=True, gc=False):
    url: str = ""


class _Thinking(msgspec.Struct, frozen=True, gc=False):
    text: str = ""


class _Call(msgspec.Struct, frozen=True, rename="camel", gc=False):
    name: str = ""
    args: msgspec.Raw = msgspec.Raw(b"")
    args_text: str = ""


class _Message(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The texts of a message, as the contract spells them."""

    role: str
    content: str = ""
    parts: list[_Part] = []
    thinking: list[_Thinking] = []
    tool_calls: list[_Call] = []
    tool_name: str = ""


_MESSAGE: Final = msgspec.json.Decoder(_Message)
_HEADER: Final = msgspec.json.Decoder(_Header)


class Outline:
    """A conversation that was read: its summary at once, its text when asked for."""

    def __init__(self, path: Path) -> None:
        """Read it. Raises `OSError` or as `load` does."""
        self._path = path
        self._source = _read(path)
        self.summary = _sum_up(path, self._source)

    def pieces(self) -> list[Piece]:
        """Return every text: title, instructions, messages, and what the records of runs hold.

        Of a call its name and arguments, of a part its address. Raises as `load` does for a damaged message.
        """
        if isinstance(self._source, _Header):
            try:
                messages = [_MESSAGE.decode(message) for message in self._source.messages]
                return list(_pieces(self._source, enumerate(messages, 1)))
            except (msgspec.MsgspecError, UnicodeError):
                self._source = _load(self._path)  # what the fast library cannot read: the codec decides
        return list(_pieces(self._source, enumerate(self._source.messages, 1)))


def summarize(path: Path) -> Summary | None:
    """Sum up the conversation file at `path`; None when it is gone. Damage is told, never raised.

    A last run shows as it is recorded: `as_seen` knows whether somebody still works on it.
    """
    try:
        return Outline(path).summary
    except ConversationNotFound:
        return None
    except GolemError as error:
        return damaged(path, error.problem, error.advice)
    except OSError as error:
        return damaged(path, f"cannot read {path}: {reason_of(error)}")


def _read(path: Path) -> _Header | Conversation:
    """Read the header alone where it tells everything; else all, with what a stopped run left behind."""
    if not is_there(journal_path_of(path)):
        try:
            header = _HEADER.decode(read_regular(path))
            if not (header.runs and header.runs[-1].status in STOPPED_SHORT):
                return header
        except (msgspec.MsgspecError, UnicodeError, FileNotFoundError):
            pass  # damage, or what the fast library cannot read: the codec decides
    return _load(path)


def _load(path: Path) -> Conversation:
    return settle(load(path).conversation)


def _sum_up(path: Path, source: _Header | Conversation) -> Summary:
    if isinstance(source, _Header):
        note = bytes(source.imported_from).decode()
    else:
        note = source.extra.get(IMPORTED_FROM, "")
    return Summary(
        conversation_id=path.stem,
        title=source.title or "",
        created_at=source.created_at or "",
        updated_at=(readable(source.updated_at) or changed_at(path)) if source.updated_at else "",
        message_count=len(source.messages),
        model=source.model or "",
        status=source.runs[-1].status if source.runs else "",
        folder=path.parent,
        forked_from=source.forked_from or "",
        imported_from=path_in(note),
    )


def _pieces(
    source: _Header | Conversation, messages: Iterable[tuple[int, _Message | Message]]
) -> Iterator[Piece]:
    yield Piece("title", source.title or "")
    yield Piece("instructions", source.instructions or "")
    for number, message in messages:
        yield Piece(message.role, message.content, number)
        for text in _beside_content(message):
            yield Piece(message.role, text, number)
    for run in source.runs:
        yield Piece("prompt", run.prompt)
        yield Piece("partial text", run.partial_text)
        yield Piece("error", run.error)


def _beside_content(message: _Message | Message) -> Iterator[str]:
    if message.tool_name:
        yield message.tool_name
    for block in message.thinking:
        yield block.text
    for part in message.parts:
        yield part.url
    for call in message.tool_calls:
        yield call.name
        yield _arguments(call.args if isinstance(call, ToolCall) else _verbatim(call))


def _verbatim(call: _Call) -> str:
    from golem_cli.core.codec.args import read_args

    return read_args(args=bytes(call.args).decode(), args_text=call.args_text)


def _arguments(text: str) -> str:
    """Return the arguments of a call as one reads them: with their escapes resolved where there are any."""
    if "\\" not in text:
        return text
    try:
        return " ".join(_leaves(msgspec.json.decode(text)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return text  # a stream that died: as it stands


def _leaves(value: object) -> Sequence[str]:
    """Return names and values in the order of the text."""
    if isinstance(value, dict):
        return [leaf for name, each in value.items() for leaf in (name, *_leaves(each))]
    if isinstance(value, list):
        return [leaf for each in value for leaf in _leaves(each)]
    return [str(value)]
