"""A run that is cancelled at each of its suspensions, once and twice: events, stamps and evidence agree."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from golem_cli.core.canceled import RunCanceled
from golem_cli.core.errors import ModelError, ModelRetry
from golem_cli.core.events import RunEvent
from golem_cli.core.message import Message
from golem_cli.core.run import Agent
from golem_cli.core.tool import RunContext, Tool
from golem_cli.core.usage import UsageLimit
from golem_cli.testing import ScriptedModel, call


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def plain(_: RunContext[Any], args: str) -> str:
    await turns(2)
    return "plain"


async def slow_to_stop(_: RunContext[Any], args: str) -> str:
    try:
        await turns(4)
    except asyncio.CancelledError:
        await turns(3)
        raise
    return "slow"


async def swallows(_: RunContext[Any], args: str) -> str:
    with suppress(asyncio.CancelledError):
        await turns(4)
    return "swallowed"


async def shields(_: RunContext[Any], args: str) -> str:
    await asyncio.shield(asyncio.create_task(turns(4), name="shielded"))
    return "shielded"


TOOLS = [
    *(Tool(name=each.__name__, description="", function=each) for each in (plain, slow_to_stop, swallows)),
    Tool(name="shields", description="", function=shields),
    Tool(name="barrier", description="", function=plain, sequential=True),
]
NAMES = ["plain", "slow_to_stop", "barrier", "swallows", "shields"]


def agent_that_suspends_everywhere(events: list[RunEvent], *, parallel: bool) -> Agent[Any, str]:
    """Processor, instructions, counter, two attempts, fragments, tools, two rounds of the decoder."""

    async def same(history: list[Message]) -> list[Message]:
        await turns(1)
        return history

    async def instructions(_: RunContext[Any]) -> str:
        await turns(1)
        return "Be brief."

    async def counter(_: object) -> int:
        await turns(1)
        return 1

    async def decoder(_: RunContext[Any], text: str) -> str:
        await turns(1)
        if text == "no":
            raise ModelRetry("say yes")
        return text

    async def sleep(_: float) -> None:
        await turns(1)

    model = ScriptedModel(fragment_size=2).fail(ModelError("busy", retryable=True))
    model.respond(tool_calls=[call(str(index), name) for index, name in enumerate(NAMES)])
    return Agent(
        model.respond("no").respond("yes"),
        decoder=decoder,
        tools=TOOLS,
        parallel_tool_calls=parallel,
        history_processor=same,
        instructions_func=instructions,
        usage_limit=UsageLimit(request_input_tokens=5),
        counter=counter,
        output_retries=1,
        max_attempts=2,
        sleep=sleep,
        on_event=events.append,
    )


async def stop(events: list[RunEvent], steps: int, *, parallel: bool, again: int | None) -> object:
    """Run, cancel after `steps` turns of the loop (and once more after `again`); what came of it."""

    async def heard(_: object) -> None:
        await turns(1)

    agent = agent_that_suspends_everywhere(events, parallel=parallel)
    run = agent.run_stream("go", heard, run_id="R", conversation_id="C")
    task = asyncio.create_task(run)
    await turns(steps)
    if task.done():
        return task.result()
    task.cancel()
    if again is not None:
        await turns(again)
        task.cancel()
    try:
        return await task
    except asyncio.CancelledError as error:
        return error


def check(events: list[RunEvent], outcome: object) -> None:
    """What the semantics page says of every cancelled run."""
    assert isinstance(outcome, asyncio.CancelledError)
    seen = Counter(event.kind for event in events)
    assert seen["model_start"] == seen["model_end"]
    assert seen["tool_start"] == seen["tool_end"]
    assert all((event.run_id, event.conversation_id) == ("R", "C") for event in events)
    completed = [event.message for event in events if event.kind == "model_end" and event.message]
    if not seen["model_start"]:
        return
    assert isinstance(outcome, RunCanceled)
    if not completed:
        assert outcome.partial is None
        return
    partial = outcome.partial
    assert partial is not None
    assert partial.requests == seen["model_start"]
    assert [each for each in partial.new_messages if each.role == "assistant"] == completed
    assert all((each.run_id, each.conversation_id) == ("R", "C") for each in partial.new_messages)
    results = [each.tool_call_id for each in partial.new_messages if each.role == "tool"]
    assert results in ([], ["0", "1", "2", "3", "4"])


@pytest.mark.parametrize("again", [None, 0, 1, 3])
@pytest.mark.parametrize("parallel", [False, True])
async def test_a_stop_at_any_suspension_leaves_whole_evidence_and_no_task(
    parallel: bool, again: int | None
) -> None:
    stages: set[str] = set()
    for steps in range(500):
        events: list[RunEvent] = []
        outcome = await stop(events, steps, parallel=parallel, again=again)
        if not isinstance(outcome, BaseException):
            break
        check(events, outcome)
        if isinstance(outcome, RunCanceled):
            stages.add(outcome.stage)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert {task.get_name() for task in left} <= {"shielded"}
    else:
        pytest.fail("the run never ended by itself")
    assert stages == {"usage", "model", "tool", "decode"}
