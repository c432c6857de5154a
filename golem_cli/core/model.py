"""The model port: what a run asks of a model, and what it gets back. Adapters implement it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from golem_cli.core.message import Message
from golem_cli.core.model_settings import ModelSettings as ModelSettings  # noqa: PLC0414 (here is its home)
from golem_cli.core.usage import Usage


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """What a model is told of a tool. `schema` is the JSON Schema of its arguments, as JSON text."""

    name: str
    description: str
    schema: str


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One request: `messages` with the system message, if any, first. `output_schema` is JSON text.

    `tool_choice` is `auto`, `none`, `required`, the name of one tool, or empty for the provider's default.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    tool_choice: str = ""
    output_schema: str = ""
    settings: ModelSettings = field(default_factory=ModelSettings)


@dataclass(frozen=True, kw_only=True)
class ModelResponse:
    """A completed turn: the assistant `message` (no stamps), its `usage`, and why it ended.

    `finish_reason` is `stop`, `length`, `tool_calls`, `content_filter` or what the provider said; empty
    when it said nothing. `cost` is None when nothing tells it. `model` is the name that the provider gave.
    """

    message: Message
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = ""
    cost: float | None = None
    model: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolCallDelta:
    """A fragment of the call at `index`; `id` and `name` come with its first fragment."""

    index: int
    id: str = ""
    name: str = ""
    args_fragment: str = ""


@dataclass(frozen=True, kw_only=True)
class Delta:
    """A fragment of a streamed turn: text, thinking, pieces of tool calls, or several of them."""

    content: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()


OnDelta = Callable[[Delta], Awaitable[None] | None]
"""Receives each fragment as it arrives; an exception from it ends the stream and fails the run."""

Counter = Callable[[Sequence[Message]], int | Awaitable[int]]
"""Tokens that these messages cost; never decreases as messages are added in front."""


class Model(Protocol):
    """Answers a request as a whole. Raises `ModelError`; never retries."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn."""
        ...


@runtime_checkable
class StreamingModel(Model, Protocol):
    """A model that can also hand out its turn in fragments."""

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, having passed every fragment of it to `on_delta`.

        Cancelling the task closes the connection at once. An `on_delta` result that is awaitable is awaited.
        """
        ...


@runtime_checkable
class CountingModel(StreamingModel, Protocol):
    """A model that has a token counter."""

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens that `messages` cost as part of a request; a `Counter`."""
        ...


@runtime_checkable
class WindowedModel(CountingModel, Protocol):
    """A model that knows how much fits: its token counter and its context window."""

    async def context_window(self) -> int:
        """Return the tokens that a request and its answer may have together."""
        ...
