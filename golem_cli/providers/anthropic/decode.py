"""The answer of the Messages API as a `ModelResponse`: whole, or folded from its events. Pure.

Source: Claude API reference, "Create a Message"; Claude docs, "Streaming messages", "Stop reasons and
fallback", "Errors". Events, blocks and fragments of a kind that these do not name are passed over, as they
ask. The arguments of a call keep their text; where it is cut off, what there is of it is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ModelError
from golem_cli.core.model import Delta, ModelResponse
from golem_cli.core.usage import Usage
from golem_cli.providers.faults import dropped, reported_error
from golem_cli.providers.http import parse_json
from golem_cli.providers.wire.blocks import CALL, TEXT, THINKING, BlockFold
from golem_cli.providers.wire.fields import Json, json_text, optional, record, text

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
    for block, raw in zip(fold.turn.blocks, _inputs(body), strict=False):
        if block.kind == CALL and raw:
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
        self.turn = BlockFold()
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
        if reason != "refusal" or self.turn.says_something:
            return None
        self._refusal = text(details, "explanation")
        return Delta(content=self._refusal) if self._refusal else None

    def take_block(self, index: int, start: Json) -> Delta | None:
        """Take the beginning of the block at `index`, or all of it."""
        kind = text(start, "type")
        if kind == "tool_use":
            call = self.turn.begin(index, CALL, id=text(start, "id"), name=text(start, "name"))
            call.pieces = [json_text(given)] if (given := start.get("input")) else []
        elif kind == "thinking":
            self.turn.begin(index, THINKING).signature = text(start, "signature")
            return self.turn.add(index, thinking=text(start, "thinking"))
        elif kind == "redacted_thinking":
            self.turn.begin(index, THINKING).redacted = text(start, "data")
        elif kind == "text":
            self.turn.begin(index, TEXT)
            return self.turn.add(index, content=text(start, "text"))
        else:
            self.turn.begin(index, "other")
        return None

    def _take_fragment(self, index: int, fragment: Json) -> Delta | None:
        kind = text(fragment, "type")
        if kind == "text_delta":
            return self.turn.add(index, content=text(fragment, "text"))
        if kind == "thinking_delta":
            return self.turn.add(index, thinking=text(fragment, "thinking"))
        if kind == "input_json_delta":
            return self.turn.add_arguments(index, text(fragment, "partial_json"))
        if kind == "signature_delta":
            self.turn.block(index, THINKING).signature += text(fragment, "signature")
        return None

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
        message = self.turn.message(origin=self._origin, between=between, instead=self._refusal)
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


def _reported(event: Json) -> ModelError:
    """The error of an error event, whose kind counts although it may give no reason."""
    error = event.get("error")
    return reported_error(
        {"message": "no reason given"} | error if isinstance(error, dict) else error or event
    )
