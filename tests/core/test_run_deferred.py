"""Deferred calls: a run pauses, and a later one goes on with approvals, denials and external results."""

from __future__ import annotations

from typing import Any

import pytest

from golem_cli.core.errors import (
    HistoryError,
    ModelError,
    ModelRetry,
    ProcessorError,
    RunError,
    ToolCanceled,
    ToolDeferred,
    ToolFailed,
)
from golem_cli.core.events import RunEvent
from golem_cli.core.history import INTERRUPTED_TEXT
from golem_cli.core.message import Message, Part
from golem_cli.core.result import PendingCall, Result
from golem_cli.core.run import Agent, DeferredAnswer
from golem_cli.core.tool import RunContext
from golem_cli.testing import Outcome, ScriptedModel, ScriptedTool, call

DELETE, KEEP, FETCH = call("1", "delete"), call("2", "keep"), call("3", "fetch")


def gated(outcome: Outcome = "deleted") -> ScriptedTool:
    """A tool that asks first, and does `outcome` once approved."""

    async def function(context: RunContext[Any], args: str) -> str:
        if not context.approved:
            raise ToolDeferred("approval", "really?")
        if isinstance(outcome, BaseException):
            raise outcome
        assert isinstance(outcome, str)
        return outcome

    return ScriptedTool("delete", function)


def agent_with(delete: ScriptedTool, model: ScriptedModel, **options: Any) -> Agent[Any, str]:
    tools = [
        delete.tool,
        ScriptedTool("keep", "kept").tool,
        ScriptedTool("fetch", ToolDeferred("external", "job 7")).tool,
    ]
    return Agent(model, tools=tools, **options)


async def paused(delete: ScriptedTool | None = None, **options: Any) -> Result[str]:
    model = ScriptedModel().respond("working", tool_calls=[DELETE, KEEP, FETCH])
    return await agent_with(delete or gated(), model, **options).run("go", conversation_id="C")


BOTH = [DeferredAnswer.approved("1"), DeferredAnswer.external("3", "a page")]


async def test_a_deferred_call_pauses_the_run_and_the_others_run() -> None:
    events: list[RunEvent] = []
    result = await paused(on_event=events.append)
    output: object = result.output
    assert output is None
    assert result.pending == [
        PendingCall(call=DELETE, kind="approval", reason="really?"),
        PendingCall(call=FETCH, kind="external", reason="job 7"),
    ]
    assert [message.content for message in result.messages] == ["go", "working", "kept"]
    assert result.tool_calls == 1
    assert [(event.kind, event.call_id) for event in events][2:] == [
        ("tool_start", "1"),
        ("deferred", "1"),
        ("tool_start", "2"),
        ("tool_end", "2"),
        ("tool_start", "3"),
        ("deferred", "3"),
    ]


async def test_answers_become_results_in_call_order_and_the_run_goes_on() -> None:
    before = await paused()
    delete = gated()
    model = ScriptedModel("done")
    events: list[RunEvent] = []
    agent = agent_with(delete, model, on_event=events.append)
    result = await agent.run_with_deferred_results(before.messages, list(reversed(BOTH)), run_id="R2")
    assert result.output == "done"
    assert [message.content for message in result.messages] == [
        "go", "working", "deleted", "kept", "a page", "done",
    ]  # fmt: skip
    assert [message.content for message in result.new_messages] == ["deleted", "a page", "done"]
    assert {(message.run_id, message.conversation_id) for message in result.new_messages} == {("R2", "C")}
    assert [message.run_id for message in result.messages[:2]] == [before.run_id] * 2
    assert delete.contexts[0].approved
    assert (result.tool_calls, result.requests) == (1, 1)
    assert [event.kind for event in events] == ["tool_start", "tool_end", "model_start", "model_end"]
    assert INTERRUPTED_TEXT not in [message.content for message in model.requests[0].messages]


async def test_a_denial_tells_the_model_and_runs_nothing() -> None:
    before = await paused()
    delete = gated()
    answers = [DeferredAnswer.denied("1", "not today"), DeferredAnswer.external("3", "x", failed=True)]
    result = await agent_with(delete, ScriptedModel("fine")).run_with_deferred_results(
        before.messages, answers
    )
    denied, _, external = result.messages[2:5]
    assert "not allowed: not today" in denied.content
    assert (denied.failed, external.failed) == (False, True)
    assert delete.calls == []


async def test_a_prompt_and_parts_may_follow_the_answers_and_the_run_may_stream_and_pause_again() -> None:
    before = await paused()
    heard: list[str] = []
    model = ScriptedModel().respond("again", tool_calls=[call("9", "delete")])
    result = await agent_with(gated(), model).run_with_deferred_results(
        before.messages,
        BOTH,
        "and hurry",
        parts=[Part(kind="image", url="https://x/y")],
        on_delta=lambda delta: heard.append(delta.content),
    )
    prompt = result.messages[5]
    assert (prompt.role, prompt.content, len(prompt.parts)) == ("user", "and hurry", 1)
    assert [item.call.id for item in result.pending] == ["9"]
    assert heard[0] == "again"


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ([], "call '1' of tool 'delete' waits"),
        (BOTH[:1], "call '3' of tool 'fetch' waits"),
        ([*BOTH, DeferredAnswer.approved("zzz")], "for call 'zzz', and no call with that id waits"),
        ([*BOTH, DeferredAnswer.denied("1")], "call '1' has more than one answer"),
        ([*BOTH, DeferredAnswer.approved("2")], "for call '2', and no call with that id waits"),
        (
            [BOTH[0], DeferredAnswer.external("3", "", parts=[Part(kind="image")])],
            "answer to call '3', part 1: it has neither url nor data",
        ),
    ],
)
async def test_answers_that_do_not_fit_are_refused_before_anything_runs(answers: Any, text: str) -> None:
    before = await paused()
    delete = gated()
    model = ScriptedModel("never")
    with pytest.raises(HistoryError, match=text):
        await agent_with(delete, model).run_with_deferred_results(before.messages, answers)
    assert (delete.calls, model.requests) == ([], [])


async def test_a_history_that_has_gone_on_has_no_waiting_calls() -> None:
    before = await paused()
    gone_on = [*before.messages, Message(role="user", content="never mind")]
    with pytest.raises(HistoryError, match="no call in this history waits"):
        await agent_with(gated(), ScriptedModel()).run_with_deferred_results(gone_on, BOTH)


async def test_older_calls_without_a_result_are_repaired_as_ever() -> None:
    before = await paused()
    dangling = Message(role="assistant", tool_calls=(call("old", "ls"), call("1", "ls")))
    history = [dangling, *before.messages]
    result = await agent_with(gated(), ScriptedModel("done")).run_with_deferred_results(history, BOTH)
    assert [message.content for message in result.messages[:3]] == ["", INTERRUPTED_TEXT, INTERRUPTED_TEXT]
    assert [message.content for message in result.messages[5:8]] == ["deleted", "kept", "a page"]


async def test_two_waiting_calls_with_one_id_take_their_answers_in_order() -> None:
    turn = Message(role="assistant", tool_calls=(call("x", "fetch"), call("x", "fetch")))
    answers = [DeferredAnswer.external("x", "first"), DeferredAnswer.external("x", "second")]
    agent = agent_with(gated(), ScriptedModel("done"))
    result = await agent.run_with_deferred_results([Message(role="user", content="go"), turn], answers)
    assert [message.content for message in result.messages[2:4]] == ["first", "second"]


async def test_a_processor_that_drops_the_waiting_calls_is_an_error() -> None:
    before = await paused()
    agent = agent_with(gated(), ScriptedModel(), history_processor=lambda history: history[:1])
    with pytest.raises(ProcessorError, match="left out the calls that wait"):
        await agent.run_with_deferred_results(before.messages, BOTH)


async def test_a_paused_history_in_an_ordinary_run_is_repaired_as_interrupted() -> None:
    before = await paused()
    result = await Agent(ScriptedModel("on")).run_with_history(before.messages, "never mind")
    contents = [message.content for message in result.messages]
    assert contents.count(INTERRUPTED_TEXT) == 2


async def test_a_failing_approved_call_adds_nothing_and_the_calls_wait_on() -> None:
    before = await paused()
    agent = agent_with(gated(ValueError("disk")), ScriptedModel())
    with pytest.raises(RunError) as caught:
        await agent.run_with_deferred_results(before.messages, BOTH)
    partial = caught.value.partial
    assert caught.value.stage == "tool"
    assert partial is not None
    assert partial.messages == before.messages
    assert (partial.new_messages, partial.tool_calls, partial.requests) == ([], 1, 0)


async def test_a_model_failure_after_an_approved_call_keeps_its_result() -> None:
    """The tool has acted: losing that would make somebody approve it twice."""
    before = await paused()
    agent = agent_with(gated(), ScriptedModel().fail(ModelError("down")))
    with pytest.raises(RunError) as caught:
        await agent.run_with_deferred_results(before.messages, BOTH)
    assert caught.value.stage == "model"
    assert caught.value.partial is not None
    assert [message.content for message in caught.value.partial.new_messages] == ["deleted", "a page"]


@pytest.mark.parametrize(
    ("word", "content"),
    [
        (ToolFailed("locked"), "locked"),
        (
            ModelRetry("no path"),
            "Your tool call was rejected: no path. Correct the arguments and call the tool again.",
        ),
    ],
)
async def test_words_of_an_approved_tool_mean_what_they_mean_in_a_batch(word: Any, content: str) -> None:
    before = await paused()
    agent = agent_with(gated(word), ScriptedModel("ok"), tool_retries=1)
    result = await agent.run_with_deferred_results(before.messages, BOTH)
    assert result.messages[2].content == content


async def test_an_approved_tool_that_stops_the_run_is_closed_and_external_results_stay() -> None:
    before = await paused()
    model = ScriptedModel("never")
    with pytest.raises(RunError) as caught:
        await agent_with(gated(ToolCanceled("veto")), model).run_with_deferred_results(before.messages, BOTH)
    assert caught.value.stage == "canceled"
    assert caught.value.partial is not None
    contents = [message.content for message in caught.value.partial.messages[2:]]
    assert contents == [INTERRUPTED_TEXT, "kept", "a page"]
    assert not model.requests


async def test_an_approved_tool_that_defers_again_is_a_failure() -> None:
    before = await paused()
    answers = [DeferredAnswer.denied("1"), DeferredAnswer.approved("3")]
    with pytest.raises(RunError, match="deferred again although it was approved"):
        await agent_with(gated(), ScriptedModel()).run_with_deferred_results(before.messages, answers)


async def test_a_call_without_an_id_cannot_wait() -> None:
    model = ScriptedModel().respond(tool_calls=[call("", "delete")])
    with pytest.raises(RunError, match="a call without an id cannot wait"):
        await agent_with(gated(), model).run("go")
