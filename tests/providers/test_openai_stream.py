"""Streams, fragments of tool calls, and what can go wrong on the way, over a real loopback server."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.core.message import Message, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, StreamingModel
from golem_cli.core.usage import Usage
from golem_cli.providers.http import Timeouts
from golem_cli.providers.openai import OpenAIModel, list_models
from golem_cli.providers.openai.decode import StreamFold, decode_response, decode_usage
from golem_cli.providers.sse import EventDecoder
from tests.support.http_server import HttpServer, Reply, free_port

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
KEY = "sk-secret-0123456789"
SSE = {"Content-Type": "text/event-stream"}


def chunk(finish: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def call_chunk(*calls: dict[str, Any]) -> bytes:
    return chunk(tool_calls=list(calls))


DONE = b"data: [DONE]\n\n"


def fold(stream: bytes) -> ModelResponse:
    folded = StreamFold()
    for event in EventDecoder().feed(stream):
        folded.take(event.data, kind=event.kind)
    folded.check_complete()
    return folded.response()


def calls_of(stream: bytes) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.args) for call in fold(stream + DONE).message.tool_calls]


async def talk(
    *replies: Reply, stream: bool = True, deltas: list[Delta] | None = None, timeouts: Timeouts | None = None
) -> ModelResponse:
    with HttpServer(replies) as server:
        model = OpenAIModel(model="m", base_url=f"{server.url}/v1", api_key=KEY, timeouts=timeouts)
        try:
            if stream:
                return await model.stream(REQUEST, (deltas if deltas is not None else []).append)
            return await model.complete(REQUEST)
        finally:
            await model.aclose()


async def failure(*replies: Reply, stream: bool = True, **options: Any) -> ModelError:
    """The error of a request; its text is one short line that names the server and never the key."""
    with pytest.raises(ModelError) as caught:
        await talk(*replies, stream=stream, **options)
    text = str(caught.value)
    assert text.startswith("openai:m (127.0.0.1:")
    assert "\n" not in text
    assert len(text) < 450
    assert KEY not in text
    return caught.value


# The turn ------------------------------------------------------------------------------------------------


def test_the_adapter_is_a_streaming_model() -> None:
    assert isinstance(OpenAIModel(model="m", base_url="http://127.0.0.1:1"), StreamingModel)


TURN = (
    b"\xef\xbb\xbf: hello\r\n\r\n"
    + chunk(role="assistant", content="")
    + chunk(reasoning_content="hm ")
    + chunk(reasoning="so")
    + chunk(content="h\u00e9")
    + 'data: {"choices":[{"delta":{"content":"\U0001f600"}}]}\r\rdata: {"choices":\ndata: []}\n\n'.encode()
    + call_chunk({"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a"'}})
    + call_chunk({"index": 0, "function": {"arguments": ":1}"}})
    + chunk(finish="tool_calls")
    + b'data: {"model":"m-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,'
    + b'"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":2}}}\n\n'
    + DONE
)
TURN_RESPONSE = ModelResponse(
    message=Message(
        role="assistant",
        content="h\u00e9\U0001f600",
        thinking=(ThinkingBlock(text="hm so"),),
        tool_calls=(ToolCall(id="c1", name="f", args='{"a":1}'),),
    ),
    usage=Usage(input_tokens=9, output_tokens=4, cache_read_tokens=8, reasoning_tokens=2),
    finish_reason="tool_calls",
    model="m-1",
)


async def test_a_turn_of_every_sort_of_fragment_is_folded() -> None:
    deltas: list[Delta] = []
    assert await talk(Reply(body=TURN, headers=SSE), deltas=deltas) == TURN_RESPONSE
    assert "".join(delta.content for delta in deltas) == "h\u00e9\U0001f600"
    assert "".join(delta.thinking for delta in deltas) == "hm so"
    assert "".join(call.args_fragment for delta in deltas for call in delta.tool_calls) == '{"a":1}'


def test_a_stream_cut_at_any_byte_into_two_pieces_gives_the_same_turn() -> None:
    for position in range(len(TURN) + 1):
        decoder, folded = EventDecoder(), StreamFold()
        for piece in (TURN[:position], TURN[position:]):
            for event in decoder.feed(piece):
                folded.take(event.data, kind=event.kind)
        assert folded.response() == TURN_RESPONSE, position


async def test_a_stream_that_comes_byte_by_byte_gives_the_same_turn() -> None:
    pieces = [bytes([byte]) for byte in TURN]
    assert await talk(Reply(body=pieces, headers=SSE)) == TURN_RESPONSE


def test_a_connection_dropped_at_any_byte_is_an_error_until_the_turn_has_told_its_end() -> None:
    told = TURN.index(b'"finish_reason": "tool_calls"')
    told += TURN[told:].index(b"\n\n") + 2
    for position in range(len(TURN)):
        if position >= told:
            assert fold(TURN[:position]).finish_reason == "tool_calls"
        else:
            with pytest.raises(ModelError, match="dropped"):
                fold(TURN[:position])


async def test_a_compressed_stream_is_read() -> None:
    reply = Reply(body=gzip.compress(TURN), headers={**SSE, "Content-Encoding": "gzip"})
    assert await talk(reply) == TURN_RESPONSE


async def test_http_1_0_is_read() -> None:
    assert await talk(Reply(body=TURN, headers=SSE, framing="close")) == TURN_RESPONSE


async def test_a_server_that_does_not_stream_is_understood() -> None:
    body = b'{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}'
    deltas: list[Delta] = []
    response = await talk(Reply(body=body, headers={"Content-Type": "application/json"}), deltas=deltas)
    assert response.message.content == "whole"
    assert deltas == [Delta(content="whole")]


async def test_an_awaitable_callback_is_awaited() -> None:
    seen: list[str] = []

    async def collect(delta: Delta) -> None:
        await asyncio.sleep(0)
        seen.append(delta.content)

    with HttpServer([Reply(body=chunk(content="a") + chunk(content="b") + DONE, headers=SSE)]) as server:
        model = OpenAIModel(model="m", base_url=server.url)
        await model.stream(REQUEST, collect)
        await model.aclose()
    assert seen == ["a", "b"]


async def test_a_connection_serves_the_next_request_too() -> None:
    with HttpServer([Reply(body=[chunk(content="a"), DONE], headers=SSE)]) as server:
        model = OpenAIModel(model="m", base_url=server.url)
        for _ in range(3):
            await model.stream(REQUEST, lambda _: None)
        await model.aclose()
    assert (len(server.requests), server.connections) == (3, 1)


async def test_without_a_key_no_authorization_is_sent() -> None:
    with HttpServer([Reply(body=DONE, headers=SSE)]) as server:
        model = OpenAIModel(model="m", base_url=server.url)
        await model.stream(REQUEST, lambda _: None)
        await model.aclose()
    assert "authorization" not in server.requests[0].headers


async def test_a_given_client_is_used_and_left_open() -> None:
    with HttpServer([Reply(body=DONE, headers=SSE)]) as server:
        async with httpx.AsyncClient(headers={"x-mine": "1"}) as http:
            model = OpenAIModel(model="m", base_url=server.url, http=http)
            await model.stream(REQUEST, lambda _: None)
            await model.aclose()
            assert not http.is_closed
    assert server.requests[0].headers["x-mine"] == "1"


async def test_a_local_server_is_never_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{free_port()}")
    assert await talk(Reply(body=TURN, headers=SSE)) == TURN_RESPONSE


async def test_a_remote_server_is_asked_through_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with HttpServer([Reply(body=TURN, headers=SSE)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        model = OpenAIModel(model="m", base_url="http://models.example/v1", api_key=KEY)
        assert await model.stream(REQUEST, lambda _: None) == TURN_RESPONSE
        await model.aclose()
    assert proxy.requests[0].path == "http://models.example/v1/chat/completions"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1"),
        ("HTTP_PROXY", "gopher://user:password@127.0.0.1:1"),
        ("SSL_CERT_FILE", "/no/such/file"),
    ],
)
async def test_settings_of_the_environment_that_cannot_be_used_are_a_configuration_error(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    model = OpenAIModel(model="m", base_url="http://models.example/v1")
    with pytest.raises(ConfigurationError) as caught:
        await model.complete(REQUEST)
    assert "password" not in str(caught.value)


def test_event_loops_may_change_between_requests() -> None:
    with HttpServer([Reply(body=DONE, headers=SSE, framing="close")]) as server:
        model = OpenAIModel(model="m", base_url=server.url)
        for _ in range(2):
            asyncio.run(model.stream(REQUEST, lambda _: None))
    assert len(server.requests) == 2


# Tool calls ----------------------------------------------------------------------------------------------


def f(name: str | None = None, arguments: object = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(
            call_chunk({"index": 1, "id": "b", "function": f("g", "{")})
            + call_chunk({"index": 0, "id": "a", "function": f("f", "{")})
            + call_chunk({"index": 1, "function": f(None, "}")}, {"index": 0, "function": f(None, "}")}),
            [("a", "f", "{}"), ("b", "g", "{}")],
            id="interleaved",
        ),
        pytest.param(
            call_chunk({"id": "a", "function": f("f", "{")})
            + call_chunk({"function": f(None, "}")})
            + call_chunk({"id": "b", "function": f("g", "{")})
            + call_chunk({"id": "a", "function": f(None, " ")}, {"id": "b", "function": f(None, "}")}),
            [("a", "f", "{} "), ("b", "g", "{}")],
            id="no index, told apart by id",
        ),
        pytest.param(
            call_chunk({"function": f("f", "{}")}, {"function": f("f", "{}")}),
            [("", "f", "{}"), ("", "f", "{}")],
            id="neither index nor id: whole calls",
        ),
        pytest.param(
            call_chunk({"id": "call_0", "function": f("f", "{}")})
            + call_chunk({"id": "call_0", "function": f("f", '{"a":1}')}),
            [("call_0", "f", "{}"), ("call_0", "f", '{"a":1}')],
            id="no index, one id for all calls",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "call_0", "function": f("f", "{}")})
            + call_chunk({"index": 1, "id": "call_0", "function": f("g", "{}")}),
            [("call_0", "f", "{}"), ("call_0", "g", "{}")],
            id="one id for all calls",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("f", "{}")})
            + call_chunk({"index": 0, "id": "b", "function": f("g", "{")})
            + call_chunk({"index": 0, "function": f(None, "}")}),
            [("a", "f", "{}"), ("b", "g", "{}")],
            id="the same index for every call",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("ec", "{")})
            + call_chunk({"index": 0, "function": f("ho", "}")}),
            [("a", "echo", "{}")],
            id="a name in pieces",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("echo", "{")})
            + call_chunk({"index": 0, "id": "a", "function": f("echo", "}")}),
            [("a", "echo", "{}")],
            id="id and name with every fragment",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("f", {"a": [1.0, "\u00e9"]})}),
            [("a", "f", '{"a":[1.0,"\u00e9"]}')],
            id="arguments as an object",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("f", "")}), [("a", "f", "")], id="no arguments"
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("f")}), [("a", "f", "")], id="null arguments"
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("f", ' { "b" : 1e0,"b":2} ')}),
            [("a", "f", ' { "b" : 1e0,"b":2} ')],
            id="arguments verbatim",
        ),
        pytest.param(
            call_chunk({"index": 0, "id": "a", "function": f("f", '{"x": "cut')}),
            [("a", "f", '{"x": "cut')],
            id="arguments cut off",
        ),
        pytest.param(
            call_chunk({"index": 3, "id": "a", "function": f("f", "{}")}), [("a", "f", "{}")], id="a gap"
        ),
    ],
)
def test_fragments_of_calls_become_calls(stream: bytes, expected: list[tuple[str, str, str]]) -> None:
    assert calls_of(stream) == expected


@pytest.mark.parametrize("calls", [5, "x", [5], [{"index": "0"}], [{"function": "f"}], [{"index": 0.5}]])
def test_calls_of_another_shape_are_a_clear_error(calls: object) -> None:
    with pytest.raises(ModelError, match="sent a"):
        fold(chunk(tool_calls=calls) + DONE)


@given(st.lists(st.text(max_size=5), max_size=8))
def test_argument_text_is_what_the_fragments_say(fragments: list[str]) -> None:
    stream = call_chunk({"index": 0, "id": "a", "function": f("f", "")})
    stream += b"".join(call_chunk({"index": 0, "function": f(None, text)}) for text in fragments)
    assert calls_of(stream) == [("a", "f", "".join(fragments))]


# Reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("model_length", "length"),
        ("insufficient_system_resource", "insufficient_system_resource"),
        (None, ""),
    ],
)
def test_finish_reasons_are_normalized_and_unknown_ones_kept(told: str | None, meant: str) -> None:
    assert fold(chunk(finish=told, content="a") + DONE).finish_reason == meant


def test_blocks_of_content_are_read_as_text_and_thinking() -> None:
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": "b"},
    ]
    message = fold(chunk(content=content) + DONE).message
    assert (message.content, message.thinking) == ("ab", (ThinkingBlock(text="hm"),))


def test_a_refusal_is_what_the_model_said() -> None:
    assert fold(chunk(refusal="I will not.") + DONE).message.content == "I will not."


def test_reasoning_that_a_server_sends_under_both_names_is_read_once() -> None:
    message = fold(chunk(reasoning_content="hm", reasoning="hm", content="a") + DONE).message
    assert message.thinking == (ThinkingBlock(text="hm"),)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 5, "prompt_cache_hit_tokens": 3}, Usage(input_tokens=5, cache_read_tokens=3)),
        (
            {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 2}},
            Usage(input_tokens=5, cache_read_tokens=1, cache_write_tokens=2),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Usage(input_tokens=5, output_tokens=12, reasoning_tokens=10),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 12,
                "total_tokens": 17,
                "completion_tokens_details": {"reasoning_tokens": 10},
            },
            Usage(input_tokens=5, output_tokens=12, reasoning_tokens=10),
        ),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, Usage()),
    ],
)
def test_usage_counts_cached_and_reasoning_tokens_within_their_sums(
    usage: dict[str, Any], expected: Usage
) -> None:
    assert decode_usage(usage) == expected


def test_the_cost_that_a_service_tells_is_kept() -> None:
    body = '{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"cost":0.25}}'
    assert decode_response(body).cost == 0.25


def test_json_that_the_fast_reader_refuses_is_read() -> None:
    body = '{"choices":[{"message":{"content":"cut \\ud83d"}}],"x":1e999,"y":' + "9" * 50 + "}"
    assert decode_response(body).message.content == "cut \ufffd"


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 3, "9" * 5000, "\ud83d", "[1]", '{"choices":[[]]}'])
def test_hostile_json_is_a_clear_error(text: str) -> None:
    with pytest.raises(ModelError):
        decode_response(text)


NAMES = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "index",
    "usage",
    "cost",
    "error",
    "code",
    "type",
    "model",
    "prompt_tokens",
    "completion_tokens_details",
    "reasoning_content",
    "finish_reason",
    "thinking",
    "text",
]
shapes = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "a", "text", "\ud83d", "stop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=25,
)


@given(shapes, st.sampled_from(["delta", "message"]))
def test_any_json_is_read_or_refused_and_its_texts_can_be_encoded(value: object, field: str) -> None:
    for document in (value, {"choices": [{field: value}]}, {"choices": [{field: {"tool_calls": [value]}}]}):
        folded = StreamFold()
        try:
            folded.take(json.dumps(document), field=field)
        except ModelError as error:
            str(error).encode()
        message = folded.response().message
        texts = [message.content, *(block.text for block in message.thinking)]
        texts += [text for call in message.tool_calls for text in (call.id, call.name, call.args)]
        "".join(texts).encode()


# Faults --------------------------------------------------------------------------------------------------


async def test_a_server_that_hangs_in_mid_answer_runs_into_the_time_limit() -> None:
    deltas: list[Delta] = []
    reply = Reply(body=chunk(content="Hel"), headers=SSE, end="hang")
    error = await failure(reply, deltas=deltas, timeouts=Timeouts(read=0.05))
    assert error.retryable
    assert deltas == [Delta(content="Hel")]


async def test_a_finished_turn_is_kept_when_the_server_then_hangs() -> None:
    reply = Reply(body=chunk(content="Hel", finish="stop"), headers=SSE, end="hang")
    assert (await talk(reply, timeouts=Timeouts(read=0.05))).finish_reason == "stop"


@pytest.mark.parametrize("end", ["cut", "reset"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_a_connection_dropped_in_mid_word_is_told_and_what_arrived_was_handed_out(
    end: Any, framing: Any
) -> None:
    deltas: list[Delta] = []
    gate = threading.Event()
    reply = Reply(body=[chunk(content="Hel"), gate, b'data: {"cho'], headers=SSE, end=end, framing=framing)
    with HttpServer([reply]) as server:
        model = OpenAIModel(model="m", base_url=server.url)

        def collect(delta: Delta) -> None:
            deltas.append(delta)
            gate.set()

        with pytest.raises(ModelError, match="dropped") as caught:
            await model.stream(REQUEST, collect)
        await model.aclose()
    assert caught.value.retryable
    assert deltas == [Delta(content="Hel")]


@pytest.mark.parametrize(
    ("event", "code", "status", "retryable"),
    [
        ('data: {"error":{"code":502,"message":"upstream\\nfailed"},"choices":[]}', "502", 502, True),
        (
            'data: {"error":{"code":"rate_limit_exceeded","message":"slow"}}',
            "rate_limit_exceeded",
            None,
            True,
        ),
        ('data: {"error":{"code":400,"message":"bad"}}', "400", 400, False),
        ('data: {"error":"plain"}', "", None, False),
        ('event: error\ndata: {"message":"bad","type":"server_error"}', "server_error", None, True),
    ],
)
async def test_an_error_in_mid_stream_is_told_in_the_words_of_the_provider(
    event: str, code: str, status: int | None, retryable: bool
) -> None:
    deltas: list[Delta] = []
    body = chunk(content="Hel") + event.encode() + b"\n\n" + DONE
    error = await failure(Reply(body=body, headers=SSE), deltas=deltas)
    assert (error.code, error.status_code, error.retryable) == (code, status, retryable)
    assert deltas == [Delta(content="Hel")]


async def test_an_error_in_an_answer_with_a_good_status_is_told() -> None:
    error = await failure(Reply(body=b'{"error":{"code":429,"message":"slow down"}}'), stream=False)
    assert "slow down" in str(error)
    assert error.retryable


@pytest.mark.parametrize("stream", [True, False])
async def test_a_web_page_is_called_one(stream: bool) -> None:
    html = {"Content-Type": "text/html; charset=utf-8"}
    for status in (200, 404, 502):
        error = await failure(Reply(status=status, body=b"<html>" + b"x" * 9000, headers=html), stream=stream)
        assert "web page" in str(error)
        assert error.status_code == status


async def test_a_key_that_the_provider_repeats_is_not_shown() -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}})
    error = await failure(Reply(status=401, body=body.encode()))
    assert "check the API key" in str(error)
    assert error.code == "invalid_api_key"


@pytest.mark.parametrize("stream", [True, False])
async def test_garbage_that_claims_to_be_compressed_is_an_error(stream: bool) -> None:
    error = await failure(Reply(body=b"no gzip", headers={"Content-Encoding": "gzip"}), stream=stream)
    assert "compressed" in str(error)


@pytest.mark.parametrize(
    "url", ["", "ftp://x.example", "http://", "http://[", "http://x.example:port", "x.example"]
)
def test_an_address_that_is_none_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError, match="base URL"):
        OpenAIModel(model="m", base_url=url)


@pytest.mark.parametrize("key", ["sk-secret\nX-Evil: 1", "sk secret", "sk-sécret"])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIModel(model="m", base_url="http://127.0.0.1:1", api_key=key)
    assert "cret" not in str(caught.value)


# The list of models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [b'{"object":"list","data":[{"id":"a"},{"id":"b"}]}', b'[{"id":"a"},{"id":"b"}]']
)
async def test_models_are_listed(body: bytes) -> None:
    with HttpServer([Reply(body=body)]) as server:
        assert await list_models(base_url=f"{server.url}/v1", api_key=KEY) == ["a", "b"]
    assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")


@pytest.mark.parametrize("body", [b"ok", b"{}", b'{"data":[{"id":5}]}', b"null"])
async def test_a_server_of_another_kind_lists_no_models(body: bytes) -> None:
    with HttpServer([Reply(body=body)]) as server, pytest.raises(ModelError):
        await list_models(base_url=server.url)


async def test_a_silent_server_is_left_within_the_time_given() -> None:
    with HttpServer([Reply(silent=True)]) as server:
        with pytest.raises(ModelError, match=r"within 0\.05 s"):
            await list_models(base_url=server.url, timeout=0.05)
        assert await asyncio.to_thread(server.left.wait, 10)


@pytest.mark.parametrize("url", ["htp://user:hunter2@host/v1", "http://user:hunter2@host:99x/v1"])
def test_a_password_in_a_bad_base_url_is_not_shown(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIModel(model="m", base_url=url)
    assert "hunter2" not in str(caught.value)
