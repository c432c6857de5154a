"""One model call: the request, its attempts, and the fragments that a streamed answer hands out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeGuard, cast

from golem_cli.core.errors import ModelError
from golem_cli.core.message import ASSISTANT, Message
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, OnDelta, StreamingModel, ToolSpec
from golem_cli.core.quote import quoted
from golem_cli.core.run.active import ActiveRun, described
from golem_cli.core.run.checks import TOOL_CHOICE_MODES
from golem_cli.core.run.configuration import AgentConfiguration
from golem_cli.core.run.retry import RetryWait, after_attempts, seconds_to_wait
from golem_cli.core.usage import Usage


async def call_model(run: ActiveRun, turn: int) -> Message:
    """Return the model's turn, recorded and stamped.

    A retryable failure is tried again within `max_attempts`, but not after a fragment was handed out: the
    caller has seen it. Raises what the last attempt raised.
    """
    request = request_of(run)
    attempt = 1
    while True:
        gate = FragmentGate(run.on_delta) if run.on_delta is not None else None
        try:
            response = await _attempt(run, request, gate, turn, attempt)
        except Exception as error:  # an adapter may raise anything; `_may_try_again` picks what it can mend
            if not _may_try_again(error, run, attempt, gate):
                if attempt == 1:
                    raise
                raise after_attempts(error, attempt) from error
            await _wait(run, error, attempt)
        else:
            message = run.ledger.add_turn(response)
            run.emit("model_end", turn=turn, attempt=attempt, usage=response.usage, message=message)
            return message
        attempt += 1


def request_of(run: ActiveRun) -> ModelRequest:
    """Return the next request: the conversation so far and what the configuration says."""
    return ModelRequest(
        messages=tuple(run.ledger.messages),
        tools=_advertised(run.configuration),
        tool_choice=_tool_choice(run),
        output_schema=run.configuration.output_schema,
        settings=run.configuration.settings,
    )


def _advertised(configuration: AgentConfiguration) -> tuple[ToolSpec, ...]:
    """The tools that the model is told of: the chosen one alone, when one is chosen."""
    tools = tuple(tool.spec for tool in configuration.tools)
    if configuration.tool_choice not in TOOL_CHOICE_MODES:
        tools = tuple(tool for tool in tools if tool.name == configuration.tool_choice)
    return (*tools, configuration.output_tool) if configuration.output_tool else tools


def _tool_choice(run: ActiveRun) -> str:
    """The choice for the next request. Forcing a call ends once the model has called: else no run would end.

    An output tool ends the run by being called, so there the force stays.
    """
    configuration = run.configuration
    choice = configuration.tool_choice
    if choice in ("", "auto", "none"):
        return choice
    output_tool = configuration.output_tool
    if output_tool is not None and choice in ("required", output_tool.name):
        return choice
    return "auto" if any(message.tool_calls for message in run.ledger.new_messages) else choice


async def _attempt(
    run: ActiveRun, request: ModelRequest, gate: FragmentGate | None, turn: int, attempt: int
) -> ModelResponse:
    """Make one attempt between its `model_start` and, when it fails, its `model_end`."""
    run.emit("model_start", turn=turn, attempt=attempt)
    run.ledger.requests += 1
    try:
        return checked(await _ask(run, request, gate))
    except asyncio.CancelledError as error:
        with suppress(Exception):  # the cancellation matters more than an observer's fault
            run.emit("model_end", turn=turn, attempt=attempt, error=described(error))
        raise
    except Exception as error:  # whatever it is, observers are told that the attempt ended
        run.emit("model_end", turn=turn, attempt=attempt, error=described(error))
        raise


async def _ask(run: ActiveRun, request: ModelRequest, gate: FragmentGate | None) -> ModelResponse:
    model = run.configuration.model
    if gate is None:
        return await model.complete(request)
    try:
        response = await cast("StreamingModel", model).stream(request, gate)
    except Exception as error:  # perhaps the adapter's translation of what the caller raised in the gate
        if gate.error is not None and gate.error is not error:
            raise gate.error from error
        raise
    if gate.error is not None:
        raise gate.error
    return response


def checked(response: object) -> ModelResponse:
    """Return `response` when it is a turn that a history may hold: else every later run would refuse it.

    Raises `ModelError`: the adapter, which anyone may write, broke its word. A turn without a role stays so,
    as the vectors have it.
    """
    if not isinstance(response, ModelResponse):
        raise ModelError(f"the model's adapter returned a {type(response).__name__}, not a ModelResponse")
    message: object = response.message
    usage: object = response.usage
    if not isinstance(message, Message) or not isinstance(usage, Usage):
        raise ModelError("the model's adapter returned a response without a message or without a usage")
    if message.role not in (ASSISTANT, ""):
        raise ModelError(f"the model's turn is a {quoted(message.role)} message, not an assistant message")
    if message.parts:
        raise ModelError("the model's turn has parts, which only user and tool messages may have")
    return response


def _may_try_again(
    error: Exception, run: ActiveRun, attempt: int, gate: FragmentGate | None
) -> TypeGuard[ModelError]:
    if not isinstance(error, ModelError) or not error.retryable:
        return False
    return attempt < run.configuration.max_attempts and not (gate is not None and gate.fragments)


async def _wait(run: ActiveRun, error: ModelError, attempt: int) -> None:
    seconds = seconds_to_wait(error, attempt, run.configuration.backoff)
    wait = RetryWait(
        seconds=seconds,
        attempt=attempt,
        error=error,
        run_id=run.ledger.run_id,
        conversation_id=run.ledger.conversation_id,
    )
    for observer in run.waiting_observers:
        observer(wait)
    await run.configuration.sleep(seconds)
    await run.cancellation.checkpoint()


class FragmentGate:
    """Hands fragments to the caller, counts them, and remembers when the caller refused one.

    An adapter may translate or swallow the exception; the run still fails with the caller's own.
    """

    def __init__(self, on_delta: OnDelta) -> None:
        self.fragments = 0
        self.error: Exception | None = None
        self._on_delta = on_delta

    def __call__(self, delta: Delta) -> Awaitable[None] | None:
        """Pass `delta` on; the result is awaitable when the caller's was."""
        self.fragments += 1
        try:
            waiting = self._on_delta(delta)
        except Exception as error:  # the caller's own, of any kind
            self.error = error
            raise
        # Only what can be waited for: a caller that writes the fragment somewhere may return the count.
        return self._awaited(waiting) if inspect.isawaitable(waiting) else None

    async def _awaited(self, waiting: Awaitable[None]) -> None:
        try:
            await waiting
        except Exception as error:  # as above
            self.error = error
            raise
