"""A public scripted model and friends, for the tests of applications that use golem."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from golem_cli.core.errors import ModelError
from golem_cli.core.message import ASSISTANT, Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, OnDelta, ToolCallDelta
from golem_cli.core.tool import RunContext, Tool, ToolResult
from golem_cli.core.usage import Usage

__all__ = ["ScriptedModel", "ScriptedTool", "call"]

_DEFAULT_SCHEMA = '{"type":"object"}'


def call(call_id: str, name: str, args: str = "{}") -> ToolCall:
    """Return a tool call as a model sends it; `args` is the verbatim text.

    >>> call("call_1", "ls").args
    '{}'
    """
    return ToolCall(id=call_id, name=name, args=args)


@dataclass(frozen=True, kw_only=True)
class _Step:
    """One scripted outcome: what is streamed, and whether it then waits, fails or is complete."""

    response: ModelResponse
    error: BaseException | None = None
    hangs: bool = False


class ScriptedModel:
    """A `StreamingModel` that answers from a script, and records what it was asked in `requests`.

    Positional arguments are plain text answers; `respond`, `fail` and `hang` queue more, and return the
    model, so that they chain. Each request takes the next outcome; a request beyond the script raises
    `ModelError`. `fragment_size` is the number of characters in a streamed fragment, 0 for the whole text at
    once.

    >>> from golem_cli.core.run import Agent
    >>> model = ScriptedModel().respond(tool_calls=[call("1", "add")]).respond("4")
    >>> add = ScriptedTool("add", "2 + 2 = 4")
    >>> Agent(model, tools=[add.tool]).run_sync("Add!").output, add.calls
    ('4', ['{}'])
    >>> [message.role for message in model.requests[1].messages]
    ['user', 'assistant', 'tool']
    """

    def __init__(self, *answers: str, name: str = "scripted", fragment_size: int = 0) -> None:
        self.name = name
        self.fragment_size = fragment_size
        self.requests: list[ModelRequest] = []
        self.closed = False
        self._script: deque[_Step] = deque()
        self._hanging = 0
        self._hangs = asyncio.Event()
        self._released = asyncio.Event()
        for answer in answers:
            self.respond(answer)

    @property
    def left(self) -> int:
        """How many outcomes of the script were not asked for yet."""
        return len(self._script)

    def respond(
        self,
        content: str = "",
        *,
        tool_calls: Sequence[ToolCall] = (),
        thinking: Sequence[ThinkingBlock] = (),
        usage: Usage | None = None,
        finish_reason: str = "",
        cost: float | None = None,
    ) -> Self:
        """Queue a turn."""
        message = Message(
            role=ASSISTANT, content=content, tool_calls=tuple(tool_calls), thinking=tuple(thinking)
        )
        response = ModelResponse(
            message=message, usage=usage or Usage(), finish_reason=finish_reason, cost=cost, model=self.name
        )
        return self.queue(response)

    def queue(self, response: ModelResponse) -> Self:
        """Queue a whole response, whatever it is."""
        self._script.append(_Step(response=response))
        return self

    def fail(self, error: BaseException, *, after: str = "") -> Self:
        """Queue a failure; a streamed request hands out the text `after` first."""
        self._script.append(_Step(response=_text(after), error=error))
        return self

    def hang(self, content: str = "") -> Self:
        """Queue a turn that hands out `content`, and then waits for `release` (or its cancellation).

        Once released it is an ordinary answer.
        """
        self._script.append(_Step(response=_text(content), hangs=True))
        return self

    async def until_hanging(self) -> None:
        """Wait until a request hangs; one that was cancelled does so no longer."""
        await self._hangs.wait()

    def release(self) -> None:
        """Let every request that hangs, now or later, go on."""
        self._released.set()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the next outcome as a whole."""
        step = self._next(request)
        await asyncio.sleep(0)
        return await self._finish(step)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the next outcome, having passed its fragments to `on_delta`."""
        step = self._next(request)
        for delta in self._fragments(step.response.message):
            await asyncio.sleep(0)
            waiting = on_delta(delta)
            if inspect.isawaitable(waiting):
                await waiting
        return await self._finish(step)

    def refusal_of(self, part: Part) -> str:
        """Why a part cannot be carried: never."""
        return ""

    async def aclose(self) -> None:
        """Note that the model was closed."""
        self.closed = True

    def _next(self, request: ModelRequest) -> _Step:
        self.requests.append(request)
        if not self._script:
            raise ModelError(
                "the script of this model has ended: queue an outcome with respond, fail or hang"
            )
        return self._script.popleft()

    async def _finish(self, step: _Step) -> ModelResponse:
        if step.hangs:
            await self._hang()
        if step.error is not None:
            raise step.error
        return step.response

    async def _hang(self) -> None:
        self._hanging += 1
        self._hangs.set()
        try:
            await self._released.wait()
        finally:
            self._hanging -= 1
            if not self._hanging:
                self._hangs.clear()

    def _fragments(self, message: Message) -> Iterator[Delta]:
        for block in message.thinking:
            yield from (Delta(thinking=piece) for piece in self._pieces(block.text))
        yield from (Delta(content=piece) for piece in self._pieces(message.content))
        for index, request in enumerate(message.tool_calls):
            yield Delta(tool_calls=(ToolCallDelta(index=index, id=request.id, name=request.name),))
            for piece in self._pieces(request.args):
                yield Delta(tool_calls=(ToolCallDelta(index=index, args_fragment=piece),))

    def _pieces(self, text: str) -> Iterator[str]:
        size = self.fragment_size or max(1, len(text))
        yield from (text[start : start + size] for start in range(0, len(text), size))


def _text(content: str) -> ModelResponse:
    return ModelResponse(message=Message(role=ASSISTANT, content=content))


Outcome = str | ToolResult | BaseException | Callable[[RunContext[Any], str], Awaitable[str | ToolResult]]
"""What a scripted tool does with a call: return it, raise it, or call it."""


class ScriptedTool:
    """A tool with scripted outcomes; its `tool` goes to an agent, its `calls` holds the arguments it got.

    Each call takes the next outcome, and the last one serves for all further calls.

    >>> from golem_cli.core.errors import ToolFailed
    >>> ScriptedTool("fetch", ToolFailed("gone"), "a page").tool.name
    'fetch'
    """

    def __init__(
        self,
        name: str,
        *outcomes: Outcome,
        description: str = "",
        schema: str = _DEFAULT_SCHEMA,
        max_retries: int | None = None,
        timeout: float | None = None,
        sequential: bool = False,
    ) -> None:
        self.calls: list[str] = []
        self.contexts: list[RunContext[Any]] = []
        self._outcomes = deque(outcomes or ("",))
        self.tool = Tool(
            name=name,
            description=description or f"{name} tool",
            function=self._function,
            schema=schema,
            max_retries=max_retries,
            timeout=timeout,
            sequential=sequential,
        )

    async def _function(self, context: RunContext[Any], args: str) -> str | ToolResult:
        self.calls.append(args)
        self.contexts.append(context)
        outcome = self._outcomes.popleft() if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        if isinstance(outcome, str | ToolResult):
            return outcome
        return await outcome(context, args)
