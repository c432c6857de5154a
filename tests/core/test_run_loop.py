"""A run from its opening to its result: identity, instructions, overrides, limits, retries, streaming."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from golem_cli.core.errors import (
    ConfigurationError,
    HistoryError,
    LoopLimitError,
    ModelError,
    ModelRetry,
    ProcessorError,
    RunError,
    UsageLimitError,
)
from golem_cli.core.events import RunEvent
from golem_cli.core.history import INTERRUPTED_TEXT
from golem_cli.core.identity import is_canonical_uuid
from golem_cli.core.message import Message, Part, ThinkingBlock
from golem_cli.core.model import Delta, ModelResponse, ModelSettings, OnDelta, ToolSpec
from golem_cli.core.result import PartialResult
from golem_cli.core.run import Agent, RetryWait
from golem_cli.core.tool import RunContext, Tool
from golem_cli.core.usage import Usage, UsageLimit
from golem_cli.testing import ScriptedModel, ScriptedTool, call

USER = Message(role="user", content="before", run_id="r0", conversation_id="c0")
ANSWER = Message(role="assistant", content="said", run_id="r0", conversation_id="c0")


async def failed_run(agent: Agent[Any, Any], **options: Any) -> RunError:
    with pytest.raises(RunError) as caught:
        await agent.run("go", **options)
    assert caught.value.__cause__ is caught.value.cause
    return caught.value


def evidence(error: RunError) -> PartialResult:
    assert error.partial is not None
    return error.partial


# -- identity -----------------------------------------------------------------------------------------


async def test_a_run_stamps_what_it_adds_and_never_what_it_was_given() -> None:
    dangling = Message(role="assistant", tool_calls=(call("old", "ls"),))
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond("bad").respond("good")

    def decode(context: RunContext[Any], text: str) -> str:
        if text == "bad":
            raise ModelRetry("no")
        return text

    agent = Agent(
        model, instructions="I", tools=[ScriptedTool("ls", "x").tool], decoder=decode, output_retries=1
    )
    result = await agent.run_with_history([USER, ANSWER, dangling], "go")
    given, added = result.messages[:5], result.messages[5:]
    assert [message.content for message in given] == ["I", "before", "said", "", INTERRUPTED_TEXT]
    assert [(message.run_id, message.conversation_id) for message in given] == [
        ("", ""),
        ("r0", "c0"),
        ("r0", "c0"),
        ("", ""),
        ("", ""),
    ]
    assert [message.role for message in added] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert {(message.run_id, message.conversation_id) for message in added} == {(result.run_id, "c0")}
    assert result.new_messages == added


async def test_a_conversation_keeps_its_id_and_each_run_gets_a_fresh_one() -> None:
    agent = Agent(ScriptedModel("a", "b", "c"))
    first = await agent.run("1")
    second = await agent.run_with_history(first.messages, "2")
    forked = await agent.run_with_history(second.messages, "3", conversation_id="fork", run_id="mine")
    assert is_canonical_uuid(first.run_id)
    assert is_canonical_uuid(first.conversation_id)
    assert second.conversation_id == first.conversation_id
    assert second.run_id > first.run_id
    assert (forked.run_id, forked.conversation_id) == ("mine", "fork")


async def test_the_most_recent_identified_message_of_the_processed_history_names_the_conversation() -> None:
    older = Message(role="user", content="x", conversation_id="older")
    newer = Message(role="user", content="y", conversation_id="newer")
    bare = Message(role="user", content="z")
    agent = Agent(ScriptedModel("a", "b"))
    assert (await agent.run_with_history([older, newer, bare], "go")).conversation_id == "newer"
    trimmed = await agent.run_with_history(
        [older, newer], "go", history_processor=lambda history: history[:1]
    )
    assert trimmed.conversation_id == "older"


async def test_every_event_and_the_partial_carry_the_identity() -> None:
    events: list[RunEvent] = []
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).fail(ModelError("down"))
    agent = Agent(model, tools=[ScriptedTool("ls").tool], on_event=events.append)
    error = await failed_run(agent, run_id="R", conversation_id="C")
    assert {(event.run_id, event.conversation_id) for event in events} == {("R", "C")}
    assert (evidence(error).run_id, evidence(error).conversation_id) == ("R", "C")


# -- opening ------------------------------------------------------------------------------------------


async def test_instructions_are_resolved_once_and_stand_first() -> None:
    asked: list[Any] = []

    async def dynamic(context: RunContext[Any]) -> str:
        asked.append(context.deps)
        return "You talk to Anne."

    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond("done")
    agent = Agent(model, instructions="Be brief.", instructions_func=dynamic, tools=[ScriptedTool("ls").tool])
    old_system = Message(role="system", content="stale")
    result = await agent.run_with_history([old_system, USER], "go", deps="Anne")
    assert asked == ["Anne"]
    assert result.messages[0] == Message(role="system", content="Be brief.\n\nYou talk to Anne.")
    assert [message.role for message in result.messages].count("system") == 1


async def test_what_fails_before_the_first_model_call_is_no_run_error() -> None:
    model = ScriptedModel("never")

    def broken(_: Any) -> Any:
        raise ValueError("boom")

    agent = Agent(model)
    with pytest.raises(ProcessorError, match="history processor: boom"):
        await agent.run("go", history_processor=broken)
    with pytest.raises(ConfigurationError, match="instructions function: boom"):
        await Agent(model, instructions_func=broken).run("go")
    with pytest.raises(HistoryError, match=r"prompt part 1: .*data but no mediaType"):
        await agent.run("go", parts=[Part(kind="image", data="AA==")])
    with pytest.raises(HistoryError, match=r"message 1 .*thinking"):
        await agent.run_with_history([Message(role="user", thinking=(ThinkingBlock(text="x"),))], "go")
    with pytest.raises(HistoryError, match="entry 1 is a dict"):
        await agent.run_with_history([{"role": "user"}], "go")  # type: ignore[list-item] # bad input on purpose
    assert not model.requests


async def test_the_processor_sees_exactly_what_the_caller_gave_and_may_be_asynchronous() -> None:
    seen: list[list[Message]] = []

    async def process(history: list[Message]) -> list[Message]:
        seen.append(list(history))
        history.clear()
        return [ANSWER]

    given = [Message(role="system", content="s"), USER]
    result = await Agent(ScriptedModel("x"), history_processor=process).run_with_history(given, "go")
    assert seen == [[Message(role="system", content="s"), USER]]
    assert len(given) == 2
    assert [message.content for message in result.messages] == ["said", "go", "x"]


# -- overrides ----------------------------------------------------------------------------------------


async def test_a_run_replaces_what_it_sets_and_the_next_run_is_the_agents_again() -> None:
    own, other = ScriptedModel("own"), ScriptedModel("other")
    told: list[str] = []
    agent = Agent(
        own,
        instructions="agent's",
        tools=[ScriptedTool("a").tool],
        on_event=lambda event: told.append("agent " + event.kind),
    )
    result = await agent.run(
        "go",
        model=other,
        instructions="run's",
        tools=[ScriptedTool("b").tool],
        settings=ModelSettings(temperature=0.5),
        on_event=lambda event: told.append("run " + event.kind),
    )
    assert result.output == "other"
    request = other.requests[0]
    assert request.messages[0].content == "run's"
    assert [tool.name for tool in request.tools] == ["b"]
    assert request.settings.temperature == 0.5
    assert told == ["agent model_start", "run model_start", "agent model_end", "run model_end"]
    assert (await agent.run("go", instructions="")).messages[0].role == "user"
    assert [tool.name for tool in own.requests[0].tools] == ["a"]


async def test_an_override_that_cannot_be_is_refused_before_the_run() -> None:
    tool = ScriptedTool("a").tool
    with pytest.raises(ConfigurationError, match="two tools have the name 'a'"):
        await Agent(ScriptedModel("x")).run("go", tools=[tool, tool])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_iterations": 0}, "max_iterations must be at least 1, not 0"),
        ({"max_attempts": 0}, "max_attempts must be at least 1, not 0"),
        ({"tool_timeout": 0.0}, "tool_timeout must be above 0 seconds"),
        ({"unknown_tool": "ask"}, "unknown_tool must be"),
        ({"usage_limit": UsageLimit(cost=0.0)}, "usage_limit.cost must be above 0"),
        ({"usage_limit": UsageLimit(request_input_tokens=9)}, "needs a counter"),
        ({"tool_choice": "nope"}, "tool_choice is 'nope'"),
        ({"output_schema": "{"}, "output_schema is not valid JSON"),
        ({"output_tool": ToolSpec(name="f", description="", schema="[]")}, "must be a JSON object"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused_by_name(options: Any, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        Agent(ScriptedModel(), **options)


# -- tool choice --------------------------------------------------------------------------------------


async def test_a_forced_call_is_forced_once_so_that_the_run_can_end() -> None:
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond("done")
    await Agent(model, tools=[ScriptedTool("ls").tool], tool_choice="required").run("go")
    assert [request.tool_choice for request in model.requests] == ["required", "auto"]


async def test_with_an_output_tool_the_force_stays() -> None:
    final = ToolSpec(name="final", description="", schema="{}")
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond(tool_calls=[call("2", "final")])
    agent = Agent(model, tools=[ScriptedTool("ls").tool], tool_choice="required", output_tool=final)
    assert (await agent.run("go")).output == "{}"
    assert [request.tool_choice for request in model.requests] == ["required", "required"]


# -- limits and money ---------------------------------------------------------------------------------


async def test_a_bound_that_is_reached_is_not_crossed() -> None:
    limit = UsageLimit(input_tokens=5, output_tokens=2, total_tokens=7, requests=1, cost=0.5)
    model = ScriptedModel().respond("x", usage=Usage(input_tokens=5, output_tokens=2), cost=0.5)
    assert (await Agent(model, usage_limit=limit).run("go")).output == "x"


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (UsageLimit(input_tokens=4), "run exceeded the input token limit of 4 (used 5)"),
        (UsageLimit(output_tokens=1), "run exceeded the output token limit of 1 (used 2)"),
        (UsageLimit(total_tokens=6), "run exceeded the total token limit of 6 (used 7)"),
        (UsageLimit(cost=0.25), "run exceeded the cost limit of 0.25 (used 0.5)"),
        (UsageLimit(tool_calls=1), "run exceeded the tool call limit of 1 (used 2)"),
    ],
)
async def test_the_crossing_response_is_evidence_and_its_tools_do_not_run(
    limit: UsageLimit, text: str
) -> None:
    tool = ScriptedTool("ls")
    calls = [call("1", "ls"), call("2", "ls")]
    model = ScriptedModel().respond(
        tool_calls=calls, usage=Usage(input_tokens=5, output_tokens=2), cost=0.5, finish_reason="tool_calls"
    )
    error = await failed_run(Agent(model, usage_limit=limit, tools=[tool.tool]))
    assert error.stage == "usage"
    assert isinstance(error.cause, UsageLimitError)
    assert str(error.cause) == text
    assert not tool.calls
    partial = evidence(error)
    assert [message.role for message in partial.messages] == ["user", "assistant"]
    assert partial.new_messages == partial.messages
    assert (partial.usage.total_tokens, partial.requests, partial.tool_calls) == (7, 1, 0)
    assert (partial.cost, partial.finish_reason) == (0.5, "tool_calls")


async def test_a_request_over_its_input_bound_is_never_sent() -> None:
    async def counter(messages: Any) -> int:
        return 10 * len(messages)

    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond("never")
    limit = UsageLimit(request_input_tokens=29)
    agent = Agent(model, tools=[ScriptedTool("ls").tool], usage_limit=limit, counter=counter)
    error = await failed_run(agent)
    assert error.stage == "usage"
    assert "limit of 29 (counted 30)" in str(error)
    assert len(model.requests) == 1
    assert [message.role for message in evidence(error).messages] == ["user", "assistant", "tool"]


async def test_cost_adds_up_and_a_price_fills_in_what_the_provider_does_not_say() -> None:
    def price(response: ModelResponse) -> float | None:
        return response.usage.input_tokens * 0.25 or None

    model = (
        ScriptedModel()
        .respond(tool_calls=[call("1", "ls")], cost=1.5)
        .respond(tool_calls=[call("2", "ls")], usage=Usage(input_tokens=2))
        .respond("done")
    )
    result = await Agent(model, tools=[ScriptedTool("ls").tool], price=price).run("go")
    assert (result.cost, result.requests, result.tool_calls) == (2.0, 3, 2)
    assert (await Agent(ScriptedModel("x")).run("go")).cost is None


async def test_usage_sums_every_kind_of_token() -> None:
    usage = Usage(
        input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, reasoning_tokens=5
    )
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")], usage=usage).respond("x", usage=usage)
    result = await Agent(model, tools=[ScriptedTool("ls").tool]).run("go")
    assert result.usage == Usage(
        input_tokens=2, output_tokens=4, cache_read_tokens=6, cache_write_tokens=8, reasoning_tokens=10
    )


# -- retries ------------------------------------------------------------------------------------------


async def test_waits_double_from_half_a_second_to_thirty_and_retry_after_wins() -> None:
    waits: list[float] = []
    told: list[RetryWait] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = ScriptedModel()
    for retry_after in (None, None, 7.5, None, None, None, None, None, -3.0):
        model.fail(ModelError("429", retryable=True, status_code=429, retry_after=retry_after))
    model.respond("at last")
    agent = Agent(model, max_attempts=10, sleep=sleep, on_wait=told.append)
    result = await agent.run("go")
    assert result.output == "at last"
    assert result.requests == 10
    assert waits == [0.5, 1.0, 7.5, 4.0, 8.0, 16.0, 30.0, 30.0, 0.0]
    assert [wait.seconds for wait in told] == waits
    assert [wait.attempt for wait in told] == list(range(1, 10))
    assert (told[0].error.status_code, told[0].run_id) == (429, result.run_id)


async def test_the_last_error_keeps_its_class_status_and_cause() -> None:
    model = ScriptedModel()
    for _ in range(2):
        model.fail(ModelError("busy", retryable=True, status_code=503, code="overloaded"))
    error = await failed_run(Agent(model, max_attempts=2, backoff=lambda attempt: 0.0))
    assert error.partial is None
    assert isinstance(error.cause, ModelError)
    assert str(error.cause) == "model failed after 2 attempts: busy"
    assert (error.cause.status_code, error.cause.code, error.cause.retryable) == (503, "overloaded", True)


async def test_a_call_that_handed_out_a_fragment_is_not_tried_again() -> None:
    model = ScriptedModel().fail(ModelError("cut", retryable=True), after="Hel").respond("Hello")
    heard: list[str] = []
    agent = Agent(model, max_attempts=3)
    with pytest.raises(RunError, match="model stage: cut"):
        await agent.run_stream("go", lambda delta: heard.append(delta.content))
    assert heard == ["Hel"]
    assert model.left == 1


async def test_a_failed_attempt_counts_as_a_request_in_the_evidence() -> None:
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).fail(ModelError("down"))
    error = await failed_run(Agent(model, tools=[ScriptedTool("ls", "out").tool]))
    partial = evidence(error)
    assert error.stage == "model"
    assert (partial.requests, partial.tool_calls) == (2, 1)
    assert [message.content for message in partial.messages] == ["go", "", "out"]
    resumed = await Agent(ScriptedModel("done")).run_with_history(partial.messages, "continue")
    assert resumed.output == "done"
    assert resumed.conversation_id == partial.conversation_id


# -- streaming ----------------------------------------------------------------------------------------


async def test_fragments_arrive_in_order_across_turns_and_on_delta_may_be_asynchronous() -> None:
    heard: list[str] = []

    async def on_delta(delta: Delta) -> None:
        await asyncio.sleep(0)
        heard.append(delta.thinking or delta.content or delta.tool_calls[0].args_fragment)

    model = ScriptedModel(fragment_size=2)
    model.respond("abc", tool_calls=[call("1", "ls", '{"a":1}')], thinking=[ThinkingBlock(text="hm")])
    model.respond("done")
    result = await Agent(model, tools=[ScriptedTool("ls").tool]).run_stream("go", on_delta)
    assert result.output == "done"
    assert heard == ["hm", "ab", "c", "", '{"', 'a"', ":1", "}", "do", "ne"]


async def test_an_exception_of_on_delta_fails_the_run_even_when_the_adapter_hides_it() -> None:
    class Hiding(ScriptedModel):
        async def stream(self, request: Any, on_delta: Any) -> ModelResponse:
            try:
                return await super().stream(request, on_delta)
            except ValueError as error:
                raise ModelError("stream broke", retryable=True) from error

    async def refuse(delta: Delta) -> None:
        raise ValueError("enough")

    def refuse_at_once(delta: Delta) -> None:
        raise ValueError("enough")

    refusals: list[OnDelta] = [refuse, refuse_at_once]
    for on_delta in refusals:
        with pytest.raises(RunError) as caught:
            await Agent(Hiding("hello"), max_attempts=3).run_stream("go", on_delta)
        assert caught.value.stage == "model"
        assert isinstance(caught.value.cause, ValueError)


# -- other ends ---------------------------------------------------------------------------------------


async def test_too_many_turns_end_at_stage_loop_with_the_last_batch_in_the_evidence() -> None:
    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond(tool_calls=[call("2", "ls")])
    error = await failed_run(Agent(model, tools=[ScriptedTool("ls", "x").tool], max_iterations=2))
    assert error.stage == "loop"
    assert isinstance(error.cause, LoopLimitError)
    assert [message.role for message in evidence(error).messages] == [
        "user", "assistant", "tool", "assistant", "tool",
    ]  # fmt: skip


async def test_a_failing_decoder_leaves_the_answer_in_the_evidence() -> None:
    async def decode(context: RunContext[Any], text: str) -> int:
        return int(text)

    error = await failed_run(Agent(ScriptedModel("four"), decoder=decode))
    assert error.stage == "decode"
    assert evidence(error).messages[-1].content == "four"
    assert (await Agent(ScriptedModel("4"), decoder=decode).run("go")).output == 4


async def test_an_observer_that_raises_ends_the_run_with_its_evidence() -> None:
    def observe(event: RunEvent) -> None:
        if event.kind == "model_end":
            raise OSError("disk full")

    error = await failed_run(Agent(ScriptedModel("answer"), on_event=observe))
    assert error.stage == "model"
    assert isinstance(error.cause, OSError)
    assert evidence(error).messages[-1].content == "answer"


async def test_events_carry_the_stamped_message_that_their_step_added() -> None:
    events: list[RunEvent] = []

    def decode(context: RunContext[Any], text: str) -> str:
        if text == "bad":
            raise ModelRetry("no")
        return text

    model = ScriptedModel().respond(tool_calls=[call("1", "ls")]).respond("bad").respond("good")
    agent = Agent(
        model, tools=[ScriptedTool("ls", "x").tool], decoder=decode, output_retries=1, on_event=events.append
    )
    result = await agent.run("go")
    carried = [event.message for event in events if event.message is not None]
    assert carried == result.new_messages[1:]


# -- synchronous --------------------------------------------------------------------------------------


def test_each_method_has_a_synchronous_form() -> None:
    agent = Agent(ScriptedModel("a", "b", "c", "d"))
    heard: list[str] = []

    def on_delta(delta: Delta) -> None:
        heard.append(delta.content)

    first = agent.run_sync("1")
    second = agent.run_with_history_sync(first.messages, "2")
    third = agent.run_stream_sync("3", on_delta)
    fourth = agent.run_stream_with_history_sync(third.messages, "4", on_delta)
    assert [result.output for result in (first, second, third, fourth)] == ["a", "b", "c", "d"]
    assert heard == ["c", "d"]
    with pytest.raises(HistoryError, match="no call in this history waits"):
        agent.run_with_deferred_results_sync(first.messages, [])


async def test_a_synchronous_form_inside_a_running_loop_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="await the asynchronous method"):
        Agent(ScriptedModel("a")).run_sync("1")


async def test_any_number_of_runs_may_use_one_agent_at_the_same_time() -> None:
    agent = Agent(ScriptedModel(*"abcdefgh"))
    results = await asyncio.gather(*(agent.run(str(number)) for number in range(8)))
    assert len({result.run_id for result in results}) == 8
    assert sorted(result.output for result in results) == list("abcdefgh")
    assert all(len(result.messages) == 2 for result in results)


def test_a_tool_is_plain_data() -> None:
    tool = ScriptedTool("ls", description="List.").tool
    assert isinstance(tool, Tool)
    assert tool.spec == ToolSpec(name="ls", description="List.", schema='{"type":"object"}')
