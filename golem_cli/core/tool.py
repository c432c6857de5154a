"""The tool port: what a tool is, and the context that it runs in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from golem_cli.core.message import Part
from golem_cli.core.model import ToolSpec

Deps = TypeVar("Deps")


@dataclass(frozen=True, kw_only=True)
class RunContext(Generic[Deps]):
    """What instructions functions, tools and decoders see of the run. `deps` is the application's own.

    A tool also sees its call: `call_id`, and `approved`, which is true when somebody approved this call after
    it was deferred. A tool that asks first defers unless `approved`.
    """

    deps: Deps
    run_id: str = ""
    conversation_id: str = ""
    call_id: str = ""
    approved: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """Text plus parts; a tool that has only text returns the text."""

    content: str = ""
    parts: tuple[Part, ...] = ()


ToolFunction = Callable[[RunContext[Any], str], Awaitable[str | ToolResult]]
"""Takes the context and the raw argument text. Raises `ModelRetry`, `ToolFailed`, `ToolCanceled` or
`ToolDeferred` to say something to the run; anything else fails it."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function that a model may call.

    `schema` is the JSON Schema of the arguments as JSON text. `max_retries` and `timeout` (seconds)
    override the agent's. A `sequential` tool is a barrier among parallel ones.
    """

    name: str
    description: str
    function: ToolFunction
    schema: str = '{"type":"object"}'
    max_retries: int | None = None
    timeout: float | None = None
    sequential: bool = False

    @property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""
        return ToolSpec(name=self.name, description=self.description, schema=self.schema)
