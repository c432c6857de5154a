"""The answer of the Messages API as a `ModelResponse`: whole, or folded from its events. Pure.

Source: Claude API reference, "Create a Message"; Claude docs, "Streaming messages", "Stop reasons and
fallback", "Errors". Events, blocks and fragments of a kind that these do not name are passed over, as they
ask. The arguments of a call keep their text; where it is cut off, what there is of it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ModelError
from golem_cli.core.message import ASSISTANT, Message, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ModelResponse, ToolCallDelta
from golem_cli.core.usage import Usage
from golem_cli.providers.anthropic.turns import THINKING
from golem_cli.providers.faults import dropped, reported_error
from golem_cli.providers.fields import Json, json_text, optional, record, text
from golem_cli.providers.http import parse_json
from golem_cli.providers.place import extra_of_place

if TYPE_CHECKING:
    from collections.abc import Mapping

_FINISH_REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


@dataclass
class _Block:
    """A content block in the making: text, thinking, or a call, whose `number` counts the calls from 0."""

    kind: str
    pieces: list[str] = field(default_factory=list)
    id: str = ""
    name: str = ""
    signature: str = ""
    redacted: str = ""
    number: int = 0
    told: bool = False

    @property
    def text(self) -> str:
        """What arrived of its text or arguments."""
        return "".join(self.pieces)


class _Raw(msgspec.Struct):
    """A content block of a whole answer, for the arguments as they were written."""

    input: msgspec.Raw = msgspec.Raw(b"")


class _RawContent(msgspec.Struct):
    content: list[_Raw] | None = None


def decode_response(body: str, *, origin: str) -> ModelResponse:
    """Read the body of a complete answer of the model called `origin`. Raises `ModelError` for any other."""
    answer = record(parse_json(body))
    if answer.get("type") == "error" or answer.get("error"):
        raise _reported(answer)
    fold = StreamFold(origin)
    if "content" not in answer:
        raise ModelError("sent an answer without content")
    fold.begin(answer)
    for index, block in enumerate(optional(answer, "content", list) or []):
        fold.take_block(index, record(block))
    for block, raw in zip(fold.blocks, _inputs(body), strict=False):
        if block.kind == "tool_use" and raw:
            block.pieces = [raw]
    fold.end(answer)
    fold.done = True
    return fold.response(between="\n")


def _inputs(body: str) -> list[str]:
    """The text of each block's `input`, as it stands in `body`; none where the fast reader refuses it."""
    try:
        blocks = msgspec.json.decode(body, type=_RawContent).content or []
        return [bytes(block.input).decode() for block in blocks]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []


class StreamFold:
    """Folds the events of a stream from the model called `origin`; each gives a `Delta` or nothing."""

    def __init__(self, origin: str) -> None:
        self.done = False
        self._origin = origin
        self.blocks: list[_Block] = []
        self._at_index: dict[int, _Block] = {}
        self._usage: dict[str, int] = {}
        self._finish = ""
        self._model = ""
        self._refusal = ""

    def take(self, data: str, *, kind: str = "") -> Delta | None:
        """Take the data of one event of that `kind`. Raises `ModelError` for an error or a wrong shape."""
        value = parse_json(data)
        if value is None:
            return None
        event = record(value)
        name = text(event, "type")
        if name == "error" or kind == "error" or event.get("error"):
            raise _reported(event)
        if name == "message_start":
            self.begin(optional(event, "message", dict) or {})
        elif name == "content_block_start":
            block = optional(event, "content_block", dict) or {}
            return self.take_block(optional(event, "index", int) or 0, block)
        elif name == "content_block_delta":
            delta = optional(event, "delta", dict) or {}
            return self._take_fragment(optional(event, "index", int) or 0, delta)
        elif name == "message_delta":
            return self.end((optional(event, "delta", dict) or {}) | {"usage": event.get("usage")})
        elif name == "message_stop":
            self.done = True
        return None

    def begin(self, message: Json) -> None:
        """Take what is known of the answer before its content."""
        self._model = text(message, "model")
        self._take_usage(message)

    def end(self, message: Json) -> Delta | None:
        """Take why the answer ended; a refusal that said nothing else says why."""
        reason = text(message, "stop_reason")
        self._finish = _FINISH_REASONS.get(reason, reason) or self._finish
        self._take_usage(message)
        details = optional(message, "stop_details", dict) or {}
        if reason != "refusal" or any(block.text for block in self.blocks):
            return None
        self._refusal = text(details, "explanation")
        return Delta(content=self._refusal) if self._refusal else None

    def take_block(self, index: int, start: Json) -> Delta | None:
        """Take the beginning of the block at `index`, or all of it."""
        kind = text(start, "type")
        block = self._at_index[index] = _Block(kind=kind)
        self.blocks.append(block)
        if kind == "tool_use":
            block.number = sum(known.kind == kind for known in self.blocks) - 1
            block.id, block.name = text(start, "id"), text(start, "name")
            block.pieces = [json_text(given)] if (given := start.get("input")) else []
        elif kind == "thinking":
            block.signature = text(start, "signature")
            return self._add(index, thinking=text(start, "thinking"))
        elif kind == "redacted_thinking":
            block.redacted = text(start, "data")
        elif kind == "text":
            return self._add(index, content=text(start, "text"))
        return None

    def _take_fragment(self, index: int, fragment: Json) -> Delta | None:
        kind = text(fragment, "type")
        if kind == "text_delta":
            return self._add(index, content=text(fragment, "text"))
        if kind == "thinking_delta":
            return self._add(index, thinking=text(fragment, "thinking"))
        if kind == "input_json_delta":
            return self._add_arguments(index, text(fragment, "partial_json"))
        if kind == "signature_delta":
            self._block(index, "thinking").signature += text(fragment, "signature")
        return None

    def _add(self, index: int, *, content: str = "", thinking: str = "") -> Delta | None:
        if not (content or thinking):
            return None
        self._block(index, "thinking" if thinking else "text").pieces.append(content or thinking)
        return Delta(content=content, thinking=thinking)

    def _add_arguments(self, index: int, fragment: str) -> Delta:
        block = self._at_index.get(index)
        if block is None or block.kind != "tool_use":
            raise ModelError("sent arguments of a call that it had not begun")
        first, block.told = not block.told, True
        block.pieces.append(fragment)
        call = ToolCallDelta(
            index=block.number,
            id=block.id if first else "",
            name=block.name if first else "",
            args_fragment=fragment,
        )
        return Delta(tool_calls=(call,))

    def _block(self, index: int, kind: str) -> _Block:
        """The block at `index`; a fragment that none of its `kind` was begun for goes on the latest."""
        latest = self.blocks[-1] if self.blocks else None
        for block in (self._at_index.get(index), latest):
            if block is not None and block.kind == kind:
                return block
        self.blocks.append(_Block(kind=kind))
        return self.blocks[-1]

    def _take_usage(self, message: Json) -> None:
        """Counts are those so far: a later one replaces an earlier one."""
        usage = optional(message, "usage", dict) or {}
        details = optional(usage, "output_tokens_details", dict) or {}
        for told in (usage, details):
            for name in _COUNTS & told.keys():
                if (count := optional(told, name, int)) is not None:
                    self._usage[name] = count

    def response(self, *, between: str = "") -> ModelResponse:
        """The turn as far as it was folded; `between` stands between two blocks of text."""
        content = ""
        texts = 0
        calls: list[ToolCall] = []
        thinking: list[ThinkingBlock] = []
        for block in self.blocks:
            if block.kind == "text":
                content += (between if texts else "") + block.text
                texts += 1
            elif block.kind == "tool_use":
                calls.append(ToolCall(id=block.id, name=block.name, args=block.text))
            elif block.kind in THINKING:
                thinking.append(_thinking(block, len(content), len(calls)))
        message = Message(
            role=ASSISTANT,
            content=content or self._refusal,
            thinking=tuple(thinking),
            tool_calls=tuple(calls),
            model=self._origin if thinking else "",
        )
        return ModelResponse(
            message=message, usage=decode_usage(self._usage), finish_reason=self._finish, model=self._model
        )

    def check_complete(self) -> None:
        """Raise `ModelError` when the connection has ended before the answer did."""
        if not self.done:
            raise dropped()


_COUNTS: Final = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "thinking_tokens",
    }
)


def decode_usage(counts: Mapping[str, int]) -> Usage:
    """The tokens that an answer reports. The provider counts the cached part of a prompt beside the rest.

    >>> decode_usage({"input_tokens": 1, "cache_read_input_tokens": 9, "output_tokens": 2}).input_tokens
    10
    """
    read, written = counts.get("cache_read_input_tokens", 0), counts.get("cache_creation_input_tokens", 0)
    return Usage(
        input_tokens=counts.get("input_tokens", 0) + read + written,
        output_tokens=counts.get("output_tokens", 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=counts.get("thinking_tokens", 0),
    )


def _thinking(block: _Block, characters: int, calls: int) -> ThinkingBlock:
    return ThinkingBlock(
        text=block.text,
        signature=block.signature,
        redacted=block.redacted,
        extra=extra_of_place(characters, calls),
    )


def _reported(event: Json) -> ModelError:
    """The error of an error event, whose kind counts although it may give no reason."""
    error = event.get("error")
    return reported_error(
        {"message": "no reason given"} | error if isinstance(error, dict) else error or event
    )
