"""Replay of runs.json: every recorded scenario of the Go library, against the scripted model."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from golem_cli.core.canceled import RunCanceled
from golem_cli.core.errors import (
    GolemError,
    HistoryError,
    ModelError,
    ModelRetry,
    RunError,
    ToolError,
)
from golem_cli.core.history import repair
from golem_cli.core.result import Result
from tests.support.run_scenarios import (
    GO_SCRIPT_ENDED,
    SCENARIOS,
    SCRIPT_ENDED,
    Json,
    Recording,
    agent_of,
    expected_request,
    in_our_words,
    message_json,
    message_of,
    normal,
    replayed,
    request_json,
    scripted,
    usage_json,
)

PART_KINDS = "audio and video parts are well formed here"
UNKNOWN_ROLE = "an unknown role is kept on disk and refused by a run"
REUSED_ID = "0.6.0 leaves a call whose id is reused without a result; here each call is answered once"
CANCELLATION = "a cancellation or a deadline is a RunError with a stage and its evidence"
CANCELED_TASK = "a cancelled task raises RunCanceled with a stage and its evidence"
USAGE = "usage limits are checked after each response, before its tools run; 0.6.0 checks at the end"
STREAMED_RETRY = "a streamed call that handed out nothing yet is tried again"
ONE_OUTCOME = "a Python function returns or raises; it cannot do both"

# What the vectors' README and the specification except, each with a test of what happens instead below.
NOT_REPLAYED = {
    "prompt part bad kind": PART_KINDS,
    "history part bad": PART_KINDS,
    "history unknown role kept": UNKNOWN_ROLE,
    "history reused id": REUSED_ID,
    "mix 40": REUSED_ID,
    "mix 48": REUSED_ID,
    "mix 70": REUSED_ID,
    "mix 78": REUSED_ID,
    "model canceled error": CANCELLATION,
    "model deadline error": CANCELLATION,
    "tool timeout": CANCELLATION,
    "agent tool timeout": CANCELLATION,
    "tool timeout with retries budget": CANCELLATION,
    "tool cancels run alone": CANCELED_TASK,
    "tool cancels run with timeout": CANCELED_TASK,
    "tool wraps canceled": CANCELLATION,
    "tool wraps deadline": CANCELLATION,
    "usage limit inputTokens 1": USAGE,
    "usage limit toolCalls 1": USAGE,
    "usage limit two crossed, order": USAGE,
    "usage limit output first": USAGE,
    "usage limit crossed early keeps looping": USAGE,
    "usage limit not checked on model error": USAGE,
    "mix 9": USAGE,
    "mix 29": USAGE,
    "mix 72": USAGE,
    "mix 77": USAGE,
    "stream retryable error not retried": STREAMED_RETRY,
    "mix 4": STREAMED_RETRY,
    "mix 80": STREAMED_RETRY,
    "tool returns value and error": ONE_OUTCOME,
}
BY_NAME = {scenario["name"]: scenario for scenario in SCENARIOS}


@pytest.mark.parametrize(
    "scenario",
    [scenario for scenario in SCENARIOS if scenario["name"] not in NOT_REPLAYED],
    ids=lambda scenario: scenario["name"],
)
async def test_a_scenario_of_the_vectors_goes_as_recorded(scenario: Json) -> None:
    expect = scenario["expect"]
    recording = Recording()
    model = scripted(scenario["spec"]["script"])
    if "error" in expect:
        with pytest.raises(GolemError) as caught:
            await replayed(scenario["spec"], model, recording)
        check_error(caught.value, expect["error"])
    else:
        check_result(await replayed(scenario["spec"], model, recording), expect["result"])
    if "requests" not in expect:  # a configuration that cannot be: nothing was recorded
        assert not model.requests
        return
    assert [request_json(request) for request in model.requests] == [
        expected_request(request) for request in expect["requests"]
    ]
    assert recording.events == [in_our_words(event) for event in expect["events"]]
    assert recording.backoffs == expect["backoffCalls"]
    assert recording.decoded == expect["decodeCalls"]
    assert recording.deltas == expect.get("deltas", [])
    check_executed(recording.executed, expect)


def check_result(result: Result[str], expect: Json) -> None:
    assert result.output == expect["output"]
    assert [message_json(message) for message in result.messages] == [
        normal(message) for message in expect["messages"]
    ]
    assert usage_json(result.usage) == expect["usage"]


def check_error(error: GolemError, expect: Json) -> None:
    """Stage, class and text agree; the Go library prefixes its texts with the package's name."""
    assert isinstance(error, RunError) == expect["runError"]
    if not isinstance(error, RunError):
        return
    assert error.stage == expect["stage"]
    text = expect["text"].replace("golem: ", "").replace("runner: ", "")
    assert str(error) == text.replace(GO_SCRIPT_ENDED, SCRIPT_ENDED)
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None:
        chain.append(link)
        link = link.__cause__
    assert any(isinstance(link, ModelRetry) for link in chain) == expect["isModelRetry"]
    assert any(isinstance(link, ModelError) and link.retryable for link in chain) == expect["isRetryable"]
    if "toolName" in expect:
        assert isinstance(error.cause, ToolError)
        assert (error.cause.tool_name, error.cause.call_id) == (expect["toolName"], expect["callId"])


def check_executed(executed: list[Json], expect: Json) -> None:
    if "executed" in expect:
        assert executed == expect["executed"]
    else:
        by_tool = sorted(executed, key=lambda call: (call["tool"], call["argsText"]))
        assert by_tool == expect["executedUnordered"]


def excepted(reason: str) -> list[Json]:
    return [BY_NAME[name]["spec"] for name, why in NOT_REPLAYED.items() if why == reason]


def excepted_specs(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("spec", excepted(reason), ids=lambda spec: spec["name"])


async def failure(spec: Json, recording: Recording) -> RunError:
    with pytest.raises(RunError) as caught:
        await replayed(spec, scripted(spec["script"]), recording)
    return caught.value


def test_every_exception_is_a_scenario() -> None:
    assert set(NOT_REPLAYED) <= set(BY_NAME)


@excepted_specs(PART_KINDS)
async def test_audio_and_video_parts_are_sent(spec: Json) -> None:
    model = scripted(spec["script"])
    spec = json.loads(json.dumps(spec).replace('"url": "u"', '"url": "https://x/y"'))
    result = await replayed(spec, model, Recording())
    assert result.output == "hello there"
    kinds = [part.kind for message in model.requests[0].messages for part in message.parts]
    assert {"audio", "video"} & set(kinds)


@excepted_specs(UNKNOWN_ROLE)
async def test_a_run_refuses_a_message_of_an_unknown_role_before_any_model_call(spec: Json) -> None:
    model = scripted(spec["script"])
    with pytest.raises(HistoryError, match="message 1 "):
        await replayed(spec, model, Recording())
    assert not model.requests


@excepted_specs(REUSED_ID)
async def test_a_history_with_reused_ids_is_sent_as_repair_leaves_it(spec: Json) -> None:
    model = scripted(spec["script"])
    agent = agent_of(spec, model, Recording())
    history = [message_of(message) for message in spec["history"]]
    with suppress(RunError):  # the scripts of some end in a failure, as recorded
        await agent.run_with_history(history, spec["prompt"])
    sent = [message for message in model.requests[0].messages if message.role != "system"]
    assert sent[:-1] == [message for message in repair(history) if message.role != "system"]
    assert sent[-1].content == spec["prompt"]


MODEL_STAGE = {"model canceled error", "model deadline error"}


@excepted_specs(CANCELLATION)
async def test_a_leaked_cancellation_or_deadline_is_a_run_error_at_its_stage(spec: Json) -> None:
    """Nobody cancelled the run's task, so nothing pretends that somebody did."""
    recording = Recording()
    error = await failure(spec, recording)
    assert not isinstance(error, asyncio.CancelledError)
    if spec["name"] in MODEL_STAGE:
        assert (error.stage, error.partial) == ("model", None)
        return
    assert error.stage == "tool"
    assert isinstance(error.cause, ToolError)
    assert error.partial is not None
    assert [message.role for message in error.partial.messages] == ["user", "assistant"]
    assert error.partial.tool_calls == 1
    assert [event["kind"] for event in recording.events][-1] == "tool_end"


# By hand: the bound, and what was used when the response that crossed it came.
CROSSED = {
    "usage limit inputTokens 1": ("input token", 1, 10),
    "usage limit toolCalls 1": ("tool call", 1, 3),
    "usage limit two crossed, order": ("input token", 1, 10),
    "usage limit output first": ("output token", 1, 5),
    "usage limit crossed early keeps looping": ("input token", 1, 2),
    "usage limit not checked on model error": ("input token", 1, 50),
    "mix 9": ("tool call", 2, 3),
    "mix 29": ("output token", 8, 13),
    "mix 72": ("input token", 1, 6),
    "mix 77": ("input token", 1, 7),
}


@excepted_specs(USAGE)
async def test_the_response_that_crosses_a_bound_ends_the_run_before_its_tools(spec: Json) -> None:
    recording = Recording()
    error = await failure(spec, recording)
    kind, bound, used = CROSSED[spec["name"]]
    assert str(error) == f"usage stage: run exceeded the {kind} limit of {bound} (used {used})"
    assert error.partial is not None
    assert error.partial.messages[-1].role == "assistant"
    assert recording.events[-1]["kind"] == "model_end"


@excepted_specs(STREAMED_RETRY)
async def test_a_streamed_call_that_handed_out_nothing_is_tried_again(spec: Json) -> None:
    recording = Recording()
    model = scripted(spec["script"])
    await replayed(spec, model, recording)
    assert recording.backoffs == [1]
    assert [event["attempt"] for event in recording.events if event["attempt"] == 2] == [2, 2]


@excepted_specs(ONE_OUTCOME)
async def test_a_tool_that_raises_has_no_result(spec: Json) -> None:
    recording = Recording()
    error = await failure(spec, recording)
    assert str(error) == 'tool stage: tool "re" (call "c1"): bad'
    assert recording.events[-1] == {
        "kind": "tool_end",
        "turn": 0,
        "attempt": 0,
        "toolName": "re",
        "callId": "c1",
        "error": "bad",
    }


@excepted_specs(CANCELED_TASK)
async def test_a_tool_that_cancels_the_task_of_its_run_ends_it_at_stage_tool(spec: Json) -> None:
    """The tool returned all the same; the cancellation still counts."""
    run = asyncio.create_task(replayed(spec, scripted(spec["script"]), Recording()))
    await asyncio.wait([run])
    assert run.cancelled()
    with pytest.raises(RunCanceled) as caught:
        await run
    assert caught.value.stage == "tool"
    assert caught.value.partial is not None
    assert [message.role for message in caught.value.partial.messages] == ["user", "assistant"]
