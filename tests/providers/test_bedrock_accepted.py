"""A strict Converse server takes every request of ours, whatever the history; and refuses any not adapted."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
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
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.bedrock import BedrockModel
from golem_cli.providers.bedrock.encode import encode_request
from golem_cli.providers.bedrock.families import family_of
from golem_cli.providers.bedrock.parts import refusal_of
from tests.support.http_server import HttpServer
from tests.support.strict_bedrock import (
    BEARER,
    HAIKU,
    LLAMA,
    MODELS,
    NOVA,
    OPUS,
    REGION,
    RULES,
    SIGNED,
    Rule,
    read,
    refusal,
    strict_server,
)

CONFORMANCE = Path(__file__).parent.parent / "conformance"
TRANSCRIPTS = Path(__file__).parent.parent.parent / "transcripts"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
PDF = Part(kind="document", data="AAEC/+8=", media_type="application/pdf")
FILM = Part(kind="video", data="AAEC/+8=", media_type="video/mp4")
PROMPT = Message(role="user", content="go on")
LS = ToolSpec(name="ls", description="Lists.", schema='{"type":"object","additionalProperties":false}')


def origin(model: str) -> str:
    return f"bedrock:{model}"


def sent(messages: list[Message], model: str, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(messages=messages, **fields)
    body: dict[str, Any] = json.loads(
        encode_request(request, model=model, origin=origin(model), stream=False)
    )
    return {"modelId": model, "operation": "converse", **body}


def carried(messages: list[Message], model: str) -> list[Message]:
    """What the chat supplies: without the parts that nobody, or that this model, can take."""
    history, _ = leave_out_malformed_parts(messages)
    family = family_of(model)
    return [
        msgspec.structs.replace(message, parts=tuple(p for p in message.parts if not refusal_of(p, family)))
        for message in history
    ]


def connected(server: HttpServer, model: str) -> BedrockModel:
    return BedrockModel(model=model, base_url=server.url, api_key=BEARER, region=REGION)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_strict_server_refuses_what_was_not_adapted(rule: Rule) -> None:
    """Each rule can fail: otherwise the tests below would show nothing."""
    assert rule.broken(rule.example)
    assert rule.page.startswith("https://")


async def test_it_refuses_over_a_socket_too() -> None:
    with strict_server() as server:
        async with httpx.AsyncClient() as client:
            url = f"{server.url}/model/{NOVA}/converse"
            headers = {"Authorization": f"Bearer {BEARER}"}
            bad = await client.post(url, json={"messages": []}, headers=headers)
            unknown = await client.post(url, json={"messages": []})
    assert (bad.status_code, unknown.status_code) == (400, 403)
    assert bad.headers["x-amzn-errortype"].startswith("ValidationException:")


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    with strict_server() as running:
        yield running


SAMPLES = [
    pytest.param(load_transcript(path.read_bytes(), salvage=True).messages, id=path.stem)
    for path in sorted(TRANSCRIPTS.glob("*.json*"))
]


@pytest.mark.parametrize("name", [HAIKU, NOVA, LLAMA])
@pytest.mark.parametrize("messages", SAMPLES)
async def test_every_sample_is_accepted_streamed_whole_and_counted(
    messages: list[Message], name: str, server: HttpServer
) -> None:
    model = connected(server, name)
    history = [m for m in repair(carried(messages, name)) if m.role != "system"]
    request = ModelRequest(messages=[*history, PROMPT])
    streamed = await model.stream(request, lambda _: None)
    whole = await model.complete(request)
    counted = await model.count(request.messages)
    await model.aclose()
    assert streamed.message == whole.message
    assert streamed.message.content == "Hello"
    assert counted > 0


def records_of(case: dict[str, Any]) -> list[Any] | None:
    records = case.get("transcript")
    return (
        records if isinstance(records, list) and case["kind"] in {"normalize", "sanitize", "wire"} else None
    )


CASES = [
    pytest.param(records, id=path.stem)
    for path in sorted((CONFORMANCE / "cases").glob("*.json"))
    if (records := records_of(json.loads(path.read_text(encoding="utf-8")))) is not None
]


@pytest.mark.parametrize("records", CASES)
def test_histories_from_bug_reports_are_accepted(records: list[Any]) -> None:
    loaded = load_messages(json.dumps(records))
    for model in MODELS:
        messages = [message for message in repair(carried(loaded, model)) if message.role != "system"]
        assert refusal(sent([*messages, PROMPT], model)) is None


ids = st.sampled_from(["", "a", "b", "call_0", "call|1", "é" * 70, "a_2", "n" * 64])
texts = st.sampled_from(["", " \n", "x", "ends ", "cut \ud83d", "\x00", "\ud83d\ude00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "", "docs.search", "n" * 90, "\ud83d"]),
    args=st.sampled_from(
        ["", " ", "{}", '{"a":', "[1]", "null", '"\ud83d', '{"a": "\\ud83d"}', '{"a":1,"a":2}']
    ),
)
models = st.sampled_from(MODELS)
thinking = st.builds(
    ThinkingBlock,
    text=texts,
    signature=st.sampled_from(["", *(SIGNED + model for model in MODELS)]),
    redacted=st.sampled_from(["", "", base64.b64encode((SIGNED + HAIKU).encode()).decode()]),
    extra=st.sampled_from([{}, {"after": "[1,0]"}, {"after": "[9,9]"}, {"after": '["x"]'}]),
)
parts = st.sampled_from([(), (IMAGE,), (PDF,), (PDF, PDF, FILM), (IMAGE,) * 12, (PDF,) * 4])
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=parts),
    st.builds(Message, role=st.just("system"), content=texts),
    st.builds(Message, role=st.just("wizard"), content=texts),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=texts,
        tool_calls=st.lists(calls, max_size=3).map(tuple),
        thinking=st.lists(thinking, max_size=2).map(tuple),
        signed_by=models.map(origin) | st.sampled_from(["", "openai:m"]),
    ),
    st.builds(
        Message, role=st.just("tool"), content=texts, tool_call_id=ids, parts=parts, failed=st.booleans()
    ),
)


def honest(history: list[Message]) -> list[Message]:
    """Signatures are those of the model that the message names, as it signed them."""
    return [
        msgspec.structs.replace(
            message, thinking=tuple(b for b in message.thinking if _is_own(b, message.signed_by))
        )
        for message in history
    ]


def _is_own(block: ThinkingBlock, model: str) -> bool:
    name = SIGNED + model.partition(":")[2]
    own = {"", name, base64.b64encode(name.encode()).decode()}
    return not model.startswith("bedrock") or {block.signature, block.redacted} <= own


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(messages_of_any_kind, max_size=10).map(honest),
    models,
    st.sampled_from([None, "off", "adaptive", 2048]),
    st.sampled_from([(), (LS,)]),
    st.sampled_from(["", "auto", "none"]),
    st.booleans(),
)
def test_random_damaged_histories_are_accepted(
    history: list[Message], model: str, wish: Any, tools: Any, choice: str, repaired: bool
) -> None:
    if (wish == "adaptive" and model != OPUS) or (wish == 2048 and "claude-3-haiku" in model):
        wish = None
    messages = carried(repair(history) if repaired else history, model)
    try:
        body = sent(messages, model, settings=ModelSettings(thinking=wish), tools=tools, tool_choice=choice)
    except HistoryError:
        assert not any(
            message.content.strip() or message.parts
            for message in messages
            if message.role in {"user", "wizard"}
        )
        return
    assert refusal(body) is None


@settings(deadline=None)
@given(
    st.lists(messages_of_any_kind, max_size=8).map(honest), st.lists(messages_of_any_kind, max_size=4), models
)
def test_more_turns_leave_the_turns_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    """Up to its last message, points for the cache aside: so does a prompt cache stay warm."""
    first = [PROMPT, *without_system(history, model), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *without_system(more, model), PROMPT]
    one, two = (unmarked(messages, model) for messages in (first, second))
    assert two[: len(one) - 1] == one[:-1]
    assert two[len(one) - 1]["content"][: len(one[-1]["content"])] == one[-1]["content"]


def without_system(messages: list[Message], model: str) -> list[Message]:
    return [message for message in carried(repair(messages), model) if message.role != "system"]


def unmarked(messages: list[Message], model: str) -> list[Any]:
    turns: list[Any] = sent(messages, model)["messages"]
    for turn in turns:
        turn["content"] = [block for block in turn["content"] if "cachePoint" not in block]
    return turns


async def test_a_model_that_cannot_call_tools_while_it_streams_answers_as_a_whole(server: HttpServer) -> None:
    """It is asked to stream once: then the model is known."""
    model = connected(server, LLAMA)
    heard: list[str] = []
    request = ModelRequest(messages=[PROMPT], tools=[LS])
    for _ in range(2):
        response = await model.stream(request, lambda delta: heard.append(delta.content))
        assert response.message.content == "Hello"
    await model.aclose()
    assert heard == ["Hello", "Hello"]
    operations = [read(request)["operation"] for request in server.requests]
    assert operations == ["converse-stream", "converse", "converse"]


async def test_a_conversation_goes_on_with_a_tool_and_its_own_thinking(server: HttpServer) -> None:
    """Thinking goes back, signed, to the model that signed it, and to no other."""
    own, other = connected(server, HAIKU), connected(server, OPUS)
    turn = (await own.stream(ModelRequest(messages=[PROMPT], tools=[LS]), lambda _: None)).message
    asked = msgspec.structs.replace(turn, tool_calls=(ToolCall(id="a", name="ls", args="{}"),))
    result = Message(role="tool", tool_call_id="a", content="b", failed=True, parts=(IMAGE,))
    for model in (own, other):
        await model.stream(ModelRequest(messages=[PROMPT, asked, result], tools=[LS]), lambda _: None)
        await model.aclose()
    kept, foreign = (read(request)["messages"] for request in server.requests[1:])
    assert kept[1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": SIGNED + HAIKU}}},
        {"text": "Hello"},
        {"toolUse": {"toolUseId": "a", "name": "ls", "input": {}}},
    ]
    assert [next(iter(block)) for block in foreign[1]["content"]] == ["text", "toolUse"]
    assert kept[2]["content"][0]["toolResult"] == {
        "toolUseId": "a",
        "content": [{"text": "b"}, {"image": {"format": "png", "source": {"bytes": IMAGE.data}}}],
        "status": "error",
    }
