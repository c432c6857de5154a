"""A strict Responses server takes every request of ours, whatever the history; refuses any not adapted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.codec import load_messages, load_transcript
from golem_cli.core.errors import HistoryError
from golem_cli.core.history import leave_out_malformed_parts, repair
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ToolSpec
from golem_cli.providers.openai_responses import ResponsesModel
from golem_cli.providers.openai_responses.encode import encode_request
from golem_cli.providers.openai_responses.parts import refusal_of
from tests.support.http_server import HttpServer
from tests.support.strict_responses import ENCRYPTED, RULES, Rule, refusal, strict_server

CONFORMANCE = Path(__file__).parent.parent / "conformance"
TRANSCRIPTS = Path(__file__).parent.parent.parent / "transcripts"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
NOTE = Part(kind="document", data="aGk=", media_type="text/plain")
MODELS = ("gpt-5-mini", "gpt-4o", "o3", "gpt-5.2")
PROMPT = Message(role="user", content="go on")


def origin(model: str) -> str:
    return f"openai-responses:{model}"


def sent(messages: list[Message], model: str, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(messages=messages, **fields)
    body: dict[str, Any] = json.loads(encode_request(request, model=model, origin=origin(model), stream=True))
    return body


def carried(messages: list[Message]) -> list[Message]:
    """What the chat supplies: without the parts that nobody, or that this format, can carry."""
    history, _ = leave_out_malformed_parts(messages)
    return [
        msgspec.structs.replace(message, parts=tuple(p for p in message.parts if not refusal_of(p)))
        for message in history
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_strict_server_refuses_what_was_not_adapted(rule: Rule) -> None:
    """Each rule can fail, and first: otherwise the tests below would show nothing."""
    assert refusal(rule.example) is rule
    assert rule.page.startswith("https://")


async def test_it_refuses_over_a_socket_too() -> None:
    with strict_server() as server:
        async with httpx.AsyncClient() as client:
            bad, unsigned = [
                await client.post(f"{server.url}/responses", json=RULES[0].example, headers=headers)
                for headers in ({"Authorization": "Bearer k"}, {})
            ]
    assert (bad.status_code, unsigned.status_code) == (400, 401)


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    with strict_server() as running:
        yield running


SAMPLES = [
    pytest.param(load_transcript(path.read_bytes(), salvage=True).messages, id=path.stem)
    for path in sorted(TRANSCRIPTS.glob("*.json*"))
]


@pytest.mark.parametrize("messages", SAMPLES)
async def test_every_sample_is_accepted_streamed_and_whole(
    messages: list[Message], server: HttpServer
) -> None:
    model = ResponsesModel(model="gpt-5-mini", base_url=server.url, api_key="k")
    history = [m for m in repair(carried(messages)) if m.role != "system"]
    request = ModelRequest(messages=[*history, PROMPT])
    streamed = await model.stream(request, lambda _: None)
    whole = await model.complete(request)
    await model.aclose()
    assert streamed == whole
    assert streamed.message.content == "Hello"


CASES = [
    pytest.param(case["transcript"], id=path.stem)
    for path in sorted((CONFORMANCE / "cases").glob("*.json"))
    if (case := json.loads(path.read_text(encoding="utf-8")))["kind"] in {"normalize", "sanitize", "wire"}
    and isinstance(case.get("transcript"), list)
]


@pytest.mark.parametrize("records", CASES)
def test_histories_from_bug_reports_are_accepted(records: list[Any]) -> None:
    messages = carried(load_messages(json.dumps(records)))
    messages = [message for message in repair(messages) if message.role != "system"]
    for model in MODELS:
        assert refusal(sent([*messages, PROMPT], model)) is None


ids = st.sampled_from(["", "a", "b", "call_0", "call|1", "é" * 70, "a_2"])
texts = st.sampled_from(["", " \n", "x", "cut \ud83d", "\x00", "\ud83d\ude00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "", "docs.search", "n" * 90, "\ud83d"]),
    args=st.sampled_from(["", " ", "{}", '{"a":', "[1]", "null", '"\ud83d', '{"a": "\\ud83d"}']),
)
models = st.sampled_from(MODELS)


def encrypted_by(model: str, **fields: Any) -> ThinkingBlock:
    """A block as the adapter keeps it: the id of its item beside what the model encrypted."""
    return ThinkingBlock(signature=f"{ENCRYPTED}{model} in rs_1", **fields)


places = st.sampled_from([{}, {"after": "[1,0]"}, {"after": "[9,9]"}, {"after": '["x"]'}])


@st.composite
def assistant_turns(draw: st.DrawFn) -> Message:
    """A turn whose encrypted blocks are the model's that it names, as only the adapter makes them."""
    model = draw(models)
    extras = places.map(lambda place: place | {"id": '"rs_1"'})
    own = st.builds(encrypted_by, st.just(model), text=texts, extra=extras)
    unsigned = st.builds(ThinkingBlock, text=texts, extra=places)
    return Message(
        role="assistant",
        content=draw(texts),
        tool_calls=tuple(draw(st.lists(calls, max_size=3))),
        thinking=tuple(draw(st.lists(own | unsigned, max_size=2))),
        signed_by=draw(st.sampled_from([origin(model), "anthropic:claude", ""])),
    )


parts = st.sampled_from([(), (IMAGE,), (NOTE, IMAGE)])
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=parts),
    st.builds(Message, role=st.just("wizard"), content=texts),
    assistant_turns(),
    st.builds(Message, role=st.just("tool"), content=texts, tool_call_id=ids, parts=parts),
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(messages_of_any_kind, max_size=10), models, st.booleans())
def test_random_damaged_histories_are_accepted(history: list[Message], model: str, repaired: bool) -> None:
    messages = repair(history) if repaired else history
    try:
        body = sent(messages, model)
    except HistoryError:
        assert not any(m.content or m.parts or m.tool_calls for m in messages if m.role != "tool")
        return
    assert refusal(body) is None


@settings(deadline=None)
@given(st.lists(messages_of_any_kind, max_size=8), st.lists(messages_of_any_kind, max_size=4), models)
def test_more_turns_leave_the_bytes_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    first = [PROMPT, *repair(history), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *repair(more), PROMPT]
    one, two = (
        encode_request(ModelRequest(messages=messages), model=model, origin=origin(model), stream=True)
        for messages in (first, second)
    )
    assert two.startswith(one.removesuffix(b"]}"))


async def test_a_conversation_goes_on_with_a_tool_and_its_own_reasoning(server: HttpServer) -> None:
    """Encrypted reasoning goes back to the model that encrypted it, and to no other."""
    model = ResponsesModel(model="gpt-5-mini", base_url=server.url, api_key="k")
    tools = [ToolSpec(name="ls", description="Lists.", schema='{"type":"object"}')]
    request = ModelRequest(messages=[PROMPT], tools=tools, tool_choice="ls")
    turn = (await model.stream(request, lambda _: None)).message
    asked = msgspec.structs.replace(turn, tool_calls=(ToolCall(id="a", name="ls", args="{}"),))
    done = Message(role="tool", tool_call_id="a", content="b", parts=(IMAGE,))
    await model.stream(replace(request, messages=[PROMPT, asked, done]), lambda _: None)
    other = ResponsesModel(model="o3", base_url=server.url, api_key="k")
    await other.stream(ModelRequest(messages=[PROMPT, asked, done]), lambda _: None)
    await model.aclose()
    await other.aclose()
    own, foreign = (json.loads(sent.body) for sent in server.requests[1:])
    assert own["input"] == [
        {"type": "message", "role": "user", "content": "go on"},
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "encrypted by gpt-5-mini in rs_1",
        },
        {"type": "message", "role": "assistant", "content": "Hello"},
        {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [
                {"type": "input_text", "text": "b"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAEC/+8="},
            ],
        },
    ]
    assert own["tool_choice"] == {"type": "function", "name": "ls"}
    assert (own["store"], own["include"]) == (False, ["reasoning.encrypted_content"])
    assert "reasoning" not in {item["type"] for item in foreign["input"]}
