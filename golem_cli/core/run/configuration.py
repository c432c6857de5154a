"""What a run may be told: the agent's configuration, and what one run may set otherwise."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypedDict, TypeVar

from golem_cli.core.events import OnEvent
from golem_cli.core.history import HistoryProcessor
from golem_cli.core.message import Part
from golem_cli.core.model import Counter, Model, ModelResponse, ModelSettings, ToolSpec
from golem_cli.core.run.checks import check_configuration
from golem_cli.core.run.retry import Backoff, OnWait, Sleep, exponential_backoff
from golem_cli.core.tool import RunContext, Tool
from golem_cli.core.usage import UsageLimit

Deps = TypeVar("Deps")
Output = TypeVar("Output")

InstructionsFunction = Callable[[RunContext[Any]], str | Awaitable[str]]
"""Resolved once per run; its text joins the static instructions."""

Decoder = Callable[[RunContext[Any], str], Output]
"""Turns the final text (or the output tool's arguments) into the output. `ModelRetry` rejects it."""

AsyncDecoder = Callable[[RunContext[Any], str], Awaitable[Output]]
"""A decoder that is awaited."""

Price = Callable[[ModelResponse], float | None]
"""What a response cost, when the provider did not say; None when nothing is known."""

UnknownTool = Literal["fail", "report"]
"""What a call of an undeclared tool does: fail the run, or tell the model."""


@dataclass(frozen=True, kw_only=True)
class AgentConfiguration:
    """Everything an agent runs with. Checked on construction; `ConfigurationError` names what is wrong.

    `max_iterations` bounds model turns, `max_attempts` the tries of one model call, `output_retries` the
    rejected answers and `tool_retries` the rejected calls of each tool that are fed back. `tool_timeout` is
    in seconds, None for no limit. `tool_choice` is `auto`, `none`, `required` or the name of the one tool to
    advertise. `output_tool` describes a tool whose call is the final answer; `output_schema` is JSON text.
    `counter` counts the tokens of a request for `usage_limit.request_input_tokens`. `backoff` gives the
    seconds before the next attempt; `sleep` waits them; `on_wait` is told.
    """

    model: Model
    instructions: str = ""
    instructions_func: InstructionsFunction | None = None
    tools: tuple[Tool, ...] = ()
    history_processor: HistoryProcessor | None = None
    decoder: Decoder[Any] | AsyncDecoder[Any] | None = None
    output_retries: int = 0
    output_schema: str = ""
    output_tool: ToolSpec | None = None
    tool_choice: str = ""
    max_iterations: int = 10
    max_attempts: int = 1
    tool_retries: int = 0
    tool_timeout: float | None = None
    parallel_tool_calls: bool = False
    unknown_tool: UnknownTool = "fail"
    usage_limit: UsageLimit | None = None
    counter: Counter | None = None
    settings: ModelSettings = field(default_factory=ModelSettings)
    price: Price | None = None
    on_event: OnEvent | None = None
    on_wait: OnWait | None = None
    backoff: Backoff = exponential_backoff
    sleep: Sleep = asyncio.sleep

    def __post_init__(self) -> None:
        check_configuration(self)


class AgentOptions(TypedDict, total=False):
    """The keyword arguments of `Agent`, as `AgentConfiguration` explains them."""

    instructions: str
    instructions_func: InstructionsFunction | None
    tools: tuple[Tool, ...] | list[Tool]
    history_processor: HistoryProcessor | None
    output_retries: int
    output_schema: str
    output_tool: ToolSpec | None
    tool_choice: str
    max_iterations: int
    max_attempts: int
    tool_retries: int
    tool_timeout: float | None
    parallel_tool_calls: bool
    unknown_tool: UnknownTool
    usage_limit: UsageLimit | None
    counter: Counter | None
    settings: ModelSettings
    price: Price | None
    on_event: OnEvent | None
    on_wait: OnWait | None
    backoff: Backoff
    sleep: Sleep


class RunOptions(TypedDict, Generic[Deps], total=False):
    """The keyword arguments of every run method, as `RunSettings` explains them."""

    deps: Deps
    parts: tuple[Part, ...] | list[Part]
    run_id: str
    conversation_id: str
    model: Model | None
    instructions: str | None
    tools: tuple[Tool, ...] | list[Tool] | None
    history_processor: HistoryProcessor | None
    usage_limit: UsageLimit | None
    settings: ModelSettings | None
    on_event: OnEvent | None
    on_wait: OnWait | None


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What one run sets for itself; None leaves the agent's own.

    `deps` is handed to tools, decoder and instructions function. `parts` join the prompt. A non-empty
    `run_id` or `conversation_id` wins over a fresh or inherited one. `instructions` replaces the agent's
    static text ("" removes it; the function's text still joins), `tools` the agent's tools. `on_event` and
    `on_wait` observe beside the agent's own.
    """

    deps: Any = None
    parts: tuple[Part, ...] = ()
    run_id: str = ""
    conversation_id: str = ""
    model: Model | None = None
    instructions: str | None = None
    tools: tuple[Tool, ...] | None = None
    history_processor: HistoryProcessor | None = None
    usage_limit: UsageLimit | None = None
    settings: ModelSettings | None = None
    on_event: OnEvent | None = None
    on_wait: OnWait | None = None

    def applied_to(self, configuration: AgentConfiguration) -> AgentConfiguration:
        """Return `configuration` with what this run replaces; it is checked like the agent's."""
        given = {name: getattr(self, name) for name in _REPLACED if getattr(self, name) is not None}
        return dataclasses.replace(configuration, **given) if given else configuration


_REPLACED = ("model", "instructions", "tools", "history_processor", "usage_limit", "settings")
