"""Answers of Converse, streamed and whole, and what can go wrong on the way, over a real server."""

from __future__ import annotations

import base64
import contextlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ModelError
from golem_cli.core.history import budget_history
from golem_cli.core.message import Message, ThinkingBlock, ToolCall
from golem_cli.core.model import (
    CountingModel,
    Delta,
    ModelRequest,
    ModelResponse,
    ToolCallDelta,
    WindowedModel,
)
from golem_cli.core.usage import Usage
from golem_cli.providers.bedrock import BedrockModel
from golem_cli.providers.bedrock.decode import StreamFold, decode_response
from golem_cli.providers.bedrock.frames import FrameDecoder
from golem_cli.providers.http import Timeouts
from tests.support.event_stream import event, exception, frame
from tests.support.http_server import HttpServer, Reply
from tests.support.strict_bedrock import (
    BEARER,
    HAIKU,
    REGION,
    SIGNED,
    STREAM,
    delta,
    failure,
    stopped,
    streamed,
    strict_server,
    text,
    whole,
)
from tests.support.strict_rules import json_reply

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
STREAMED = {"Content-Type": STREAM}
WHOLE = streamed(HAIKU)
TURN = Message(
    role="assistant",
    content="Hello",
    thinking=(ThinkingBlock(text="hm", signature=SIGNED + HAIKU),),
    signed_by="bedrock:m",
)
STOP = event("messageStop", stopReason="tool_use")


def fold(stream: bytes) -> ModelResponse:
    folded = StreamFold("bedrock:m")
    for each in FrameDecoder().feed(stream):
        folded.take(each)
    folded.check_complete()
    return folded.response()


async def talk(
    *replies: Reply, stream: bool = True, deltas: list[Delta] | None = None, timeouts: Timeouts | None = None
) -> ModelResponse:
    with HttpServer(replies) as server:
        model = BedrockModel(model="m", base_url=server.url, api_key=BEARER, region=REGION, timeouts=timeouts)
        try:
            if not stream:
                return await model.complete(REQUEST)
            return await model.stream(REQUEST, lambda _: None if deltas is None else deltas.append(_))
        finally:
            await model.aclose()


def test_the_adapter_counts_and_leaves_the_length_of_answers_alone() -> None:
    """A model with a window would have its answers bound to what the window leaves."""
    model = BedrockModel(model="m", region=REGION, api_key=BEARER)
    assert isinstance(model, CountingModel)
    assert not isinstance(model, WindowedModel)
    assert model.name == "bedrock:m"


async def test_a_turn_is_folded_and_its_fragments_are_handed_out() -> None:
    deltas: list[Delta] = []
    response = await talk(Reply(headers=STREAMED, body=WHOLE), deltas=deltas)
    assert response.message == TURN
    assert deltas == [Delta(thinking="hm"), Delta(content="Hel"), Delta(content="lo")]
    assert response.finish_reason == "stop"
    assert response.usage == Usage(input_tokens=10, output_tokens=5, cache_read_tokens=7)


def test_a_connection_dropped_before_the_turn_has_ended_is_an_error_never_half_an_answer() -> None:
    for cut in range(_end_of_turn()):
        with pytest.raises(ModelError, match="dropped before the answer was complete") as caught:
            fold(WHOLE[:cut])
        assert caught.value.retryable


def _end_of_turn() -> int:
    """Where the frame ends that tells why the answer ended: its usage alone follows."""
    last = event("messageStop", stopReason="end_turn", p="abcd")
    return WHOLE.index(last) + len(last)


async def test_a_connection_dropped_behind_the_turn_costs_its_usage_alone() -> None:
    response = await talk(Reply(headers=STREAMED, body=WHOLE[: _end_of_turn() + 20], end="cut"))
    assert response.message == TURN
    assert response.usage == Usage()


@pytest.mark.parametrize("at", [0, 8, 20, -1])
async def test_a_damaged_frame_is_refused(at: int) -> None:
    broken = bytearray(delta(0, text="Hel"))
    broken[at] ^= 1
    with pytest.raises(ModelError, match="damaged event stream") as caught:
        await talk(Reply(headers=STREAMED, body=bytes(broken) + STOP))
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("kind", "status", "retryable"),
    [
        ("throttlingException", 429, True),
        ("modelStreamErrorException", 424, True),
        ("internalServerException", 500, True),
        ("serviceUnavailableException", 503, True),
        ("validationException", 400, False),
    ],
)
async def test_an_exception_in_mid_stream_says_so(kind: str, status: int, retryable: bool) -> None:
    deltas: list[Delta] = []
    body = delta(0, text="Hel") + exception(kind, "Too many tokens.")
    with pytest.raises(ModelError, match=rf"reported an error \({kind}\): Too many tokens\.") as caught:
        await talk(Reply(headers=STREAMED, body=body), deltas=deltas)
    assert (caught.value.code, caught.value.status_code, caught.value.retryable) == (kind, status, retryable)
    assert deltas == [Delta(content="Hel")]


async def test_an_error_without_a_model_of_its_own_is_told_too() -> None:
    headers = {":message-type": "error", ":error-code": "InternalError", ":error-message": "Something broke."}
    with pytest.raises(ModelError, match=r"reported an error \(InternalError\): Something broke\."):
        await talk(Reply(headers=STREAMED, body=frame(headers, b"")))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reply", "said", "status", "retryable"),
    [
        (failure(400, "ValidationException", "bad"), r"400 \(ValidationException\): bad", 400, False),
        (failure(403, "AccessDeniedException", "no"), r"403 \(AccessDeniedException\): no", 403, False),
        (failure(404, "ResourceNotFoundException", "no"), "check the model's name", 404, False),
        (failure(429, "ThrottlingException", "slow"), r"429 \(ThrottlingException\): slow", 429, True),
        (failure(429, "ModelNotReadyException", "wait"), "ModelNotReadyException", 429, True),
        (failure(408, "ModelTimeoutException", "late"), "ModelTimeoutException", 408, True),
        (failure(503, "ServiceUnavailableException", "off"), "503", 503, True),
        (json_reply({"message": "quota"}), "reported an error: quota", None, False),
        (json_reply({"Output": {}, "Version": "1.0"}), "without a message", None, False),
        (Reply(headers={"Content-Type": "text/html"}, body=b"<html>"), "web page", 200, False),
    ],
)
async def test_a_refusal_is_told_in_the_providers_words(
    reply: Reply, said: str, status: int | None, retryable: bool, stream: bool
) -> None:
    with pytest.raises(ModelError, match=said) as caught:
        await talk(reply, stream=stream)
    assert (caught.value.status_code, caught.value.retryable) == (status, retryable)
    assert str(caught.value).startswith("bedrock:m (127.0.0.1:")
    assert "\n" not in str(caught.value)


async def test_the_time_to_wait_is_taken_from_the_answer() -> None:
    late = failure(429, "ThrottlingException", "slow")
    with pytest.raises(ModelError) as caught:
        await talk(Reply(status=429, headers={**late.headers, "Retry-After": "7"}, body=late.body))
    assert caught.value.retry_after == 7


async def test_a_key_that_an_answer_repeats_is_not_shown() -> None:
    with pytest.raises(ModelError) as caught:
        await talk(failure(403, "AccessDeniedException", f"no such key: {BEARER}"))
    assert BEARER[:8] not in str(caught.value)


async def test_a_whole_answer_is_read() -> None:
    response = await talk(json_reply(whole(HAIKU)), stream=False)
    assert response.message == TURN
    assert response.usage == Usage(input_tokens=10, output_tokens=5, cache_read_tokens=7)


def call(index: int, call_id: str, name: str, *pieces: str) -> bytes:
    start = {"toolUse": {"toolUseId": call_id, "name": name}}
    begun = event("contentBlockStart", contentBlockIndex=index, start=start)
    return begun + b"".join(delta(index, toolUse={"input": piece}) for piece in pieces) + stopped(index)


async def test_calls_are_folded_with_their_arguments_as_they_came() -> None:
    deltas: list[Delta] = []
    body = delta(0, text="I look.") + call(1, "t1", "ls", '{ "a"', ":1}") + call(2, "t2", "pwd") + STOP
    response = await talk(Reply(headers=STREAMED, body=body), deltas=deltas)
    assert response.message.tool_calls == (
        ToolCall(id="t1", name="ls", args='{ "a":1}'),
        ToolCall(id="t2", name="pwd"),
    )
    assert response.finish_reason == "tool_calls"
    assert [call for each in deltas for call in each.tool_calls] == [
        ToolCallDelta(index=0, id="t1", name="ls", args_fragment='{ "a"'),
        ToolCallDelta(index=0, args_fragment=":1}"),
    ]


def test_the_arguments_of_a_whole_answer_keep_their_text() -> None:
    body = (
        '{"output": {"message": {"role": "assistant", "content": [{"text": "I look."},'
        ' {"toolUse": {"toolUseId": "t", "name": "ls", "input": { "b":1.0,  "a":[] }}}]}},'
        ' "stopReason": "tool_use"}'
    )
    message = decode_response(body, origin="bedrock:m").message
    assert message.tool_calls[0].args == '{ "b":1.0,  "a":[] }'


def test_two_thoughts_keep_their_signatures_and_places() -> None:
    stream = (
        delta(0, reasoningContent={"text": "one"})
        + delta(0, reasoningContent={"signature": "s1"})
        + delta(1, reasoningContent={"text": "two"})
        + delta(1, reasoningContent={"signature": "s2"})
        + delta(2, text="Well.")
        + delta(3, reasoningContent={"redactedContent": base64.b64encode(b"ab").decode()})
        + delta(3, reasoningContent={"redactedContent": base64.b64encode(b"c").decode()})
        + call(4, "t", "ls", "{}")
        + STOP
    )
    assert fold(stream).message.thinking == (
        ThinkingBlock(text="one", signature="s1"),
        ThinkingBlock(text="two", signature="s2"),
        ThinkingBlock(redacted=base64.b64encode(b"abc").decode(), extra={"after": "[5,0]"}),
    )


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("malformed_tool_use", "malformed_tool_use"),
    ],
)
def test_why_an_answer_ended(reason: str, expected: str) -> None:
    assert fold(delta(0, text="x") + event("messageStop", stopReason=reason)).finish_reason == expected


def test_events_and_blocks_of_other_kinds_are_passed_over() -> None:
    stream = event("newEvent", a=1) + delta(0, newBlock={}) + delta(1, text="x") + STOP
    assert fold(stream).message.content == "x"
    answer = {"output": {"message": {"content": [{"newBlock": {}}, text("x")]}}, "stopReason": "end_turn"}
    assert decode_response(json_reply(answer).pieces[0].decode(), origin="o").message.content == "x"  # type: ignore[union-attr]  # bytes


@pytest.mark.parametrize(
    "event_of_wrong_shape",
    [
        delta(0, text=1),
        delta(0, toolUse={"input": "{}"}),
        event("contentBlockDelta", contentBlockIndex="0", delta={}),
        frame({":event-type": "contentBlockDelta", ":message-type": "event"}, b"[1]"),
        frame({":event-type": "contentBlockDelta", ":message-type": "event"}, b"{"),
        delta(0, reasoningContent={"redactedContent": "=a"})
        + delta(0, reasoningContent={"redactedContent": "b"}),
    ],
)
def test_an_event_of_a_wrong_shape_is_refused(event_of_wrong_shape: bytes) -> None:
    with pytest.raises(ModelError):
        fold(event_of_wrong_shape + STOP)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_refusal_or_nothing(junk: bytes) -> None:
    with pytest.raises(ModelError):
        fold(junk)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["output", "message", "content", "toolUse", "text", "usage"]), inner
            )
        ),
    )
)
def test_any_json_is_an_answer_or_a_refusal(value: Any) -> None:
    with contextlib.suppress(ModelError):
        decode_response(json_reply(value).pieces[0].decode(), origin="o")  # type: ignore[union-attr]  # bytes


async def test_a_history_is_cut_to_a_budget_in_few_counts() -> None:
    history = [
        Message(role=role, content=f"{index:04}") for index in range(32) for role in ("user", "assistant")
    ]
    with strict_server() as server:
        model = BedrockModel(model=HAIKU, base_url=server.url, api_key=BEARER, region=REGION)
        kept = await budget_history(model.count, 500)(history)
        assert await model.count(kept) <= 500 < await model.count(history[-len(kept) - 2 :])
        assert kept[-1] == history[-1]
        counted = [request for request in server.requests if request.path.endswith("/count-tokens")]
        await model.aclose()
    assert len(counted) <= 1 + 6 + 2  # all, a bisection of 32 openings, and the two above


async def test_an_answer_without_a_count_is_refused() -> None:
    with HttpServer([json_reply({"inputTokens": "many"}), json_reply({})]) as server:
        model = BedrockModel(model="m", base_url=server.url, api_key=BEARER, region=REGION)
        for _ in range(2):
            with pytest.raises(ModelError):
                await model.count(REQUEST.messages)
        assert await model.count([]) == 0
        await model.aclose()


def test_frames_of_the_tests_are_the_public_formats() -> None:
    """By hand: 12 bytes of prelude with its CRC, no headers, no payload, 4 bytes of CRC."""
    empty = frame({}, b"")
    assert empty == bytes.fromhex("000000100000000005c248eb7d98c8ff")
    assert struct.unpack("!I", empty[:4]) == (16,)
