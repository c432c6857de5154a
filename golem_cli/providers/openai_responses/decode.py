"""The answer of the Responses API as a `ModelResponse`: whole, or folded from its events. Pure.

Source: OpenAI API reference, "The response object" and "Streaming events". Events and items of a kind that
these do not name are passed over. The text of a summary that comes in parts has a blank line between two, and
so have two messages of a turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ModelError
from golem_cli.core.model import Delta, ModelResponse
from golem_cli.core.usage import Usage
from golem_cli.providers.faults import dropped, reported_error
from golem_cli.providers.http import parse_json
from golem_cli.providers.openai_responses.items import extra_of_id
from golem_cli.providers.wire.blocks import CALL, TEXT, THINKING, BlockFold, Kind
from golem_cli.providers.wire.fields import Json, optional, record, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_BETWEEN: Final = "\n\n"
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_KINDS: Final[Mapping[str, Kind]] = {"message": TEXT, "function_call": CALL, "reasoning": THINKING}
_FRAGMENTS: Final[Mapping[str, Kind]] = {
    "response.output_text.delta": TEXT,
    "response.refusal.delta": TEXT,
    "response.reasoning_summary_text.delta": THINKING,
    "response.reasoning_text.delta": THINKING,
    "response.function_call_arguments.delta": CALL,
}
_INCOMPLETE: Final[Mapping[str, str]] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


def decode_response(body: str, *, origin: str) -> ModelResponse:
    """Read the body of a complete answer of the model called `origin`. Raises `ModelError` for any other."""
    answer = record(parse_json(body))
    fold = StreamFold(origin)
    if "output" not in answer and not answer.get("error"):
        raise ModelError("sent an answer without output")
    fold.end(answer)
    return fold.response()


class StreamFold:
    """Folds the events of a stream from the model called `origin`; each gives a `Delta` or nothing."""

    def __init__(self, origin: str) -> None:
        self.done = False
        self._origin = origin
        self._turn = BlockFold()
        self._parts: dict[int, int] = {}
        self._places: dict[str, int] = {}
        self._usage = Usage()
        self._finish = ""
        self._model = ""

    def take(self, data: str, *, kind: str = "") -> Delta | None:
        """Take the data of one event of that `kind`. Raises `ModelError` for an error or a wrong shape."""
        if data.strip() == "[DONE]":  # servers that only resemble OpenAI's
            return None
        value = parse_json(data)
        if value is None:
            return None
        event = record(value)
        name = text(event, "type") or kind
        if name == "error" or kind == "error":
            raise reported_error(event.get("error") or event)
        if name in _ENDS:
            return self.end(optional(event, "response", dict) or {})
        if name in {"response.output_item.added", "response.output_item.done"}:
            told = optional(event, "item", dict) or {}
            return self._take_item(self._index(event, told), told, whole=name.endswith("done"))
        if name in _FRAGMENTS:
            part = optional(event, "summary_index", int) or optional(event, "content_index", int) or 0
            return self._add(self._index(event, {}), _FRAGMENTS[name], text(event, "delta"), part)
        return None

    def _index(self, event: Json, told: Json) -> int:
        """The place of the item that `event` is about; llama.cpp tells the item's id alone."""
        index = optional(event, "output_index", int)
        item_id = text(event, "item_id") or text(told, "id")
        return self._places.setdefault(item_id, len(self._places)) if index is None else index

    def end(self, answer: Json) -> Delta | None:
        """Take the whole answer: why it ended, what it cost, and the output if none was streamed."""
        if answer.get("error") or text(answer, "status") in {"failed", "cancelled"}:
            raise reported_error(answer.get("error") or {"message": f"the answer {text(answer, 'status')}"})
        self._model = text(answer, "model")
        self._usage = decode_usage(optional(answer, "usage", dict) or {})
        output = () if self._turn.blocks else optional(answer, "output", list) or ()
        deltas = [self._take_item(index, record(item), whole=True) for index, item in enumerate(output)]
        reason = text(optional(answer, "incomplete_details", dict) or {}, "reason")
        called = any(block.kind == CALL for block in self._turn.blocks)
        self._finish = _INCOMPLETE.get(reason, reason) or ("tool_calls" if called else "stop")
        self.done = True
        return _joined([delta for delta in deltas if delta is not None])

    def _take_item(self, index: int, told: Json, *, whole: bool) -> Delta | None:
        """Take the beginning of an item, or the `whole` of it, of which some may have been streamed."""
        kind = _KINDS.get(text(told, "type"))
        if kind is None:
            return None
        if not self._turn.has(index):
            self._turn.begin(index, kind)
        block = self._turn.block(index, kind)
        if kind == CALL:
            block.id, block.name = text(told, "call_id") or text(told, "id"), text(told, "name")
        elif kind == THINKING:
            block.signature = text(told, "encrypted_content")
            block.extra = extra_of_id(text(told, "id"))
        return self._add(index, kind, _text_of(told)) if whole and not block.pieces else None

    def _add(self, index: int, kind: Kind, fragment: str, part: int = 0) -> Delta | None:
        if not fragment:
            return None
        if kind == CALL:
            return self._turn.add_arguments(index, fragment)
        fragment = self._parted(index, kind, part) + fragment
        if kind == TEXT:
            return self._turn.add(index, content=fragment)
        return self._turn.add(index, thinking=fragment)

    def _parted(self, index: int, kind: Kind, part: int) -> str:
        """What stands in front of a fragment: a blank line where a message or part of a summary begins."""
        if not self._turn.has(index):
            self._turn.begin(index, kind)
        begun = bool(self._turn.block(index, kind).pieces)
        if kind == TEXT:
            said = any(block.pieces for block in self._turn.blocks if block.kind == TEXT)
            return _BETWEEN if said and not begun else ""
        before, self._parts[index] = self._parts.get(index, part), part
        return _BETWEEN if begun and part != before else ""

    def response(self) -> ModelResponse:
        """The turn as far as it was folded."""
        signed = any(block.signature for block in self._turn.blocks)
        message = self._turn.message(origin=self._origin if signed else "")
        return ModelResponse(
            message=message, usage=self._usage, finish_reason=self._finish, model=self._model
        )

    def check_complete(self) -> None:
        """Raise `ModelError` when the connection has ended before the answer did."""
        if not self.done:
            raise dropped()


def decode_usage(usage: Json) -> Usage:
    """The tokens of a `usage` object: cached ones are part of the input, reasoning ones of the output."""
    inputs = optional(usage, "input_tokens_details", dict) or {}
    outputs = optional(usage, "output_tokens_details", dict) or {}
    return Usage(
        input_tokens=optional(usage, "input_tokens", int) or 0,
        output_tokens=optional(usage, "output_tokens", int) or 0,
        cache_read_tokens=optional(inputs, "cached_tokens", int) or 0,
        cache_write_tokens=optional(inputs, "cache_write_tokens", int) or 0,
        reasoning_tokens=optional(outputs, "reasoning_tokens", int) or 0,
    )


def _text_of(item: Json) -> str:
    """All text of an item: a message's with refusals, a call's arguments, a summary (else the reasoning)."""
    if item["type"] == "function_call":
        return text(item, "arguments")
    if item["type"] == "message":
        return "".join(_texts(item, "content"))
    return _BETWEEN.join(_texts(item, "summary") or _texts(item, "content"))


def _texts(item: Json, name: str) -> list[str]:
    blocks = [record(block) for block in optional(item, name, list) or []]
    return [text(block, "text") or text(block, "refusal") for block in blocks]


def _joined(deltas: list[Delta]) -> Delta | None:
    if not deltas:
        return None
    return Delta(
        content="".join(delta.content for delta in deltas),
        thinking="".join(delta.thinking for delta in deltas),
        tool_calls=tuple(call for delta in deltas for call in delta.tool_calls),
    )
