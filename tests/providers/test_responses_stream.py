"""Answers of the Responses API, streamed and whole, and what can go wrong on the way, over a real server."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.core.message import Message, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, ModelSettings, StreamingModel, ToolSpec
from golem_cli.core.usage import Usage
from golem_cli.providers.openai_responses import ResponsesModel
from golem_cli.providers.openai_responses.decode import StreamFold, decode_response
from golem_cli.providers.openai_responses.encode import encode_request
from golem_cli.providers.sse import EventDecoder
from tests.support.http_server import HttpServer, Reply
from tests.support.strict_responses import event, failure, finished, said, streamed, thought

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
KEY = "sk-proj-secret-0123456789"
SSE = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
WHOLE = streamed("gpt-5-mini")
BEGUN = WHOLE[: WHOLE.index(b"event: response.output_text.done")]
TURN = Message(
    role="assistant",
    content="Hello",
    thinking=(ThinkingBlock(text="hm", signature="encrypted by gpt-5-mini in rs_1", extra={"id": '"rs_1"'}),),
    signed_by="openai-responses:m",
)


def fold(stream: bytes) -> ModelResponse:
    folded = StreamFold("openai-responses:m")
    for each in EventDecoder().feed(stream):
        folded.take(each.data, kind=each.kind)
    folded.check_complete()
    return folded.response()


async def talk(*replies: Reply, stream: bool = True, deltas: list[Delta] | None = None) -> ModelResponse:
    with HttpServer(replies) as server:
        model = ResponsesModel(model="m", base_url=server.url, api_key=KEY)
        try:
            if not stream:
                return await model.complete(REQUEST)
            return await model.stream(REQUEST, lambda _: None if deltas is None else deltas.append(_))
        finally:
            await model.aclose()


def added(index: int, item: dict[str, Any]) -> bytes:
    return event("response.output_item.added", output_index=index, item=item)


def done(index: int, item: dict[str, Any]) -> bytes:
    return event("response.output_item.done", output_index=index, item=item)


def call_item(arguments: str = "", call_id: str = "call_1", name: str = "ls") -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def arguments(index: int, delta: str) -> bytes:
    return event("response.function_call_arguments.delta", output_index=index, delta=delta)


def end(**fields: Any) -> bytes:
    return event("response.completed", response=finished("gpt-5-mini", **fields))


def test_the_adapter_streams() -> None:
    model = ResponsesModel(model="gpt-5-mini")
    assert isinstance(model, StreamingModel)
    assert model.name == "openai-responses:gpt-5-mini"


async def test_a_turn_is_folded_and_its_fragments_are_handed_out() -> None:
    deltas: list[Delta] = []
    response = await talk(Reply(headers=SSE, body=WHOLE), deltas=deltas)
    assert response.message == TURN
    assert deltas == [Delta(thinking="hm"), Delta(content="Hel"), Delta(content="lo")]
    assert (response.finish_reason, response.model) == ("stop", "gpt-5-mini-2026-01-01")
    assert response.usage == Usage(input_tokens=10, output_tokens=5, cache_read_tokens=7, reasoning_tokens=2)


async def test_a_whole_answer_is_read_as_a_streamed_one() -> None:
    body = json.dumps(finished("gpt-5-mini")).encode()
    response = await talk(Reply(headers=JSON, body=body), stream=False)
    assert (response.message, response.finish_reason) == (TURN, "stop")


def test_calls_are_folded_from_their_fragments_in_any_mixture() -> None:
    stream = [
        added(0, call_item()),
        added(1, call_item(call_id="call_2", name="cat")),
        arguments(1, '{"b"'),
        arguments(0, '{"a":'),
        arguments(1, ":2}"),
        arguments(0, "1}"),
        done(0, call_item('{"a":1}')),
        done(1, call_item('{"b":2}', "call_2", "cat")),
        end(output=[]),
    ]
    response = fold(b"".join(stream))
    assert response.message.tool_calls == (
        ToolCall(id="call_1", name="ls", args='{"a":1}'),
        ToolCall(id="call_2", name="cat", args='{"b":2}'),
    )
    assert response.finish_reason == "tool_calls"


def test_items_that_are_told_only_when_they_are_done_are_taken_whole() -> None:
    folded = StreamFold("openai-responses:m")
    events = EventDecoder().feed(done(0, said("Hi")) + done(1, call_item("{}")) + end())
    deltas = [folded.take(each.data) for each in events]
    assert folded.response().message == Message(
        role="assistant", content="Hi", tool_calls=(ToolCall(id="call_1", name="ls", args="{}"),)
    )
    assert deltas[0] == Delta(content="Hi")


def test_output_that_only_the_last_event_tells_is_taken_from_there() -> None:
    folded = StreamFold("openai-responses:m")
    (last,) = EventDecoder().feed(end())
    assert folded.take(last.data) == Delta(content="Hello", thinking="hm")
    assert folded.response().message == TURN


def test_items_are_told_apart_by_their_ids_where_a_server_gives_no_index() -> None:
    """As llama.cpp streams."""
    stream = [
        event("response.output_item.added", item=thought() | {"id": "rs"}),
        event("response.reasoning_text.delta", item_id="rs", delta="hm"),
        event("response.output_item.added", item=said("") | {"id": "m", "content": []}),
        event("response.output_text.delta", item_id="m", delta="Hi"),
        end(output=[]),
    ]
    message = fold(b"".join(stream)).message
    assert (message.content, message.thinking[0].text) == ("Hi", "hm")


def test_parts_of_a_summary_and_messages_of_a_turn_have_a_blank_line_between_two() -> None:
    summary = [
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=index, delta=text)
        for index, text in enumerate(("one", "two"))
    ]
    texts = [
        event("response.output_text.delta", output_index=index, content_index=0, delta=text)
        for index, text in ((1, "a"), (2, "b"))
    ]
    streamed_turn = fold(b"".join([added(0, thought()), *summary, *texts, end(output=[])])).message
    two = [{"type": "summary_text", "text": text} for text in ("one", "two")]
    output = [thought() | {"summary": two}, said("a"), said("b")]
    whole_turn = decode_response(json.dumps(finished("m", output=output)), origin="o").message
    for turn in (streamed_turn, whole_turn):
        assert (turn.content, turn.thinking[0].text) == ("a\n\nb", "one\n\ntwo")


def test_reasoning_between_a_text_and_a_call_keeps_its_place() -> None:
    output = [said("Well,"), thought(), call_item("{}")]
    turn = decode_response(json.dumps(finished("m", output=output)), origin="openai-responses:m").message
    request = ModelRequest(messages=[turn, Message(role="tool", tool_call_id="call_1", content="b")])
    body = json.loads(encode_request(request, model="m", origin="openai-responses:m", stream=False))
    kinds = [item["type"] for item in body["input"]]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output"]


def test_reasoning_that_is_not_encrypted_is_kept_and_not_sent_back() -> None:
    open_item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }
    turn = decode_response(json.dumps(finished("m", output=[open_item, said("Hi")])), origin="o").message
    assert (turn.thinking[0].text, turn.signed_by) == ("hm", "")
    body = json.loads(encode_request(ModelRequest(messages=[turn]), model="m", origin="o", stream=False))
    assert [item["type"] for item in body["input"]] == ["message"]


@pytest.mark.parametrize(
    ("reason", "meant"),
    [("max_output_tokens", "length"), ("content_filter", "content_filter"), ("odd", "odd")],
)
def test_an_answer_that_is_incomplete_says_why(reason: str, meant: str) -> None:
    fields = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    whole = decode_response(json.dumps(finished("m", **fields)), origin="o")
    last = event("response.incomplete", response=finished("m", **fields))
    assert (whole.finish_reason, fold(last).finish_reason) == (meant, meant)


def test_a_refusal_is_what_the_model_said() -> None:
    refused = said("") | {"content": [{"type": "refusal", "refusal": "No."}]}
    assert decode_response(json.dumps(finished("m", output=[refused])), origin="o").message.content == "No."
    told = event("response.refusal.delta", output_index=0, delta="No.") + end(output=[])
    assert fold(told).message.content == "No."


FAILED = finished("m", status="failed", error={"code": "server_error", "message": "It broke."})


@pytest.mark.parametrize(
    "stream",
    [
        event("error", code="server_error", message="It broke.", param=None),
        event("error", error={"type": "x", "code": "server_error", "message": "It broke."}),
        event("response.failed", response=FAILED),
    ],
    ids=["flat", "nested", "failed"],
)
async def test_an_error_in_mid_stream_is_told_in_the_words_of_the_provider(stream: bytes) -> None:
    with pytest.raises(ModelError, match=r"reported an error \(server_error\): It broke\.") as caught:
        await talk(Reply(headers=SSE, body=BEGUN + stream))
    assert (caught.value.code, caught.value.retryable) == ("server_error", True)


@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_in_an_answer_with_a_good_status_is_told(stream: bool) -> None:
    with pytest.raises(ModelError, match="It broke"):
        await talk(Reply(headers=JSON, body=json.dumps(FAILED).encode()), stream=stream)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refused_request_says_why_and_when_to_try_again(stream: bool) -> None:
    reply = failure(429, "rate_limit_exceeded", f"Slow down, {KEY}")
    limited = Reply(status=429, headers={**reply.headers, "Retry-After": "7"}, body=reply.body)
    with pytest.raises(ModelError, match="429") as caught:
        await talk(limited, stream=stream)
    error = caught.value
    assert (error.status_code, error.code, error.retryable, error.retry_after) == (
        429,
        "rate_limit_exceeded",
        True,
        7,
    )
    assert KEY not in str(error)


@pytest.mark.parametrize(
    "body",
    ["[]", "{}", '{"output": [1]}', '{"output": {}}', '{"output": [], "usage": {"input_tokens": "x"}}'],
)
def test_answers_of_another_shape_are_a_clear_error(body: str) -> None:
    with pytest.raises(ModelError, match="sent a"):
        decode_response(body, origin="o")


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "type"]), inner),
    max_leaves=6,
)
names = ["item", "response", "delta", "output_index", "item_id", "summary_index", "output", "usage", "status"]
kinds = ["response.output_item.added", "response.output_item.done", "response.output_text.delta"]
kinds += ["response.function_call_arguments.delta", "response.completed", "response.failed", "error", "odd"]
items = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "function_call", "reasoning", "odd"])},
    optional={"content": values, "summary": values, "arguments": values, "call_id": values, "id": values},
)
events = st.dictionaries(st.sampled_from(names), values | items | st.integers(0, 2), max_size=4).flatmap(
    lambda fields: st.sampled_from(kinds).map(lambda kind: {"type": kind, **fields})
)


@given(st.lists(events, max_size=6))
def test_any_events_are_read_or_refused_and_what_was_handed_out_is_kept(stream: list[dict[str, Any]]) -> None:
    folded = StreamFold("o")
    heard = ""
    try:
        for each in stream:
            delta = folded.take(json.dumps(each))
            heard += delta.content if delta is not None else ""
    except ModelError:
        pass
    assert not Counter(heard) - Counter(folded.response().message.content)


@pytest.mark.parametrize(
    ("model", "settings", "fields"),
    [
        ("gpt-5-mini", ModelSettings(thinking="adaptive"), {"reasoning": {"summary": "auto"}}),
        ("gpt-5-mini", ModelSettings(thinking="off"), {"reasoning": {"effort": "minimal"}}),
        ("gpt-5.2", ModelSettings(thinking="off"), {"reasoning": {"effort": "none"}}),
        ("gpt-5.2", ModelSettings(temperature=0.5), {"temperature": 0.5}),
        ("gpt-4o", ModelSettings(thinking="off", top_p=0.5), {"top_p": 0.5}),
        ("gpt-5-mini", ModelSettings(max_tokens=16), {"max_output_tokens": 16}),
    ],
)
def test_settings_travel_under_the_names_of_the_format(
    model: str, settings: ModelSettings, fields: dict[str, Any]
) -> None:
    request = ModelRequest(messages=REQUEST.messages, settings=settings)
    body = json.loads(encode_request(request, model=model, origin="o", stream=False))
    plain = json.loads(encode_request(REQUEST, model=model, origin="o", stream=False))
    assert body == plain | fields


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        ("gpt-5-mini", ModelSettings(max_tokens=15), "at least 16"),
        ("gpt-5-mini", ModelSettings(temperature=0.5), "no temperature"),
        ("o3", ModelSettings(top_p=0.5), "no top_p"),
        ("gpt-4o", ModelSettings(temperature=2.5), r"in \[0, 2\]"),
        ("gpt-5.2", ModelSettings(seed=1), "no seed"),
        ("gpt-5.2", ModelSettings(stop=("x",)), "no stop"),
        ("o3", ModelSettings(thinking="off"), "always reasons"),
        ("gpt-5-mini", ModelSettings(thinking=2048), "no budget"),
        ("gpt-4o", ModelSettings(thinking="adaptive"), "does not reason"),
    ],
)
def test_settings_that_the_provider_refuses_are_refused_before(
    model: str, settings: ModelSettings, reason: str
) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        encode_request(
            ModelRequest(messages=REQUEST.messages, settings=settings), model=model, origin="o", stream=False
        )


def test_instructions_tools_and_a_schema_stand_before_the_history() -> None:
    request = ModelRequest(
        messages=[Message(role="system", content="Be brief."), *REQUEST.messages],
        tools=[ToolSpec(name="ls", description="Lists.", schema='{"type":"object"}')],
        output_schema='{"type":"object"}',
    )
    body = json.loads(encode_request(request, model="gpt-4o", origin="o", stream=True))
    assert list(body)[-1] == "input"
    assert body["instructions"] == "Be brief."
    tool = {"type": "function", "name": "ls", "description": "Lists."}
    assert body["tools"] == [tool | {"parameters": {"type": "object"}, "strict": False}]
    assert body["text"]["format"]["schema"] == {"type": "object"}
    assert "include" not in body


def test_a_name_that_no_tool_may_have_is_refused() -> None:
    tools = [ToolSpec(name="a.b", description="", schema="{}")]
    with pytest.raises(ConfigurationError, match="up to 64"):
        encode_request(
            ModelRequest(messages=REQUEST.messages, tools=tools), model="m", origin="o", stream=False
        )
