"""Answers of the Messages API, streamed and whole, and what can go wrong on the way, over a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.core.history import budget_history
from golem_cli.core.message import Message, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, StreamingModel, WindowedModel
from golem_cli.core.usage import Usage
from golem_cli.providers.anthropic import AnthropicModel
from golem_cli.providers.anthropic.decode import StreamFold, decode_response
from golem_cli.providers.http import Timeouts
from golem_cli.providers.sse import EventDecoder
from tests.support.http_server import HttpServer, Reply
from tests.support.strict_anthropic import event, failure, piece, started, streamed, strict_server, text

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
KEY = "sk-ant-secret-0123456789"
SSE = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
WHOLE = streamed("claude-opus-5")
TURN = Message(
    role="assistant",
    content="Hello",
    thinking=(ThinkingBlock(text="hm", signature="signed by claude-opus-5"),),
    signed_by="anthropic:m",
)


def fold(stream: bytes) -> ModelResponse:
    folded = StreamFold("anthropic:m")
    for each in EventDecoder().feed(stream):
        folded.take(each.data, kind=each.kind)
    folded.check_complete()
    return folded.response()


async def talk(
    *replies: Reply, stream: bool = True, deltas: list[Delta] | None = None, timeouts: Timeouts | None = None
) -> ModelResponse:
    with HttpServer(replies) as server:
        model = AnthropicModel(model="m", base_url=server.url, api_key=KEY, timeouts=timeouts)
        try:
            if not stream:
                return await model.complete(REQUEST)
            return await model.stream(REQUEST, lambda _: None if deltas is None else deltas.append(_))
        finally:
            await model.aclose()


def test_the_adapter_streams_and_leaves_the_length_of_answers_alone() -> None:
    """A model with a window would have its answers bound to what the window leaves."""
    model = AnthropicModel(model="m")
    assert isinstance(model, StreamingModel)
    assert not isinstance(model, WindowedModel)
    assert model.name == "anthropic:m"


async def test_a_turn_is_folded_and_its_fragments_are_handed_out() -> None:
    deltas: list[Delta] = []
    response = await talk(Reply(headers=SSE, body=WHOLE), deltas=deltas)
    assert response.message == TURN
    assert deltas == [Delta(thinking="hm"), Delta(content="Hel"), Delta(content="lo")]
    assert (response.finish_reason, response.model) == ("stop", "claude-opus-5")
    assert response.usage == Usage(input_tokens=10, output_tokens=5, cache_read_tokens=7, reasoning_tokens=2)


async def test_a_server_that_is_overloaded_in_mid_stream_says_so() -> None:
    error = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    with pytest.raises(ModelError, match=r"reported an error \(overloaded_error\): Overloaded") as caught:
        await talk(Reply(headers=SSE, body=WHOLE[: WHOLE.index(b"event: ping")] + error))
    assert (caught.value.code, caught.value.retryable, caught.value.status_code) == (
        "overloaded_error",
        True,
        None,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "invalid_request_error", False),
        (401, "authentication_error", False),
        (403, "permission_error", False),
        (404, "not_found_error", False),
        (413, "request_too_large", False),
        (429, "rate_limit_error", True),
        (500, "api_error", True),
        (529, "overloaded_error", True),
    ],
)
async def test_a_refusal_is_told_in_the_words_of_the_provider(
    status: int, kind: str, retryable: bool, stream: bool
) -> None:
    """The statuses and kinds are those of the page "Errors"."""
    reply = failure(status, kind, "that is why")
    reply = Reply(status=status, headers={**JSON, "Retry-After": "7"}, body=reply.body)
    with pytest.raises(ModelError, match=rf"{status} \({kind}\): that is why") as caught:
        await talk(reply, stream=stream)
    error = caught.value
    assert (error.status_code, error.code, error.retryable) == (status, kind, retryable)
    assert error.retry_after == 7
    assert KEY not in str(error)


@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_in_an_answer_with_a_good_status_is_told(stream: bool) -> None:
    body = failure(200, "overloaded_error", "Overloaded").body
    with pytest.raises(ModelError, match="Overloaded") as caught:
        await talk(Reply(headers=JSON, body=body), stream=stream)
    assert caught.value.retryable


async def test_without_a_key_none_is_sent() -> None:
    with HttpServer([Reply(headers=JSON, body=b'{"content":[]}')]) as server:
        model = AnthropicModel(model="m", base_url=server.url, headers={"X-Team": "a"})
        await model.complete(REQUEST)
        await model.aclose()
    headers = server.requests[0].headers
    assert "x-api-key" not in headers
    assert "authorization" not in headers
    assert headers["x-team"] == "a"


def test_a_key_that_is_none_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        AnthropicModel(model="m", api_key="sk-ant\nsecret")
    assert "secret" not in str(caught.value)


def test_thinking_in_the_midst_of_a_turn_remembers_its_place() -> None:
    stream = b"".join(
        [
            started(0, {"type": "redacted_thinking", "data": "x1"}),
            started(1, text("So")),
            started(2, {"type": "thinking", "thinking": "", "signature": ""}),
            piece(2, "signature_delta", signature="s"),
            started(3, {"type": "tool_use", "id": "a", "name": "ls", "input": {}}),
            piece(3, "input_json_delta", partial_json=""),
            piece(3, "input_json_delta", partial_json='{"p": '),
            piece(3, "input_json_delta", partial_json="1.0}"),
            event("message_stop"),
        ]
    )
    message = fold(stream).message
    assert message.thinking == (
        ThinkingBlock(redacted="x1"),
        ThinkingBlock(signature="s", extra={"after": "[2,0]"}),
    )
    assert message.content == "So"
    assert message.tool_calls == (ToolCall(id="a", name="ls", args='{"p": 1.0}'),)


def test_arguments_of_a_whole_answer_keep_their_text() -> None:
    body = '{"content": [{"type": "tool_use", "id": "a", "name": "f", "input": { "n" : 1.50, "n" : 1e400 }}]}'
    [call] = decode_response(body, origin="").message.tool_calls
    assert call.args == '{ "n" : 1.50, "n" : 1e400 }'


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
        ("something_new", "something_new"),
        (None, ""),
    ],
)
def test_finish_reasons_are_normalized_and_unknown_ones_kept(told: str | None, meant: str) -> None:
    """The reasons are those of the page "Stop reasons and fallback"."""
    stream = event("message_delta", delta={"stop_reason": told}) + event("message_stop")
    assert fold(stream).finish_reason == meant
    whole = decode_response(json.dumps({"content": [], "stop_reason": told}), origin="")
    assert whole.finish_reason == meant


async def test_a_refusal_that_said_nothing_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not that."}
    stream = event("message_delta", delta={"stop_reason": "refusal", "stop_details": details})
    deltas: list[Delta] = []
    response = await talk(Reply(headers=SSE, body=stream + event("message_stop")), deltas=deltas)
    assert (response.message.content, response.finish_reason) == ("Not that.", "content_filter")
    assert deltas == [Delta(content="Not that.")]


@pytest.mark.parametrize(
    "body", ["[]", "1", "null", "{}", "{", '{"content": {}}', '{"content": [1]}', "[" * 100_000]
)
def test_an_answer_of_another_shape_is_a_clear_error(body: str) -> None:
    with pytest.raises(ModelError) as caught:
        decode_response(body, origin="")
    assert "\n" not in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("\ud83d"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
names = [
    "type",
    "index",
    "delta",
    "content_block",
    "message",
    "usage",
    "text",
    "input",
    "error",
    "partial_json",
]
kinds = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "text_delta",
    "tool_use",
]


@given(
    st.dictionaries(
        st.sampled_from(names),
        json_values | st.dictionaries(st.sampled_from(names), json_values | st.sampled_from(kinds)),
    ),
    st.sampled_from(kinds),
)
def test_any_event_is_read_or_refused_and_its_texts_can_be_encoded(value: dict[str, Any], kind: str) -> None:
    folded = StreamFold("")
    try:
        folded.take(json.dumps(value | {"type": kind}))
    except ModelError as error:
        str(error).encode()
        return
    message = folded.response().message
    "".join([message.content, *(call.args + call.name + call.id for call in message.tool_calls)]).encode()


# The counter


async def test_messages_are_counted_by_the_server_in_the_form_in_which_they_travel() -> None:
    history = [
        Message(role="assistant", tool_calls=(ToolCall(id="a|b", name="ls"),)),
        Message(role="tool", tool_call_id="orphan"),
        Message(role="user", content="hi"),
    ]
    with strict_server() as server:
        model = AnthropicModel(model="claude-opus-5", base_url=server.url, api_key=KEY)
        counts = [await model.count(history[start:]) for start in range(4)]
        await model.aclose()
    assert counts[3] == 0  # nothing, and nobody was asked
    assert counts[0] > counts[1] == counts[2] > 0
    assert {request.path for request in server.requests} == {"/v1/messages/count_tokens"}
    assert len(server.requests) == 3


async def test_a_budget_works_with_the_counter() -> None:
    history = [Message(role="user", content="x" * 100), Message(role="user", content="hi")]
    with strict_server() as server:
        model = AnthropicModel(model="claude-opus-5", base_url=server.url, api_key=KEY)
        kept = budget_history(model.count, 100)(history)
        assert not isinstance(kept, list)
        assert await kept == history[1:]
        await model.aclose()


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"input_tokens": "9"}'])
async def test_a_count_that_is_none_is_an_error(body: bytes) -> None:
    with HttpServer([Reply(headers=JSON, body=body)]) as server:
        model = AnthropicModel(model="m", base_url=server.url)
        with pytest.raises(ModelError, match="anthropic:m"):
            await model.count([Message(role="user", content="hi")])
        await model.aclose()
