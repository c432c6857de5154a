"""A cancelled run: at every stage, with its evidence, and as a cancellation to whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest

from golem_cli.core.canceled import RunCanceled
from golem_cli.core.errors import ModelError, RunError
from golem_cli.core.events import RunEvent
from golem_cli.core.run import Agent
from golem_cli.core.tool import RunContext
from golem_cli.core.usage import Usage
from golem_cli.testing import ScriptedModel, ScriptedTool, call


class Gate:
    """Something to hang at: `enter` waits for ever, `reached` tells the test."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.left = 0

    async def enter(self, *_: object) -> str:
        """Wait until cancelled."""
        self.reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.left += 1
        return "never"


async def canceled(run: Coroutine[Any, Any, Any], reached: Coroutine[Any, Any, Any]) -> RunCanceled:
    """Start `run`, cancel it once `reached`, and return what it raised."""
    task = asyncio.create_task(run)
    await reached
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    with pytest.raises(RunCanceled) as caught:
        await task
    return caught.value


async def test_during_the_first_model_call_nothing_was_completed() -> None:
    model = ScriptedModel().hang("Hel")
    heard: list[str] = []
    run = Agent(model).run_stream("go", lambda delta: heard.append(delta.content))
    error = await canceled(run, model.until_hanging())
    assert (error.stage, error.partial, heard) == ("model", None, ["Hel"])
    assert isinstance(error, RunError)
    assert isinstance(error, asyncio.CancelledError)
    assert isinstance(error.cause, asyncio.CancelledError)


async def test_during_a_later_model_call_the_finished_steps_are_evidence() -> None:
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")], usage=Usage(input_tokens=3)).hang()
    events: list[RunEvent] = []
    agent = Agent(model, tools=[ScriptedTool("ls", "x").tool], on_event=events.append)
    error = await canceled(agent.run("go"), model.until_hanging())
    assert error.stage == "model"
    assert error.partial is not None
    assert [message.role for message in error.partial.messages] == ["user", "assistant", "tool"]
    assert (error.partial.requests, error.partial.tool_calls, error.partial.usage.input_tokens) == (2, 1, 3)
    assert [event.kind for event in events][-2:] == ["model_start", "model_end"]
    assert events[-1].error


async def test_while_it_waits_to_try_again() -> None:
    gate = Gate()
    model = ScriptedModel().fail(ModelError("429", retryable=True))
    error = await canceled(Agent(model, max_attempts=2, sleep=gate.enter).run("go"), gate.reached.wait())
    assert (error.stage, error.partial, gate.left) == ("model", None, 1)


@pytest.mark.parametrize("parallel", [False, True])
async def test_during_a_batch_its_results_are_not_added_and_no_task_is_left(parallel: bool) -> None:
    gate = Gate()
    slow, quick = ScriptedTool("slow", gate.enter), ScriptedTool("quick", "x")
    calls = [call("1", "quick"), call("2", "slow"), call("3", "slow"), call("4", "quick")]
    agent = Agent(
        ScriptedModel().respond(tool_calls=calls),
        tools=[slow.tool, quick.tool],
        parallel_tool_calls=parallel,
    )
    before = asyncio.all_tasks()
    error = await canceled(agent.run("go"), gate.reached.wait())
    assert error.stage == "tool"
    assert error.partial is not None
    assert [message.role for message in error.partial.messages] == ["user", "assistant"]
    started = 4 if parallel else 2
    assert (error.partial.tool_calls, gate.left) == (started, 2 if parallel else 1)
    assert asyncio.all_tasks() == before


async def test_during_the_decoder() -> None:
    gate = Gate()
    error = await canceled(Agent(ScriptedModel("answer"), decoder=gate.enter).run("go"), gate.reached.wait())
    assert error.stage == "decode"
    assert error.partial is not None
    assert error.partial.messages[-1].content == "answer"


async def test_before_the_first_model_call_it_is_a_plain_cancellation() -> None:
    gate = Gate()
    task = asyncio.create_task(Agent(ScriptedModel("x"), instructions_func=gate.enter).run("go"))
    await gate.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert not isinstance(caught.value, RunError)


async def test_a_tool_that_swallows_the_cancellation_does_not_keep_the_run_alive() -> None:
    reached = asyncio.Event()

    async def stubborn(context: RunContext[Any], args: str) -> str:
        reached.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "still here"

    model = ScriptedModel().respond(tool_calls=[call("1", "stubborn")]).respond("never")
    agent = Agent(model, tools=[ScriptedTool("stubborn", stubborn).tool])
    error = await canceled(agent.run("go"), reached.wait())
    assert error.stage == "tool"
    assert len(model.requests) == 1


async def test_an_observer_may_cancel_the_run_from_within() -> None:
    def observe(event: RunEvent) -> None:
        if event.kind == "model_end":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()

    task = asyncio.create_task(Agent(ScriptedModel("answer"), on_event=observe).run("go"))
    await asyncio.wait([task])
    with pytest.raises(RunCanceled) as caught:
        await task
    assert caught.value.partial is not None
    assert caught.value.partial.messages[-1].content == "answer"


async def test_a_task_group_sees_a_cancellation_and_its_other_tasks_decide_the_error() -> None:
    model = ScriptedModel().hang()

    async def fail() -> None:
        await model.until_hanging()
        raise ValueError("sibling")

    runs: list[asyncio.Task[Any]] = []

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            runs.append(group.create_task(Agent(model).run("go")))
            group.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        await both()
    assert [str(error) for error in caught.value.exceptions] == ["sibling"]
    assert runs[0].cancelled()


async def test_a_chat_survives_stops_that_alternate_with_answers() -> None:
    history: list[Any] = []
    for number in range(7):
        model = ScriptedModel().hang("half")
        await canceled(Agent(model).run_with_history(history, "stop me"), model.until_hanging())
        result = await Agent(ScriptedModel(str(number))).run_with_history(history, "go")
        history = result.messages
    assert [message.content for message in history if message.role == "assistant"] == list("0123456")


async def test_a_run_in_a_clean_up_of_a_cancelled_task_is_not_stopped_by_the_old_request() -> None:
    outputs: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            outputs.append((await Agent(ScriptedModel("cleaned up")).run("go")).output)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert outputs == ["cleaned up"]


async def test_a_second_cancellation_while_parallel_tools_wind_down_leaves_no_task() -> None:
    started, winding_down, finished = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow_to_end(context: RunContext[Any], args: str) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            winding_down.set()
            try:
                await asyncio.Event().wait()
            finally:
                finished.set()
        return ""

    calls = [call("1", "slow"), call("2", "slow")]
    agent = Agent(
        ScriptedModel().respond(tool_calls=calls),
        tools=[ScriptedTool("slow", slow_to_end).tool],
        parallel_tool_calls=True,
    )
    before = asyncio.all_tasks()
    task = asyncio.create_task(agent.run("go"))
    await started.wait()
    task.cancel()
    await winding_down.wait()
    task.cancel()
    await asyncio.wait([task])
    assert finished.is_set()
    assert task.cancelled()
    assert asyncio.all_tasks() == before
