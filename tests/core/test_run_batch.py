"""The batch: words of tools to their run, time limits, parallel groups, stops, unknown tools."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from golem_cli.core.errors import (
    ModelRetry,
    RunError,
    ToolCanceled,
    ToolDeferred,
    ToolError,
    ToolFailed,
    UnknownToolError,
)
from golem_cli.core.events import RunEvent
from golem_cli.core.history import INTERRUPTED_TEXT, normalize_history
from golem_cli.core.message import Message, Part
from golem_cli.core.result import PartialResult
from golem_cli.core.run import Agent
from golem_cli.core.tool import RunContext, ToolResult
from golem_cli.testing import ScriptedModel, ScriptedTool, call


def batch(*names: str) -> ScriptedModel:
    """A model that calls these tools in its first turn (ids 1, 2, …) and then says "done"."""
    calls = [call(str(number), name) for number, name in enumerate(names, 1)]
    return ScriptedModel().respond(tool_calls=calls).respond("done")


async def failed(agent: Agent[Any, Any]) -> RunError:
    with pytest.raises(RunError) as caught:
        await agent.run("go")
    return caught.value


def evidence(error: RunError) -> PartialResult:
    assert error.partial is not None
    return error.partial


def results(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message.tool_call_id, message.content) for message in messages if message.role == "tool"]


async def test_a_tool_gets_the_verbatim_arguments_and_its_context() -> None:
    tool = ScriptedTool("ls")
    model = ScriptedModel().respond(tool_calls=[call("7", "ls", ' {"a" : 1.0} ')]).respond("done")
    result = await Agent(model, tools=[tool.tool]).run("go", deps="mine", run_id="R", conversation_id="C")
    assert tool.calls == [' {"a" : 1.0} ']
    assert tool.contexts == [RunContext(deps="mine", run_id="R", conversation_id="C", call_id="7")]
    assert result.messages[1].tool_calls[0].args == ' {"a" : 1.0} '


async def test_a_result_may_have_parts() -> None:
    picture = Part(kind="image", url="https://x/y.png")
    tool = ScriptedTool("shot", ToolResult(content="seen", parts=(picture,)))
    result = await Agent(batch("shot"), tools=[tool.tool]).run("go")
    assert (result.messages[2].content, result.messages[2].parts) == ("seen", (picture,))


async def test_a_malformed_part_of_a_result_fails_the_run_and_never_enters_the_history() -> None:
    tool = ScriptedTool("shot", ToolResult(parts=(Part(kind="image", data="AA=="),)))
    error = await failed(Agent(batch("shot"), tools=[tool.tool]))
    assert error.stage == "tool"
    assert "part 1 of its result is malformed: it has data but no mediaType" in str(error)
    assert [message.role for message in evidence(error).messages] == ["user", "assistant"]


async def test_a_tool_that_returns_something_else_is_named() -> None:
    async def function(context: RunContext[Any], args: str) -> Any:
        return 7

    error = await failed(Agent(batch("n"), tools=[ScriptedTool("n", function).tool]))
    assert str(error.cause) == 'tool "n" (call "1"): it returned int, not text or a ToolResult'


async def test_a_definitive_failure_is_recorded_and_the_run_goes_on_without_touching_the_budget() -> None:
    tool = ScriptedTool("fetch", ToolFailed("404"))
    events: list[RunEvent] = []
    agent = Agent(batch("fetch"), tools=[tool.tool], on_event=events.append)
    result = await agent.run("go")
    assert result.output == "done"
    message = result.messages[2]
    assert (message.content, message.failed, message.run_id) == ("404", True, result.run_id)
    end = next(event for event in events if event.kind == "tool_end")
    assert (end.error, end.result, end.message) == ("404", "", message)
    assert result.tool_calls == 1


async def test_a_tools_own_retry_budget_wins_over_the_agents() -> None:
    tool = ScriptedTool("picky", ModelRetry("no"), "ok", max_retries=0)
    error = await failed(Agent(batch("picky"), tools=[tool.tool], tool_retries=5))
    assert error.stage == "tool"
    assert isinstance(error.cause, ToolError)
    assert isinstance(error.cause.__cause__, ModelRetry)


async def test_any_other_exception_fails_the_run_names_the_call_and_keeps_the_original() -> None:
    original = KeyError("x")
    error = await failed(
        Agent(batch("a", "b"), tools=[ScriptedTool("a").tool, ScriptedTool("b", original).tool])
    )
    assert isinstance(error.cause, ToolError)
    assert (error.cause.tool_name, error.cause.call_id) == ("b", "2")
    assert error.cause.__cause__ is original
    partial = evidence(error)
    assert [message.role for message in partial.messages] == ["user", "assistant"]
    assert partial.tool_calls == 2


async def test_names_from_the_model_stay_on_one_line_in_an_error() -> None:
    model = ScriptedModel().respond(tool_calls=[call("a\nb", "x\n" * 100)])
    error = await failed(Agent(model))
    assert isinstance(error.cause, UnknownToolError)
    assert "\n" not in str(error)
    assert len(str(error)) < 200


# -- time ---------------------------------------------------------------------------------------------


async def sleepy(context: RunContext[Any], args: str) -> str:
    await asyncio.Event().wait()
    return "never"


async def test_a_tool_over_its_time_fails_the_run_and_its_own_limit_wins() -> None:
    tool = ScriptedTool("slow", sleepy, timeout=0.01)
    error = await failed(Agent(batch("slow"), tools=[tool.tool], tool_timeout=60))
    assert str(error) == 'tool stage: tool "slow" (call "1"): timed out after 0.01 s'
    assert isinstance(error.cause.__cause__, TimeoutError)
    assert not isinstance(error, asyncio.CancelledError)


async def test_a_tool_that_swallows_its_time_limit_still_timed_out() -> None:
    async def stubborn(context: RunContext[Any], args: str) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "late"
        return ""

    error = await failed(Agent(batch("s"), tools=[ScriptedTool("s", stubborn).tool], tool_timeout=0.01))
    assert "timed out" in str(error)


async def test_a_tools_own_timeout_error_keeps_its_words() -> None:
    tool = ScriptedTool("s", TimeoutError("backend too slow"))
    error = await failed(Agent(batch("s"), tools=[tool.tool], tool_timeout=60))
    assert str(error.cause) == 'tool "s" (call "1"): backend too slow'


async def test_a_nested_run_that_outlasts_the_time_limit_is_a_timeout_too() -> None:
    inner = Agent(ScriptedModel().hang())

    async def delegate(context: RunContext[Any], args: str) -> str:
        return (await inner.run("inner")).output

    error = await failed(Agent(batch("d"), tools=[ScriptedTool("d", delegate).tool], tool_timeout=0.01))
    assert "timed out" in str(error)


# -- parallel -----------------------------------------------------------------------------------------


async def test_parallel_calls_run_at_the_same_time_and_results_stand_in_call_order() -> None:
    second_ran = asyncio.Event()

    async def first(context: RunContext[Any], args: str) -> str:
        await second_ran.wait()
        return "one"

    async def second(context: RunContext[Any], args: str) -> str:
        second_ran.set()
        return "two"

    tools = [ScriptedTool("first", first).tool, ScriptedTool("second", second).tool]
    result = await Agent(batch("first", "second"), tools=tools, parallel_tool_calls=True).run("go")
    assert results(result.messages) == [("1", "one"), ("2", "two")]


async def test_a_sequential_tool_is_a_barrier() -> None:
    log: list[str] = []

    def logging(name: str) -> Any:
        async def function(context: RunContext[Any], args: str) -> str:
            log.append(name + " in")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            log.append(name + " out")
            return name

        return function

    tools = [ScriptedTool(name, logging(name), sequential=name == "bar").tool for name in ("a", "b", "bar")]
    await Agent(batch("a", "b", "bar", "a", "b"), tools=tools, parallel_tool_calls=True).run("go")
    assert log == [
        "a in", "b in", "a out", "b out", "bar in", "bar out", "a in", "b in", "a out", "b out",
    ]  # fmt: skip


# -- stops --------------------------------------------------------------------------------------------


async def test_a_stop_keeps_earlier_results_and_closes_the_rest_at_once() -> None:
    early, stop, late = (
        ScriptedTool("early", "x"),
        ScriptedTool("stop", ToolCanceled("veto")),
        ScriptedTool("late"),
    )
    events: list[RunEvent] = []
    agent = Agent(
        batch("early", "stop", "late"), tools=[early.tool, stop.tool, late.tool], on_event=events.append
    )
    error = await failed(agent)
    assert error.stage == "canceled"
    assert isinstance(error.cause, ToolCanceled)
    assert error.cause.reason == "veto"
    assert not isinstance(error, asyncio.CancelledError)
    partial = evidence(error)
    assert results(partial.messages) == [("1", "x"), ("2", INTERRUPTED_TEXT), ("3", INTERRUPTED_TEXT)]
    assert {(message.run_id, message.failed) for message in partial.new_messages} == {(partial.run_id, False)}
    assert (partial.tool_calls, late.calls) == (2, [])
    _, report = normalize_history(partial.messages)
    assert (report.synthesized, report.dropped) == ([], [])
    assert [(event.kind, event.call_id) for event in events][2:] == [
        ("tool_start", "1"), ("tool_end", "1"), ("tool_start", "2"), ("tool_end", "2"), ("canceled", "2"),
    ]  # fmt: skip
    assert events[-1].error == "veto"


async def test_a_stop_in_a_parallel_group_ends_its_siblings_and_voids_their_results() -> None:
    ended = asyncio.Event()

    async def sibling(context: RunContext[Any], args: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async def stop(context: RunContext[Any], args: str) -> str:
        await asyncio.sleep(0)
        raise ToolCanceled("enough")

    tools = [
        ScriptedTool("quick", "done already").tool,
        ScriptedTool("sibling", sibling).tool,
        ScriptedTool("stop", stop).tool,
        ScriptedTool("first", "kept", sequential=True).tool,
    ]
    agent = Agent(batch("first", "quick", "sibling", "stop"), tools=tools, parallel_tool_calls=True)
    error = await failed(agent)
    assert error.stage == "canceled"
    assert ended.is_set()
    assert [content for _, content in results(evidence(error).messages)] == ["kept", *[INTERRUPTED_TEXT] * 3]
    assert evidence(error).tool_calls == 4


async def test_a_stop_discards_a_pause() -> None:
    tools = [ScriptedTool("ask", ToolDeferred("approval")).tool, ScriptedTool("stop", ToolCanceled()).tool]
    error = await failed(Agent(batch("ask", "stop"), tools=tools))
    assert error.stage == "canceled"
    assert results(evidence(error).messages) == [("1", INTERRUPTED_TEXT), ("2", INTERRUPTED_TEXT)]


async def test_an_earlier_failure_wins_over_a_later_stop() -> None:
    tools = [ScriptedTool("bad", ValueError("kaput")).tool, ScriptedTool("stop", ToolCanceled()).tool]
    error = await failed(Agent(batch("bad", "stop"), tools=tools))
    assert error.stage == "tool"
    assert "kaput" in str(error)


async def test_a_nested_run_that_is_stopped_stops_the_run_that_called_it() -> None:
    inner = Agent(batch("stop"), tools=[ScriptedTool("stop", ToolCanceled("inner veto")).tool])

    async def delegate(context: RunContext[Any], args: str) -> str:
        return (await inner.run("inner")).output

    error = await failed(Agent(batch("d"), tools=[ScriptedTool("d", delegate).tool]))
    assert error.stage == "canceled"
    assert isinstance(error.cause, ToolCanceled)
    assert error.cause.reason == "inner veto"


# -- unknown tools ------------------------------------------------------------------------------------


async def test_an_unknown_tool_fails_the_run_before_anything_of_the_batch_runs() -> None:
    known = ScriptedTool("known")
    error = await failed(Agent(batch("known", "nope"), tools=[known.tool]))
    assert error.stage == "tool"
    assert isinstance(error.cause, UnknownToolError)
    assert (error.cause.tool_name, error.cause.call_id, known.calls) == ("nope", "2", [])


async def test_an_unknown_tool_may_be_reported_to_the_model_instead() -> None:
    known = ScriptedTool("known", "x")
    agent = Agent(batch("nope", "known"), tools=[known.tool], unknown_tool="report")
    result = await agent.run("go")
    assert result.output == "done"
    reported = result.messages[2]
    assert (reported.tool_call_id, reported.tool_name, reported.failed) == ("1", "nope", True)
    assert '"nope"' in reported.content
    assert '"known"' in reported.content
    assert result.tool_calls == 1
