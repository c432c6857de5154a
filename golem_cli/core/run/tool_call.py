"""One tool call: carrying it out within its time, and what its outcome means for the run."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, TypeVar

from golem_cli.core.errors import (
    ModelRetry,
    ToolCanceled,
    ToolDeferred,
    ToolError,
    ToolFailed,
    UnknownToolError,
)
from golem_cli.core.history.validate import malformed_parts
from golem_cli.core.message import TOOL, Message, Part, ToolCall
from golem_cli.core.quote import marked
from golem_cli.core.result import PendingCall
from golem_cli.core.run.active import ActiveRun, described
from golem_cli.core.run.cancellation import Cancellation
from golem_cli.core.tool import Tool, ToolResult

_LONGEST_NAME: Final = 80
_Value = TypeVar("_Value")

Raw = object
"""What a tool returned (text or a `ToolResult`, when it keeps its word) or raised."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One requested call, the tool that was declared for it (None when there is none), and its approval."""

    call: ToolCall
    tool: Tool | None
    approved: bool = False


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The call has its result: the stamped tool message. `error` says why when it is no success."""

    message: Message
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class Deferred:
    """The call waits for somebody's answer."""

    pending: PendingCall


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """The tool stopped the run."""

    reason: ToolCanceled


@dataclass(frozen=True, kw_only=True)
class Broken:
    """The tool failed, and the run with it. `error` holds the tool's own words in its `__cause__`."""

    error: ToolError


Settled = Answered | Deferred | Stopped | Broken

Rejections = dict[str, int]
"""How many calls of each tool were rejected and fed back so far."""


async def perform(run: ActiveRun, job: Job) -> Raw:
    """Carry out one call; return what the tool returned or raised.

    Raises only `asyncio.CancelledError`, and only when this task was cancelled.
    """
    if job.tool is None:
        return ToolFailed(_no_such_tool(run, job.call))
    context = dataclasses.replace(run.context, call_id=job.call.id, approved=job.approved)
    timeout = job.tool.timeout if job.tool.timeout is not None else run.configuration.tool_timeout
    cancellation = Cancellation()
    try:
        return await _within(timeout, job.tool.function(context, job.call.args))
    except asyncio.CancelledError as error:
        if not cancellation.is_foreign:
            raise
        return error  # the tool cancelled something of its own; nobody stopped the run
    except Exception as error:  # noqa: BLE001 (whatever a tool raises is settled by its kind)
        return error


async def _within(seconds: float | None, work: Awaitable[_Value]) -> _Value:
    """Await `work`, at most `seconds`. Raises `TimeoutError` also when `work` swallowed its cancellation."""
    if seconds is None:
        return await work
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            try:
                value = await work
            except asyncio.CancelledError as error:
                # asyncio.timeout of Python 3.11 knows this very class only, not RunCanceled of a nested run.
                raise asyncio.CancelledError from error
            if not scope.expired():
                return value
    except TimeoutError:
        if not scope.expired():
            raise  # the tool's own
    raise TimeoutError(f"timed out after {seconds:g} s")


def settle(run: ActiveRun, job: Job, raw: Raw, rejections: Rejections) -> Settled:
    """Return what `raw` means. A rejection is counted, and fed back while the tool's budget lasts."""
    if isinstance(raw, str):
        return Answered(message=_result(run, job.call, raw))
    if isinstance(raw, ToolResult):
        return _answer_with_parts(run, job.call, raw)
    if not isinstance(raw, BaseException):
        return _broken(job.call, f"it returned {type(raw).__name__}, not text or a ToolResult", None)
    word = spoken_word(raw)
    if isinstance(word, ToolCanceled):
        return Stopped(reason=word)
    if isinstance(word, ToolFailed):
        return Answered(message=_result(run, job.call, word.reason, failed=True), error=described(raw))
    if isinstance(word, ToolDeferred):
        return _defer(job, word)
    rejected = rejections.get(job.call.name, 0)
    if isinstance(word, ModelRetry) and rejected < _retries(run, job):
        rejections[job.call.name] = rejected + 1
        return Answered(message=_result(run, job.call, _correction(word.reason)), error=described(raw))
    after = f"tool failed after {rejected + 1} attempts: " if rejected else ""
    return _broken(job.call, after + described(raw), raw)


def spoken_word(error: BaseException) -> ModelRetry | ToolFailed | ToolCanceled | ToolDeferred | None:
    """Return the first word to the run in `error` and its explicit causes, None when there is none."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        if isinstance(link, ModelRetry | ToolFailed | ToolCanceled | ToolDeferred):
            return link
        seen.add(id(link))
        link = link.__cause__
    return None


def unknown_tool(call: ToolCall) -> UnknownToolError:
    """Return the error for a call of a tool that was not declared."""
    text = f"{named(call)}: tool was not declared for this run"
    return UnknownToolError(text, tool_name=call.name, call_id=call.id)


def named(call: ToolCall) -> str:
    """Return how an error names `call`: on one line, whatever the model wrote."""
    return f"tool {_quoted(call.name)} (call {_quoted(call.id)})"


def _quoted(text: str) -> str:
    return json.dumps(marked(text, longest=_LONGEST_NAME), ensure_ascii=False)


def _retries(run: ActiveRun, job: Job) -> int:
    own = job.tool.max_retries if job.tool is not None else None
    return run.configuration.tool_retries if own is None else own


def _correction(reason: str) -> str:
    return f"Your tool call was rejected: {reason}. Correct the arguments and call the tool again."


def _no_such_tool(run: ActiveRun, call: ToolCall) -> str:
    names = ", ".join(_quoted(tool.name) for tool in run.configuration.tools) or "none"
    return f"There is no tool named {_quoted(call.name)}. Available tools: {names}."


def _result(
    run: ActiveRun, call: ToolCall, content: str, *, parts: tuple[Part, ...] = (), failed: bool = False
) -> Message:
    message = Message(
        role=TOOL, content=content, parts=parts, tool_call_id=call.id, tool_name=call.name, failed=failed
    )
    return run.ledger.stamp(message)


def _answer_with_parts(run: ActiveRun, call: ToolCall, result: ToolResult) -> Settled:
    """A malformed part fails the run here, where its tool is known, and never enters the history."""
    message = _result(run, call, result.content, parts=tuple(result.parts))
    for fault in malformed_parts(message):
        return _broken(call, f"part {fault.part} of its result is malformed: {fault.reason}", None)
    return Answered(message=message)


def _defer(job: Job, word: ToolDeferred) -> Settled:
    if job.approved:
        return _broken(job.call, "it deferred again although it was approved", word)
    if word.kind not in ("approval", "external"):
        return _broken(
            job.call, f"it deferred for {word.kind!r}, which is neither approval nor external", word
        )
    if not job.call.id:
        return _broken(job.call, "a call without an id cannot wait for an answer", word)
    return Deferred(pending=PendingCall(call=job.call, kind=word.kind, reason=word.reason))


def _broken(call: ToolCall, detail: str, cause: BaseException | None) -> Broken:
    error = ToolError(f"{named(call)}: {detail}", tool_name=call.name, call_id=call.id)
    error.__cause__ = cause
    return Broken(error=error)
