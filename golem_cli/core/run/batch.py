"""One batch: the calls of one model turn, in order or in parallel groups, and what comes of them together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

from golem_cli.core.errors import ToolCanceled, ToolError
from golem_cli.core.history import synthesized_result
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.result import PendingCall
from golem_cli.core.run.active import ActiveRun, described
from golem_cli.core.run.tool_call import (
    Answered,
    Broken,
    Deferred,
    Job,
    Raw,
    Rejections,
    Settled,
    Stopped,
    named,
    perform,
    settle,
    spoken_word,
    unknown_tool,
)


async def run_batch(
    run: ActiveRun, turn: int, calls: Sequence[ToolCall], rejections: Rejections
) -> list[PendingCall]:
    """Run the calls of one turn, add their results in call order, and return those that wait.

    Fails at stage `tool` with the first failure in call order, and then adds nothing; calls after a failed
    one still run, as the vectors say. Fails at stage `canceled` when a tool stopped the run: what earlier
    groups answered stays, every other call is closed with the synthesized text.
    """
    with run.stage("tool"):
        settled = await run_jobs(run, turn, jobs_for(run, calls), rejections)
        await run.cancellation.checkpoint()
        stop = first_verdict(settled)
        if stop is None:
            refuse_ambiguous_waits(calls, settled)
        messages = [
            item.message if isinstance(item, Answered) else closing(run, call)
            for call, item in zip(calls, settled, strict=True)
            if stop is not None or isinstance(item, Answered)
        ]
        run.ledger.append(messages)
    if stop is not None:
        end_canceled(run, turn, calls[settled.index(stop)], stop)
    return [item.pending for item in settled if isinstance(item, Deferred)]


def jobs_for(run: ActiveRun, calls: Sequence[ToolCall], *, approved: bool = False) -> list[Job]:
    """Pair each call with its tool. An undeclared one raises `UnknownToolError` before anything runs."""
    tools = {tool.name: tool for tool in run.configuration.tools}
    jobs = [Job(call=call, tool=tools.get(call.name), approved=approved) for call in calls]
    for job in jobs:
        if job.tool is None and run.configuration.unknown_tool == "fail":
            raise unknown_tool(job.call)
    return jobs


async def run_jobs(
    run: ActiveRun, turn: int, jobs: Sequence[Job], rejections: Rejections
) -> list[Settled | None]:
    """Run `jobs` group by group. None stands for a call that a stop prevented, or whose result it voids."""
    settled: list[Settled | None] = []
    for group in groups(jobs, parallel=run.configuration.parallel_tool_calls):
        await run.cancellation.checkpoint()
        if len(group) == 1:
            settled.append(await _run_alone(run, turn, group[0], rejections))
        else:
            settled.extend(await _run_together(run, turn, group, rejections))
        if any(isinstance(item, Stopped) for item in settled):
            break
    return [*settled, *[None] * (len(jobs) - len(settled))]


def groups(jobs: Sequence[Job], *, parallel: bool) -> Iterator[list[Job]]:
    """Part the calls into groups that run at the same time: one by one, unless `parallel`.

    A sequential tool is a barrier: it runs alone, after what stands before it, before what stands after it.
    """
    together: list[Job] = []
    for job in jobs:
        if parallel and not (job.tool is not None and job.tool.sequential):
            together.append(job)
            continue
        if together:
            yield together
            together = []
        yield [job]
    if together:
        yield together


def first_verdict(settled: Sequence[Settled | None]) -> Stopped | None:
    """Return what ends the run: raise the first failure, or return the first stop, whichever comes first."""
    for item in settled:
        if isinstance(item, Broken):
            raise item.error
        if isinstance(item, Stopped):
            return item
    return None


def refuse_ambiguous_waits(calls: Sequence[ToolCall], settled: Sequence[Settled | None]) -> None:
    """Raise `ToolError` when a call waits although a later call with its id has a result.

    A result names nothing but the id, so that one would count as the waiting call's, and an approval would
    run the other call.
    """
    answered: set[str] = set()
    for call, item in reversed(list(zip(calls, settled, strict=True))):
        if isinstance(item, Answered):
            answered.add(call.id)
        elif isinstance(item, Deferred) and call.id in answered:
            text = f"{named(call)}: it cannot wait for an answer, since a later call has its id and a result"
            raise ToolError(text, tool_name=call.name, call_id=call.id)


def closing(run: ActiveRun, call: ToolCall) -> Message:
    """Return the stamped message that closes a call which got no result in this run."""
    return run.ledger.stamp(synthesized_result(call))


def end_canceled(run: ActiveRun, turn: int, call: ToolCall, stop: Stopped) -> None:
    """Report the stop and end the run with it."""
    with run.stage("canceled"):
        run.emit("canceled", turn=turn, tool_name=call.name, call_id=call.id, error=described(stop.reason))
        raise stop.reason


async def _run_alone(run: ActiveRun, turn: int, job: Job, rejections: Rejections) -> Settled:
    _start(run, turn, job)
    try:
        raw = await perform(run, job)
    except asyncio.CancelledError as error:
        _report_canceled(run, turn, [job], error)
        raise
    settled = settle(run, job, raw, rejections)
    _end(run, turn, job, settled, raw)
    return settled


async def _run_together(
    run: ActiveRun, turn: int, group: Sequence[Job], rejections: Rejections
) -> list[Settled | None]:
    """Run a parallel group: all starts first, all ends after the group, both in call order."""
    for job in group:
        _start(run, turn, job)
    try:
        raws = await _gather(run, group)
    except asyncio.CancelledError as error:
        _report_canceled(run, turn, group, error)
        raise
    stopped = any(_stops(raw) for raw in raws)
    settled: list[Settled | None] = []
    for job, raw in zip(group, raws, strict=True):
        item = _settle_sibling(run, job, raw, rejections, stopped=stopped)
        _end(run, turn, job, item, raw)
        settled.append(item)
    return settled


def _settle_sibling(
    run: ActiveRun, job: Job, raw: Raw | None, rejections: Rejections, *, stopped: bool
) -> Settled | None:
    """Settle one call of a group. When one of the group stopped the run, results of the others are void."""
    if raw is None and not stopped:
        text = f"{named(job.call)}: its task was canceled"
        return Broken(error=ToolError(text, tool_name=job.call.name, call_id=job.call.id))
    if raw is None:
        return None
    item = settle(run, job, raw, rejections)
    return item if not stopped or isinstance(item, Broken | Stopped) else None


async def _gather(run: ActiveRun, group: Sequence[Job]) -> list[Raw | None]:
    """Run all jobs at the same time; no task outlives this. None stands for one that a stop cut off."""
    tasks = [asyncio.create_task(perform(run, job)) for job in group]
    try:
        running = set(tasks)
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            if any(not task.cancelled() and _stops(task.result()) for task in done):
                break
    finally:
        await _end_tasks(tasks)
    return [None if task.cancelled() else task.result() for task in tasks]


async def _end_tasks(tasks: Sequence[asyncio.Task[Raw]]) -> None:
    """Cancel what still runs and wait for its end, also when this task is cancelled (again) meanwhile."""
    canceled: asyncio.CancelledError | None = None
    running = {task for task in tasks if not task.done()}
    for task in running:
        task.cancel()
    while running:
        try:
            _, running = await asyncio.wait(running)
        except asyncio.CancelledError as error:
            canceled = error
            running = {task for task in running if not task.done()}
            for task in running:
                task.cancel()
    if canceled is not None:
        raise canceled


def _stops(raw: Raw | None) -> bool:
    return isinstance(raw, BaseException) and isinstance(spoken_word(raw), ToolCanceled)


def _start(run: ActiveRun, turn: int, job: Job) -> None:
    call = job.call
    run.emit("tool_start", turn=turn, tool_name=call.name, call_id=call.id, args=call.args)
    if job.tool is not None:
        run.ledger.tool_calls += 1


def _end(run: ActiveRun, turn: int, job: Job, item: Settled | None, raw: Raw | None) -> None:
    """Report how one call ended. A deferred call is no execution, and `deferred` stands for its end."""
    call = job.call
    if isinstance(item, Deferred):
        run.ledger.tool_calls -= 1
        run.emit(
            "deferred",
            turn=turn,
            tool_name=call.name,
            call_id=call.id,
            args=call.args,
            result=item.pending.reason,
        )
        return
    answered = item if isinstance(item, Answered) else None
    failed = answered is not None and bool(answered.error)
    run.emit(
        "tool_end",
        turn=turn,
        tool_name=call.name,
        call_id=call.id,
        result=answered.message.content if answered is not None and not failed else "",
        error=_error_text(item, raw),
        message=answered.message if answered is not None else None,
    )


def _error_text(item: Settled | None, raw: Raw | None) -> str:
    if isinstance(item, Answered):
        return item.error
    if isinstance(raw, BaseException):
        return described(raw)
    if isinstance(item, Broken):
        return described(item.error)
    return "canceled: another tool stopped the run"


def _report_canceled(run: ActiveRun, turn: int, jobs: Sequence[Job], error: asyncio.CancelledError) -> None:
    """End what was started, since observers count on it; the cancellation matters more than their faults."""
    with suppress(Exception):
        for job in jobs:
            call = job.call
            run.emit("tool_end", turn=turn, tool_name=call.name, call_id=call.id, error=described(error))
