"""Adapters, processors, tools and answers that break their word: one clear error, nothing of it is kept."""

from __future__ import annotations

import asyncio
import io
import math
from collections.abc import Callable
from typing import Any

import pytest

from golem_cli.core.canceled import RunCanceled
from golem_cli.core.errors import (
    ConfigurationError,
    HistoryError,
    ModelError,
    ProcessorError,
    RunError,
    ToolDeferred,
)
from golem_cli.core.message import Message, Part
from golem_cli.core.model import ModelResponse
from golem_cli.core.run import Agent, DeferredAnswer
from golem_cli.core.tool import RunContext, Tool
from golem_cli.core.usage import UsageLimit
from golem_cli.testing import ScriptedModel, ScriptedTool, call

UNUSABLE: dict[str, Any] = {"name": "t", "description": "", "function": print, "schema": {}}
PICTURE = Part(kind="image", url="https://example.org/a.png")


@pytest.mark.parametrize(
    ("response", "named"),
    [
        (None, "a NoneType, not a ModelResponse"),
        (ModelResponse(message=None), "without a message"),  # type: ignore[arg-type] # on purpose
        (ModelResponse(message=Message(role="user", content="x")), "'user' message"),
        (ModelResponse(message=Message(role="tool", content="x")), "'tool' message"),
        (ModelResponse(message=Message(role="assistant", parts=(PICTURE,))), "has parts"),
        (ModelResponse(message=Message(role="assistant"), usage=None), "usage"),  # type: ignore[arg-type] # on purpose
    ],
)
async def test_a_turn_that_no_history_may_hold_fails_at_stage_model_and_is_no_evidence(
    response: Any, named: str
) -> None:
    with pytest.raises(RunError) as caught:
        await Agent(ScriptedModel().queue(response)).run("go")
    assert caught.value.stage == "model"
    assert isinstance(caught.value.cause, ModelError)
    assert named in str(caught.value.cause)
    assert caught.value.partial is None


async def test_a_cost_that_is_no_number_crosses_a_cost_limit() -> None:
    model = ScriptedModel().respond("dear", cost=math.nan)
    with pytest.raises(RunError) as caught:
        await Agent(model, usage_limit=UsageLimit(cost=1.0)).run("go")
    assert caught.value.stage == "usage"


async def test_three_times_ten_cents_reach_a_limit_of_thirty_and_do_not_cross_it() -> None:
    turn = [call("1", "ls")]
    model = (
        ScriptedModel()
        .respond(tool_calls=turn, cost=0.1)
        .respond(tool_calls=turn, cost=0.1)
        .respond("end", cost=0.1)
    )
    agent = Agent(model, tools=[ScriptedTool("ls").tool], usage_limit=UsageLimit(cost=0.3))
    assert (await agent.run("go")).output == "end"


@pytest.mark.parametrize("asked", [math.nan, math.inf])
async def test_a_retry_after_that_is_no_wait_gives_way_to_the_backoff(asked: float) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    model = ScriptedModel().fail(ModelError("busy", retryable=True, retry_after=asked)).respond("ok")
    await Agent(model, max_attempts=2, sleep=sleep).run("go")
    assert waited == [0.5]


async def test_a_prompt_that_is_no_text_is_refused_before_the_model_is_asked() -> None:
    model = ScriptedModel("never")
    with pytest.raises(HistoryError, match="the prompt is a NoneType, not text"):
        await Agent(model).run(None)  # type: ignore[arg-type] # bad input on purpose
    assert not model.requests


async def test_instructions_that_are_no_text_are_a_configuration_error() -> None:
    def number(_: RunContext[Any]) -> Any:
        return 7

    with pytest.raises(ConfigurationError, match="instructions function: it gave a int, not text"):
        await Agent(ScriptedModel("never"), instructions_func=number).run("go")


def cancels_something_of_its_own(_: object) -> Any:
    raise asyncio.CancelledError


async def test_a_cancellation_inside_a_processor_is_its_failure_and_not_a_stop_of_the_run() -> None:
    agent = Agent(ScriptedModel("never"), history_processor=cancels_something_of_its_own)
    with pytest.raises(ProcessorError, match="history processor"):
        await agent.run("go")
    agent = Agent(ScriptedModel("never"), instructions_func=cancels_something_of_its_own)
    with pytest.raises(ConfigurationError, match="instructions function"):
        await agent.run("go")


async def test_a_stop_while_a_processor_summarizes_carries_no_evidence_of_the_summary() -> None:
    summarizer = ScriptedModel().respond(tool_calls=[call("1", "ls")]).hang()
    inner = Agent(summarizer, tools=[ScriptedTool("ls", "secret").tool])

    async def summarize(history: list[Message]) -> list[Message]:
        return [Message(role="user", content=(await inner.run("sum up")).output)]

    task = asyncio.create_task(Agent(ScriptedModel("never"), history_processor=summarize).run("go"))
    await summarizer.until_hanging()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert not isinstance(caught.value, RunCanceled)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"tools": [print]}, "tool 1 is a builtin_function_or_method, not a Tool"),
        ({"tools": [ScriptedTool("t")]}, "tool 1 is a ScriptedTool, not a Tool"),
        ({"tools": [Tool(**UNUSABLE)]}, "its schema must be a JSON object, as text"),
        ({"output_schema": {}}, "output_schema is not valid JSON text"),
        ({"max_iterations": "3"}, "max_iterations must be a whole number, not '3'"),
        ({"max_attempts": 2.5}, "max_attempts must be a whole number, not 2.5"),
        ({"usage_limit": {"requests": 1}}, "usage_limit is a dict, not a UsageLimit"),
        ({"tool_timeout": math.nan}, "tool_timeout must be above 0 seconds"),
    ],
)
def test_an_option_of_the_wrong_type_is_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        Agent(ScriptedModel(), **options)


@pytest.mark.parametrize("model", [None, "openai:gpt-5-mini", ScriptedModel])
def test_what_is_no_model_is_named(model: Any) -> None:
    with pytest.raises(ConfigurationError, match="has no method complete"):
        Agent(model)


async def test_a_part_that_is_none_is_named_before_the_model_is_asked() -> None:
    model = ScriptedModel("never")
    with pytest.raises(HistoryError, match="prompt part 2 is a dict, not a Part"):
        await Agent(model).run("go", parts=[PICTURE, {"kind": "image"}])  # type: ignore[list-item] # on purpose
    assert not model.requests


async def test_what_on_delta_returns_is_awaited_only_when_it_can_be() -> None:
    """As `write` of a file does, which returns a count."""
    heard = io.StringIO()
    agent = Agent(ScriptedModel("Hello!", fragment_size=2))
    await agent.run_stream("go", lambda delta: heard.write(delta.content))  # type: ignore[arg-type,return-value] # on purpose
    assert heard.getvalue() == "Hello!"


# -- deferral -----------------------------------------------------------------------------------------


async def test_a_call_cannot_wait_when_a_later_one_with_its_id_has_a_result() -> None:
    """Its approval would run the later call, whose result stands for it."""

    async def shell(context: RunContext[Any], args: str) -> str:
        if "rm" in args and not context.approved:
            raise ToolDeferred("approval")
        return f"ran {args}"

    calls = [call("0", "shell", '{"do":"rm"}'), call("0", "shell", '{"do":"ls"}')]
    agent = Agent(ScriptedModel().respond(tool_calls=calls), tools=[ScriptedTool("shell", shell).tool])
    with pytest.raises(RunError, match="a later call has its id") as caught:
        await agent.run("go")
    assert caught.value.stage == "tool"
    assert caught.value.partial is not None
    assert [message.role for message in caught.value.partial.messages] == ["user", "assistant"]


async def test_a_call_may_wait_when_an_earlier_one_with_its_id_has_a_result() -> None:
    async def shell(context: RunContext[Any], args: str) -> str:
        if "rm" in args and not context.approved:
            raise ToolDeferred("approval")
        return f"ran {args}"

    calls = [call("0", "shell", '{"do":"ls"}'), call("0", "shell", '{"do":"rm"}')]
    model = ScriptedModel().respond(tool_calls=calls).respond("done")
    agent = Agent(model, tools=[ScriptedTool("shell", shell).tool])
    paused = await agent.run("go")
    done = await agent.run_with_deferred_results(paused.messages, [DeferredAnswer.approved("0")])
    results = [message.content for message in done.messages if message.role == "tool"]
    assert results == ['ran {"do":"ls"}', 'ran {"do":"rm"}']


def waiting() -> list[Message]:
    return [Message(role="user", content="go"), Message(role="assistant", tool_calls=(call("1", "rm"),))]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: "1", "an answer is a str"),
        (lambda: DeferredAnswer(call_id="1", decision="approved"), "'approved' is not one of approve, deny"),  # type: ignore[arg-type] # on purpose
    ],
)
async def test_an_answer_that_decides_nothing_is_refused(make: Callable[[], Any], named: str) -> None:
    model, tool = ScriptedModel("never"), ScriptedTool("rm")
    with pytest.raises(HistoryError, match=named):
        await Agent(model, tools=[tool.tool]).run_with_deferred_results(waiting(), [make()])
    assert (model.requests, tool.calls) == ([], [])


async def test_a_call_waits_for_an_approval_or_an_external_result_and_for_nothing_else() -> None:
    tool = ScriptedTool("rm", ToolDeferred("someday"))  # type: ignore[arg-type] # on purpose
    with pytest.raises(RunError, match="'someday', which is neither approval nor external"):
        await Agent(ScriptedModel().respond(tool_calls=[call("1", "rm")]), tools=[tool.tool]).run("go")
