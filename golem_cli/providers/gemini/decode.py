"""The answer of generateContent as a `ModelResponse`: whole, or folded from its events. Pure.

Source: Gemini API reference, "Generating content" (`GenerateContentResponse`, `Candidate`, `UsageMetadata`)
and "Caching" (`Part`); Gemini API docs, "Thought signatures" (parts are never merged with a signed one; the
last signature of a stream may come in an empty part). A stream has no sentinel: it is whole when its body
ended and the last thing that it said was why the answer did. Old models, and translators, tell a reason
with every event, so the first one ends nothing. Parts of a kind that is not asked for are passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.codec.scan import compact
from golem_cli.core.errors import ModelError
from golem_cli.core.identity import new_id
from golem_cli.core.message import ASSISTANT, Message, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ModelResponse, ToolCallDelta
from golem_cli.core.usage import Usage
from golem_cli.providers.faults import dropped, reported_error
from golem_cli.providers.gemini.endings import GOOD, blocked_prompt, failed_answer
from golem_cli.providers.gemini.signed import is_signed, signature_of_text
from golem_cli.providers.http import parse_json
from golem_cli.providers.wire.fields import Json, json_text, optional, record, text
from golem_cli.providers.wire.place import extra_of_place

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXTUAL: Final = frozenset({"text", "thought", "thoughtSignature"})


@dataclass
class _Said:
    """A part of text or thought in the making."""

    thought: bool
    pieces: list[str] = field(default_factory=list)
    signature: str = ""

    @property
    def text(self) -> str:
        """What arrived of it."""
        return "".join(self.pieces)


class _RawCall(msgspec.Struct):
    """A call of an event, for the arguments as they were written."""

    args: msgspec.Raw = msgspec.Raw(b"")


class _RawPart(msgspec.Struct, rename="camel"):
    function_call: _RawCall | None = None


class _RawContent(msgspec.Struct):
    parts: list[_RawPart] | None = None


class _RawCandidate(msgspec.Struct):
    content: _RawContent | None = None


class _RawAnswer(msgspec.Struct):
    candidates: list[_RawCandidate] | None = None


def decode_response(body: str, *, origin: str) -> ModelResponse:
    """Read the body of a complete answer of the model called `origin`. Raises `ModelError` for any other."""
    fold = StreamFold(origin)
    fold.take(body)
    if not fold.begun:
        raise ModelError("sent an answer without candidates")
    return fold.response()


class StreamFold:
    """Folds the events of a stream from the model called `origin`; each gives a `Delta` or nothing.

    `name_call` makes an id for a call that came without one, as those of models before Gemini 3 do.
    """

    def __init__(self, origin: str, *, name_call: Callable[[], str] = new_id) -> None:
        self.begun = False
        self._origin = origin
        self._name_call = name_call
        self._parts: list[_Said | ToolCall] = []
        self._calls = 0
        self._usage = Usage()
        self._finish = ""
        self._model = ""

    def take(self, data: str) -> Delta | None:
        """Take the data of one event. Raises `ModelError` for a failure that it tells or a wrong shape."""
        value = parse_json(data)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]  # errors come in a list of one
        if value is None:
            return None
        event = record(value)
        if error := event.get("error"):
            raise reported_error(error)
        self._model = text(event, "modelVersion") or self._model
        if (usage := optional(event, "usageMetadata", dict)) is not None:
            self._usage = decode_usage(usage)
        if failure := blocked_prompt(optional(event, "promptFeedback", dict) or {}):
            raise failure
        candidates = optional(event, "candidates", list) or []
        return self._take_candidate(record(candidates[0]), _arguments(data)) if candidates else None

    def _take_candidate(self, candidate: Json, arguments: list[str]) -> Delta | None:
        self.begun = True
        content = optional(candidate, "content", dict) or {}
        parts = [record(part) for part in optional(content, "parts", list) or []]
        if parts:
            self._finish = ""  # whatever was told before was not the end
        if failure := failed_answer(candidate):
            raise failure
        deltas = [
            self._take_part(part, arguments[index] if index < len(arguments) else "")
            for index, part in enumerate(parts)
        ]
        self._finish = text(candidate, "finishReason") or self._finish
        delta = Delta(
            content="".join(each.content for each in deltas),
            thinking="".join(each.thinking for each in deltas),
            tool_calls=tuple(call for each in deltas for call in each.tool_calls),
        )
        return delta if delta != Delta() else None

    def _take_part(self, part: Json, arguments: str) -> Delta:
        signature = text(part, "thoughtSignature")
        if (call := optional(part, "functionCall", dict)) is not None:
            return self._take_call(call, arguments, signature)
        if part.keys() - _TEXTUAL:
            return Delta()
        thought = optional(part, "thought", bool) or False
        said = text(part, "text")
        if said or signature:
            self._say(said, signature, thought=thought)
        return Delta(thinking=said) if thought else Delta(content=said)

    def _say(self, said: str, signature: str, *, thought: bool) -> None:
        """Add to the part that is being told; a signed one stands alone."""
        latest = self._parts[-1] if self._parts else None
        if signature or not isinstance(latest, _Said) or latest.signature or latest.thought != thought:
            self._parts.append(_Said(thought=thought, pieces=[said], signature=signature))
        else:
            latest.pieces.append(said)

    def _take_call(self, told: Json, arguments: str, signature: str) -> Delta:
        call = ToolCall(
            id=text(told, "id") or f"call_{self._name_call()}",
            name=text(told, "name"),
            args=arguments if arguments.startswith("{") else json_text(optional(told, "args", dict) or {}),
            signature=signature,
        )
        self._parts.append(call)
        self._calls += 1
        fragment = ToolCallDelta(index=self._calls - 1, id=call.id, name=call.name, args_fragment=call.args)
        return Delta(tool_calls=(fragment,))

    def response(self) -> ModelResponse:
        """The turn as far as it was folded."""
        content = ""
        calls: list[ToolCall] = []
        thinking: list[ThinkingBlock] = []
        for part in self._parts:
            if isinstance(part, ToolCall):
                calls.append(part)
            elif part.thought:
                place = extra_of_place(len(content), len(calls))
                thinking.append(ThinkingBlock(text=part.text, signature=part.signature, extra=place))
            else:
                if part.signature:
                    thinking.append(
                        signature_of_text(
                            part.signature, characters=len(content), calls=len(calls), length=len(part.text)
                        )
                    )
                content += part.text
        message = Message(role=ASSISTANT, content=content, thinking=tuple(thinking), tool_calls=tuple(calls))
        if is_signed(message):
            message = msgspec.structs.replace(message, signed_by=self._origin)
        finish = "tool_calls" if calls and self._finish == "STOP" else GOOD.get(self._finish, self._finish)
        return ModelResponse(message=message, usage=self._usage, finish_reason=finish, model=self._model)

    def check_complete(self) -> None:
        """Raise `ModelError` when the body has ended before the answer did."""
        if not self._finish:
            raise dropped()


def _arguments(data: str) -> list[str]:
    """The text of each part's arguments, as it stands in `data` but for white space between values.

    Empty where a part is no call; none at all where the fast reader refuses the data.
    """
    try:
        candidates = msgspec.json.decode(data, type=_RawAnswer).candidates
        content = candidates[0].content if candidates else None
        calls = [part.function_call for part in (content.parts if content else None) or []]
        return [compact(bytes(call.args).decode()) if call else "" for call in calls]
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []


def decode_usage(usage: Json) -> Usage:
    """The tokens that an answer reports: thoughts beside the candidate, what was cached within the prompt.

    >>> decode_usage({"candidatesTokenCount": 2, "thoughtsTokenCount": 3}).output_tokens
    5
    """

    def told(name: str) -> int:
        return optional(usage, name, int) or 0

    return Usage(
        input_tokens=told("promptTokenCount") + told("toolUsePromptTokenCount"),
        output_tokens=told("candidatesTokenCount") + told("thoughtsTokenCount"),
        cache_read_tokens=told("cachedContentTokenCount"),
        reasoning_tokens=told("thoughtsTokenCount"),
    )
