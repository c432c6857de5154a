"""Answers of Gemini's, streamed and whole, and what can go wrong on the way, over a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.core.history import budget_history
from golem_cli.core.message import Message, ThinkingBlock, ToolCall
from golem_cli.core.model import (
    Delta,
    ModelRequest,
    ModelResponse,
    StreamingModel,
    ToolCallDelta,
    WindowedModel,
)
from golem_cli.core.usage import Usage
from golem_cli.providers.gemini import GeminiModel
from golem_cli.providers.gemini.decode import StreamFold, decode_response
from golem_cli.providers.http import Timeouts
from golem_cli.providers.sse import EventDecoder
from tests.support.http_server import HttpServer, Reply
from tests.support.strict_gemini import answer, event, failure, streamed, strict_server, text, usage

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
KEY = "AIza-secret-0123456789"
SSE = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
WHOLE = streamed("gemini-3.8-flash")
TURN = Message(
    role="assistant",
    content="Hello",
    thinking=(
        ThinkingBlock(text="hm"),
        ThinkingBlock(signature="signed by gemini-3.8-flash", extra={"after": "[5,0]", "signs": "0"}),
    ),
    signed_by="gemini:m",
)


def fold(stream: bytes) -> ModelResponse:
    numbers = iter(range(100))
    folded = StreamFold("gemini:m", name_call=lambda: str(next(numbers)))
    for each in EventDecoder().feed(stream):
        folded.take(each.data)
    folded.check_complete()
    return folded.response()


async def talk(
    *replies: Reply, stream: bool = True, deltas: list[Delta] | None = None, timeouts: Timeouts | None = None
) -> ModelResponse:
    with HttpServer(replies) as server:
        model = GeminiModel(model="m", base_url=server.url, api_key=KEY, timeouts=timeouts)
        try:
            if not stream:
                return await model.complete(REQUEST)
            return await model.stream(REQUEST, lambda _: None if deltas is None else deltas.append(_))
        finally:
            await model.aclose()


def test_the_adapter_streams_and_leaves_the_length_of_answers_alone() -> None:
    """A model with a window would have its answers bound to what the window leaves."""
    model = GeminiModel(model="m")
    assert isinstance(model, StreamingModel)
    assert not isinstance(model, WindowedModel)
    assert model.name == "gemini:m"


async def test_a_turn_is_folded_and_its_fragments_are_handed_out() -> None:
    deltas: list[Delta] = []
    response = await talk(Reply(headers=SSE, body=WHOLE), deltas=deltas)
    assert response.message == TURN
    assert deltas == [Delta(thinking="hm"), Delta(content="Hel"), Delta(content="lo")]
    assert (response.finish_reason, response.model) == ("stop", "gemini-3.8-flash")
    assert response.usage == Usage(input_tokens=10, output_tokens=5, cache_read_tokens=7, reasoning_tokens=2)


@pytest.mark.parametrize("framing", ["chunked", "close"])
async def test_a_body_that_ends_without_a_reason_is_an_error_and_what_arrived_was_handed_out(
    framing: Any,
) -> None:
    """Also where the end of the connection is the end of the body, and nothing else tells the cut."""
    deltas: list[Delta] = []
    cut = WHOLE[: WHOLE.index(b'"lo"')]
    with pytest.raises(ModelError, match=r"gemini:m \(127.0.0.1:\d+\): the connection was dropped") as caught:
        await talk(Reply(headers=SSE, body=cut, framing=framing), deltas=deltas)
    assert deltas[-1] == Delta(content="Hel")
    assert caught.value.retryable


def test_a_reason_that_comes_with_every_event_ends_nothing() -> None:
    """As models of 2024 sent it, and as translators do; the last event decides."""
    early = event(answer(finishReason="STOP")) + event(answer(text("Hel"), finishReason="STOP"))
    assert fold(early + event(answer(text("lo"), finishReason="MAX_TOKENS"))).message.content == "Hello"
    with pytest.raises(ModelError, match="dropped"):
        fold(early + event(answer(text("lo"))))


def test_a_reason_and_the_usage_may_come_in_events_of_their_own() -> None:
    """Such an end lost its reason elsewhere: agentjido/req_llm issue 638."""
    last = {"candidates": [{"finishReason": "MAX_TOKENS"}]} | usage(candidatesTokenCount=4)
    response = fold(event(answer(text("x"))) + event(last) + event(usage(candidatesTokenCount=5)))
    assert (response.finish_reason, response.usage.output_tokens) == ("length", 7)


# Calls


def function(name: str = "ls", signature: str = "", **fields: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": name, **fields}}
    return part | ({"thoughtSignature": signature} if signature else {})


async def test_calls_keep_their_ids_signatures_and_places() -> None:
    parts = [
        text("Let me look."),
        function(id="c1", args={"path": "/"}, signature="s1"),
        function(id="c2", args={}),
    ]
    deltas: list[Delta] = []
    response = await talk(Reply(headers=SSE, body=event(answer(*parts, finishReason="STOP"))), deltas=deltas)
    assert response.finish_reason == "tool_calls"
    assert response.message == Message(
        role="assistant",
        content="Let me look.",
        tool_calls=(
            ToolCall(id="c1", name="ls", args='{"path":"/"}', signature="s1"),
            ToolCall(id="c2", name="ls", args="{}"),
        ),
        signed_by="gemini:m",
    )
    fragments = (
        ToolCallDelta(index=0, id="c1", name="ls", args_fragment='{"path":"/"}'),
        ToolCallDelta(index=1, id="c2", name="ls", args_fragment="{}"),
    )
    assert deltas == [Delta(content="Let me look.", tool_calls=fragments)]


def test_a_call_without_an_id_gets_one_of_its_own() -> None:
    """Models before Gemini 3 give none; a call without an id could not be paired with its result."""
    stream = event(answer(function(args={}), function(args=None), finishReason="STOP"))
    first, second = fold(stream).message.tool_calls
    assert (first.id, second.id) == ("call_0", "call_1")
    minted = decode_response(json.dumps(answer(function(), function())), origin="").message.tool_calls
    assert len({call.id for call in minted}) == 2


def test_arguments_keep_their_numbers_and_repeated_keys_without_the_white_space_of_the_body() -> None:
    call = '{"functionCall": {"name": "f", "args": {\n  "n" : 1.50,\n  "n" : 1e400, "t": " a  b " }}}'
    body = f'{{"candidates": [{{"content": {{"parts": [{{"text": "x"}}, {call}]}}}}]}}'
    [read] = decode_response(body, origin="").message.tool_calls
    assert read.args == '{"n":1.50,"n":1e400,"t":" a  b "}'


def test_a_signed_part_of_text_stays_apart_and_remembers_its_length() -> None:
    parts = [text("So "), text("it is", thoughtSignature="s"), function(id="c"), text("."), text("!")]
    message = fold(event(answer(*parts, finishReason="STOP"))).message
    assert message.content == "So it is.!"
    assert message.thinking == (ThinkingBlock(signature="s", extra={"after": "[3,0]", "signs": "5"}),)


# Endings


@pytest.mark.parametrize(
    ("told", "meant"),
    [("STOP", "stop"), ("MAX_TOKENS", "length"), ("SOMETHING_NEW", "SOMETHING_NEW")],
)
def test_finish_reasons_are_normalized_and_unknown_ones_kept(told: str, meant: str) -> None:
    assert fold(event(answer(text("x"), finishReason=told))).finish_reason == meant
    whole = decode_response(json.dumps(answer(text("x"), finishReason=told)), origin="")
    assert whole.finish_reason == meant


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reason", "words", "retryable"),
    [
        ("SAFETY", "stopped the answer for safety", False),
        ("RECITATION", "since it recited its sources", False),
        ("LANGUAGE", "does not know the language", False),
        ("BLOCKLIST", "for a forbidden word", False),
        ("PROHIBITED_CONTENT", "for prohibited content", False),
        ("SPII", "for personal data", False),
        ("IMAGE_SAFETY", "safety of an image", False),
        ("OTHER", "a reason that it does not name", True),
        ("MALFORMED_FUNCTION_CALL", "a tool call that it could not write", True),
        ("UNEXPECTED_TOOL_CALL", "a tool that it was not given", True),
        ("TOO_MANY_TOOL_CALLS", "too many tool calls", False),
        ("MISSING_THOUGHT_SIGNATURE", "a signature that the history lacks", False),
    ],
)
async def test_an_answer_that_was_stopped_is_a_failure_that_says_why(
    reason: str, words: str, retryable: bool, stream: bool
) -> None:
    """The reasons are those of the reference's `FinishReason`."""
    ended = answer(finishReason=reason, finishMessage="because\nso")
    body = event(ended) if stream else json.dumps(ended).encode()
    with pytest.raises(ModelError, match=words) as caught:
        await talk(Reply(headers=SSE if stream else JSON, body=body), stream=stream)
    assert (caught.value.code, caught.value.retryable) == (reason, retryable)
    assert str(caught.value).endswith(f"({reason}; because so)")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_prompt_that_was_blocked_is_a_failure_that_names_the_harm(stream: bool) -> None:
    ratings = [
        {"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"},
        {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True},
    ]
    told = {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": ratings}} | usage()
    body = event(told) if stream else json.dumps(told).encode()
    with pytest.raises(ModelError) as caught:
        await talk(Reply(headers=SSE if stream else JSON, body=body), stream=stream)
    assert str(caught.value).endswith("refused the prompt for safety (SAFETY; dangerous content)")
    assert (caught.value.code, caught.value.retryable) == ("SAFETY", False)


# Faults


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "word", "retryable"),
    [
        (400, "INVALID_ARGUMENT", False),
        (400, "FAILED_PRECONDITION", False),
        (403, "PERMISSION_DENIED", False),
        (404, "NOT_FOUND", False),
        (429, "RESOURCE_EXHAUSTED", True),
        (500, "INTERNAL", True),
        (503, "UNAVAILABLE", True),
        (504, "DEADLINE_EXCEEDED", True),
    ],
)
async def test_a_refusal_is_told_in_the_words_of_the_provider(
    status: int, word: str, retryable: bool, stream: bool
) -> None:
    """The statuses and words are those of the page "Troubleshooting"."""
    with pytest.raises(ModelError, match=rf"{status} \({word}\): that is why") as caught:
        await talk(failure(status, word, "that is why"), stream=stream)
    error = caught.value
    assert (error.status_code, error.code, error.retryable) == (status, word, retryable)
    assert KEY not in str(error)


@pytest.mark.parametrize("as_list", [False, True])
async def test_how_long_to_wait_is_read_from_the_details(as_list: bool) -> None:
    """Google sends no `Retry-After`: dcdpr/jp pull request 1061."""
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.837906927s"}
    refused = failure(429, "RESOURCE_EXHAUSTED", "slow down", {"@type": "help"}, info)
    assert isinstance(refused.body, bytes)
    body = b"[" + refused.body + b"]" if as_list else refused.body
    with pytest.raises(ModelError, match="slow down") as caught:
        await talk(Reply(status=429, headers=JSON, body=body))
    assert caught.value.retry_after == 45.837906927


async def test_an_error_in_mid_stream_says_so() -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    with pytest.raises(ModelError, match=r"reported an error \(UNAVAILABLE\): The model is over") as caught:
        await talk(Reply(headers=SSE, body=event(answer(text("Hel"))) + event(error)))
    assert (caught.value.code, caught.value.retryable, caught.value.status_code) == ("UNAVAILABLE", True, 503)


@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_in_an_answer_with_a_good_status_is_told(stream: bool) -> None:
    body = b'[{"error": {"code": 400, "message": "Overloaded", "status": "X"}}]'
    with pytest.raises(ModelError, match="Overloaded"):
        await talk(Reply(headers=JSON, body=body), stream=stream)


async def test_the_key_travels_in_a_header_and_never_in_the_address() -> None:
    with HttpServer([Reply(headers=SSE, body=WHOLE)]) as server:
        model = GeminiModel(model="models/gemini-x/../y", base_url=server.url, api_key=KEY)
        await model.stream(REQUEST, lambda _: None)
        await model.aclose()
    [request] = server.requests
    assert request.path == "/v1beta/models/gemini-x%2F..%2Fy:streamGenerateContent?alt=sse"
    assert request.headers["x-goog-api-key"] == KEY
    assert KEY.encode() not in request.body


async def test_without_a_key_none_is_sent() -> None:
    whole = json.dumps(answer(text("x"))).encode()
    with HttpServer([Reply(headers=JSON, body=whole)]) as server:
        model = GeminiModel(model="m", base_url=server.url, headers={"X-Team": "a"})
        await model.complete(REQUEST)
        await model.aclose()
    headers = server.requests[0].headers
    assert "x-goog-api-key" not in headers
    assert "authorization" not in headers
    assert headers["x-team"] == "a"


def test_a_key_that_is_none_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        GeminiModel(model="m", api_key="AIza\nsecret")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        *("[]", "1", "null", "{}", "{", "[" * 100_000, '{"candidates": {}}', '{"candidates": [1]}'),
        *('{"candidates": [{"content": {"parts": [1]}}]}', '{"usageMetadata": {"promptTokenCount": "1"}}'),
        '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": [1]}}]}}]}',
    ],
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
names = ["text", "thought", "thoughtSignature", "functionCall", "name", "args", "id", "inlineData", "parts"]
parts = st.dictionaries(
    st.sampled_from(names),
    json_values | st.dictionaries(st.sampled_from(names), json_values, max_size=4),
    max_size=4,
)


@given(st.lists(parts, max_size=4), st.dictionaries(st.sampled_from(["finishReason", "usage"]), json_values))
def test_any_event_is_read_or_refused_and_its_texts_can_be_encoded(
    said: list[dict[str, Any]], fields: dict[str, Any]
) -> None:
    folded = StreamFold("")
    try:
        folded.take(json.dumps(answer(*said, **fields)))
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
        Message(role="system", content="Be brief."),
    ]
    with strict_server() as server:
        model = GeminiModel(model="gemini-3.8-flash", base_url=server.url, api_key=KEY)
        counts = [await model.count(history[start:]) for start in range(4)]
        await model.aclose()
    assert counts[3] == 0  # nothing, and nobody was asked
    assert counts[0] > counts[1] == counts[2] > 0
    assert {request.path for request in server.requests} == {"/v1beta/models/gemini-3.8-flash:countTokens"}
    [*_, last] = [json.loads(request.body)["generateContentRequest"] for request in server.requests]
    assert last["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert len(server.requests) == 3


async def test_a_budget_works_with_the_counter() -> None:
    history = [Message(role="user", content="x" * 100), Message(role="user", content="hi")]
    with strict_server() as server:
        model = GeminiModel(model="gemini-3.8-flash", base_url=server.url, api_key=KEY)
        kept = budget_history(model.count, 100)(history)
        assert not isinstance(kept, list)
        assert await kept == history[1:]
        await model.aclose()


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"totalTokens": "9"}'])
async def test_a_count_that_is_none_is_an_error(body: bytes) -> None:
    with HttpServer([Reply(headers=JSON, body=body)]) as server:
        model = GeminiModel(model="m", base_url=server.url)
        with pytest.raises(ModelError, match="gemini:m"):
            await model.count([Message(role="user", content="hi")])
        await model.aclose()
