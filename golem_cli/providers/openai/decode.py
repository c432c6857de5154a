"""The answer of a chat-completions server as a `ModelResponse`: whole, or folded from fragments. Pure.

Source: OpenAI API reference, "The chat completion object" and "The chat completion chunk object". Beyond it,
as the services document: `reasoning_content` (DeepSeek, llama.cpp, vLLM) and `reasoning` (OpenRouter, Groq),
content as a list of blocks (Mistral), `prompt_cache_hit_tokens` (DeepSeek), `cost` (OpenRouter), usage in
`x_groq`, an `error` object in a stream (OpenRouter).
Fields that are null are absent; a field of another type than documented is a `ModelError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ModelError
from golem_cli.core.history.wire_view import scalar_text
from golem_cli.core.message import ASSISTANT, Message, ThinkingBlock
from golem_cli.core.model import Delta, ModelResponse
from golem_cli.core.usage import Usage
from golem_cli.providers.faults import dropped, reported_error
from golem_cli.providers.http import parse_json
from golem_cli.providers.openai.calls import CallFold
from golem_cli.providers.wire.fields import Json, kind_of, optional, text

if TYPE_CHECKING:
    from collections.abc import Mapping

DONE: Final = "[DONE]"

_ABSURD_COST: Final = 1e9

_FINISH_REASONS: Final[Mapping[str, str]] = {
    "function_call": "tool_calls",
    "max_tokens": "length",
    "model_length": "length",
    "end_turn": "stop",
    "eos": "stop",
}


def decode_response(body: str) -> ModelResponse:
    """Read the body of a complete answer. Raises `ModelError` for anything else."""
    fold = StreamFold()
    fold.take(body, field="message")
    if not fold.answered:
        raise ModelError("sent an answer without choices")
    return fold.response()


class StreamFold:
    """Folds the events of a stream; each gives a `Delta` for the screen or nothing."""

    def __init__(self) -> None:
        self.answered = False
        self.done = False
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._calls = CallFold()
        self._usage = Usage()
        self._cost: float | None = None
        self._finish = ""
        self._model = ""

    @property
    def complete(self) -> bool:
        """Whether the turn has come to its end: by the sentinel, or by a reason for finishing."""
        return self.done or bool(self._finish)

    def take(self, data: str, *, kind: str = "", field: str = "delta") -> Delta | None:
        """Take the data of one event of that `kind`; `field` is what a choice calls its piece of the turn.

        Raises `ModelError` for an error that it reports, or a wrong shape.
        """
        data = data.strip()
        if data == DONE:
            self.done = True
            return None
        chunk = parse_json(data)
        if chunk is None:
            return None
        if not isinstance(chunk, dict):
            raise ModelError(f"sent a JSON {kind_of(chunk)} where an object was expected")
        if kind == "error" or chunk.get("error"):
            raise reported_error(chunk.get("error") or chunk)
        self._model = text(chunk, "model") or self._model
        self._take_usage(chunk)
        choices = optional(chunk, "choices", list) or []
        if not choices:
            return None
        self.answered = True
        if not isinstance(choices[0], dict):
            raise ModelError(f"sent a {kind_of(choices[0])} where a choice was expected")
        return self._take_choice(choices[0], field)

    def _take_choice(self, choice: Json, field: str) -> Delta | None:
        reason = text(choice, "finish_reason")
        self._finish = _FINISH_REASONS.get(reason, reason) or self._finish
        turn = optional(choice, field, dict) or {}
        content, thinking = decode_content(turn.get("content"))
        content += text(turn, "refusal")  # what the model said instead; without it the turn would be empty
        thinking += text(turn, "reasoning_content") or text(turn, "reasoning")  # some servers send both
        calls = self._calls.take(optional(turn, "tool_calls", list) or [])
        if not (content or thinking or calls):
            return None
        self._content.append(content)
        self._thinking.append(thinking)
        return Delta(content=content, thinking=thinking, tool_calls=calls)

    def _take_usage(self, chunk: Json) -> None:
        usage = optional(chunk, "usage", dict)
        if usage is None:
            usage = optional(optional(chunk, "x_groq", dict) or {}, "usage", dict)
        if usage is not None:
            self._usage = decode_usage(usage)
            self._cost = decode_cost(usage.get("cost"))

    def response(self) -> ModelResponse:
        """The turn as far as it was folded."""
        thinking = "".join(self._thinking)
        message = Message(
            role=ASSISTANT,
            content="".join(self._content),
            thinking=(ThinkingBlock(text=thinking),) if thinking else (),
            tool_calls=self._calls.calls(),
        )
        return ModelResponse(
            message=message,
            usage=self._usage,
            finish_reason=self._finish,
            cost=self._cost,
            model=self._model,
        )

    def check_complete(self) -> None:
        """Raise `ModelError` when the connection has ended before the turn did."""
        if not self.complete:
            raise dropped()


def decode_content(value: object) -> tuple[str, str]:
    """Text and thinking of a `content`: a string, or a list of text and thinking blocks; others say nothing.

    >>> decode_content([{"type": "text", "text": "hi"}])
    ('hi', '')
    """
    if isinstance(value, str):
        return scalar_text(value), ""
    blocks = [block for block in value if isinstance(block, dict)] if isinstance(value, list) else []
    content = "".join(text(block, "text") for block in blocks if block.get("type") == "text")
    thinking = (
        decode_content(block.get("thinking"))[0] for block in blocks if block.get("type") == "thinking"
    )
    return content, "".join(thinking)


def decode_usage(usage: Json) -> Usage:
    """The tokens of a `usage` object. `ModelError` when a count is no whole number.

    Cached tokens are part of the prompt's and reasoning tokens part of the completion's; where a service
    counts reasoning beside the completion (xAI), its total says so and they are added.
    """
    prompt = optional(usage, "prompt_tokens", int) or 0
    completion = optional(usage, "completion_tokens", int) or 0
    inputs = optional(usage, "prompt_tokens_details", dict) or {}
    outputs = optional(usage, "completion_tokens_details", dict) or {}
    reasoning = optional(outputs, "reasoning_tokens", int) or 0
    cached = optional(inputs, "cached_tokens", int) or optional(usage, "prompt_cache_hit_tokens", int) or 0
    if reasoning and optional(usage, "total_tokens", int) == prompt + completion + reasoning:
        completion += reasoning
    return Usage(
        input_tokens=prompt,
        output_tokens=completion,
        cache_read_tokens=cached,
        cache_write_tokens=optional(inputs, "cache_write_tokens", int) or 0,
        reasoning_tokens=reasoning,
    )


def decode_cost(value: object) -> float | None:
    """What a service says that the turn cost; None when that is no sensible number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _ABSURD_COST else None
