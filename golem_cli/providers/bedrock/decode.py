"""The answer of Converse as a `ModelResponse`: whole, or folded from the events of ConverseStream. Pure.

Source: Bedrock runtime API reference, "Converse", "ConverseStream" and `ConverseStreamOutput`, `TokenUsage`;
Bedrock user guide, "Using the Converse API" and "Prompt caching" (cached tokens are counted beside the rest).
Events and blocks that these do not name are passed over. The arguments of a call keep their text.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ModelError
from golem_cli.core.model import Delta, ModelResponse
from golem_cli.core.usage import Usage
from golem_cli.providers.faults import dropped, envelope
from golem_cli.providers.http import parse_json
from golem_cli.providers.wire.blocks import CALL, TEXT, THINKING, BlockFold
from golem_cli.providers.wire.fields import Json, json_text, one_line, optional, record, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.providers.bedrock.frames import Frame

_FINISH_REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
_STATUS_OF_FAULT: Final[Mapping[str, int]] = {
    "internalServerException": 500,
    "modelStreamErrorException": 424,
    "validationException": 400,
    "throttlingException": 429,
    "serviceUnavailableException": 503,
}
_RETRYABLE: Final = frozenset(_STATUS_OF_FAULT) - {"validationException"}


class _RawCall(msgspec.Struct, frozen=True):
    input: msgspec.Raw = msgspec.Raw(b"")


class _RawBlock(msgspec.Struct, frozen=True):
    """A content block of a whole answer, for the arguments as they were written."""

    toolUse: _RawCall | None = None  # noqa: N815 (the format's name)


class _RawMessage(msgspec.Struct, frozen=True):
    content: list[_RawBlock] = []


class _RawOutput(msgspec.Struct, frozen=True):
    message: _RawMessage = _RawMessage()


class _RawAnswer(msgspec.Struct, frozen=True):
    output: _RawOutput = _RawOutput()


def decode_response(body: str, *, origin: str) -> ModelResponse:
    """Read the body of a complete answer of the model called `origin`. Raises `ModelError` for any other."""
    answer = record(parse_json(body))
    message = optional(optional(answer, "output", dict) or {}, "message", dict)
    if message is None:
        said, _ = envelope(body)
        raise ModelError(f"reported an error: {said}" if said else "sent an answer without a message")
    fold = StreamFold(origin)
    for index, block in enumerate(optional(message, "content", list) or []):
        fold.take_block(index, record(block))
    for block, raw in zip(fold.turn.blocks, _inputs(body), strict=False):
        if block.kind == CALL and raw:
            block.pieces = [raw]
    fold.end(answer)
    fold.take_usage(answer)
    return fold.response(between="\n")


def _inputs(body: str) -> list[str]:
    """The text of each block's `input`, as it stands in `body`; none where the fast reader refuses it."""
    try:
        blocks = msgspec.json.decode(body, type=_RawAnswer).output.message.content
        return [bytes(block.toolUse.input).decode() if block.toolUse else "" for block in blocks]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []


class StreamFold:
    """Folds the events of a stream from the model called `origin`; each gives a `Delta` or nothing."""

    def __init__(self, origin: str) -> None:
        self.turn = BlockFold()
        self.stopped = False
        self.done = False
        self._origin = origin
        self._usage = Usage()
        self._finish = ""

    def take(self, frame: Frame) -> Delta | None:
        """Take one event. Raises `ModelError` for a fault that it reports, or a wrong shape."""
        if frame.fault:
            raise _fault(frame)
        event = record(parse_json(frame.text))
        index = optional(event, "contentBlockIndex", int) or 0
        if frame.kind == "contentBlockStart":
            self.take_block(index, optional(event, "start", dict) or {})
        elif frame.kind == "contentBlockDelta":
            return self._take_fragment(index, optional(event, "delta", dict) or {})
        elif frame.kind == "messageStop":
            self.end(event)
            self.stopped = True
        elif frame.kind == "metadata":
            self.take_usage(event)
            self.done = self.stopped
        return None

    def take_block(self, index: int, block: Json) -> None:
        """Take a block as a whole, or the beginning of a call."""
        call, thought = optional(block, "toolUse", dict), optional(block, "reasoningContent", dict)
        if call is not None:
            begun = self.turn.begin(index, CALL, id=text(call, "toolUseId"), name=text(call, "name"))
            begun.pieces = [json_text(call["input"])] if call.get("input") else []
        elif thought is not None:
            told = optional(thought, "reasoningText", dict) or {}
            begun = self.turn.begin(index, THINKING)
            begun.pieces, begun.signature = [text(told, "text")], text(told, "signature")
            begun.redacted = text(thought, "redactedContent")
        else:
            cited = optional(optional(block, "citationsContent", dict) or {}, "content", list) or []
            pieces = [text(block, "text"), *(text(record(piece), "text") for piece in cited)]
            self.turn.begin(index, TEXT if any(pieces) else "other").pieces = pieces

    def _take_fragment(self, index: int, fragment: Json) -> Delta | None:
        call, thought = optional(fragment, "toolUse", dict), optional(fragment, "reasoningContent", dict)
        if call is not None:
            return self.turn.add_arguments(index, text(call, "input"))
        if not self.turn.has(index):  # only calls tell their beginning
            self.turn.begin(index, TEXT if thought is None else THINKING)
        if thought is None:
            return self.turn.add(index, content=text(fragment, "text"))
        block = self.turn.block(index, THINKING)
        block.signature += text(thought, "signature")
        block.redacted = _joined(block.redacted, text(thought, "redactedContent"))
        return self.turn.add(index, thinking=text(thought, "text"))

    def end(self, event: Json) -> None:
        """Take why the answer ended."""
        reason = text(event, "stopReason")
        self._finish = _FINISH_REASONS.get(reason, reason)

    def take_usage(self, event: Json) -> None:
        """Take the tokens that the answer reports."""
        self._usage = decode_usage(optional(event, "usage", dict) or {})

    def response(self, *, between: str = "") -> ModelResponse:
        """The turn as far as it was folded; `between` stands between two blocks of text."""
        message = self.turn.message(origin=self._origin, between=between)
        return ModelResponse(message=message, usage=self._usage, finish_reason=self._finish)

    def check_complete(self) -> None:
        """Raise `ModelError` when the connection has ended before the answer did."""
        if not self.stopped:
            raise dropped()


def decode_usage(usage: Json) -> Usage:
    """The tokens of a `usage` object. The provider counts the cached part of a prompt beside the rest.

    >>> decode_usage({"inputTokens": 1, "cacheReadInputTokens": 9, "outputTokens": 2}).input_tokens
    10
    """
    read, written = _count(usage, "cacheReadInputTokens"), _count(usage, "cacheWriteInputTokens")
    return Usage(
        input_tokens=_count(usage, "inputTokens") + read + written,
        output_tokens=_count(usage, "outputTokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _joined(one: str, other: str) -> str:
    """The base64 of the bytes of both, each of which is base64 of its own."""
    if not (one and other):
        return one or other
    try:
        return base64.b64encode(base64.b64decode(one) + base64.b64decode(other)).decode()
    except ValueError as error:
        raise ModelError("sent redacted thinking that is not base64") from error


def _count(usage: Json, name: str) -> int:
    return optional(usage, name, int) or 0


def _fault(frame: Frame) -> ModelError:
    said, _ = envelope(frame.text)
    return ModelError(
        f"reported an error ({one_line(frame.kind, limit=60)}): "
        f"{said or one_line(frame.text.strip('{} ')) or 'no reason given'}",
        retryable=frame.kind in _RETRYABLE,
        status_code=_STATUS_OF_FAULT.get(frame.kind),
        code=one_line(frame.kind, limit=60),
    )
