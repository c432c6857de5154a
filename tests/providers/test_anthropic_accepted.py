"""A strict Messages server takes every request of ours, whatever the history; and refuses any not adapted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.codec import load_messages, load_transcript
from golem_cli.core.errors import HistoryError
from golem_cli.core.history import leave_out_malformed_parts, repair
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.anthropic import AnthropicModel
from golem_cli.providers.anthropic.encode import encode_request
from golem_cli.providers.anthropic.parts import refusal_of
from tests.support.http_server import HttpServer
from tests.support.strict_anthropic import RULES, SIGNED, Rule, refusal, strict_server

CONFORMANCE = Path(__file__).parent.parent / "conformance"
TRANSCRIPTS = Path(__file__).parent.parent.parent / "transcripts"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
MODELS = ("claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5", "claude-3-5-haiku-20241022")
PROMPT = Message(role="user", content="go on")


def origin(model: str) -> str:
    return f"anthropic:{model}"


def sent(messages: list[Message], model: str, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(messages=messages, **fields)
    body: dict[str, Any] = json.loads(encode_request(request, model=model, origin=origin(model), stream=True))
    return body


def carried(messages: list[Message]) -> list[Message]:
    """What the chat supplies: without the parts that nobody, or that this format, can carry."""
    history, _ = leave_out_malformed_parts(messages)
    return [
        Message(**{**fields(message), "parts": tuple(p for p in message.parts if not refusal_of(p))})
        for message in history
    ]


def fields(message: Message) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__struct_fields__}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_strict_server_refuses_what_was_not_adapted(rule: Rule) -> None:
    """Each rule can fail: otherwise the tests below would show nothing."""
    assert rule.broken(rule.example)
    assert rule.page.startswith("https://")


async def test_it_refuses_over_a_socket_too() -> None:
    with strict_server() as server:
        async with httpx.AsyncClient() as client:
            bad, unsigned = [
                await client.post(f"{server.url}/v1/messages", json=RULES[0].example, headers=headers)
                for headers in ({"x-api-key": "k", "anthropic-version": "2023-06-01"}, {})
            ]
    assert (bad.status_code, unsigned.status_code) == (400, 401)
    assert bad.json()["error"]["type"] == "invalid_request_error"


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
    messages = carried(messages)
    model = AnthropicModel(model="claude-haiku-4-5", base_url=server.url, api_key="k")
    request = ModelRequest(messages=[m for m in repair(messages) if m.role != "system"] + [PROMPT])
    streamed = await model.stream(request, lambda _: None)
    whole = await model.complete(request)
    await model.aclose()
    assert streamed.message == whole.message
    assert streamed.message.content == "Hello"


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
    messages = carried(load_messages(json.dumps(records)))
    messages = [message for message in repair(messages) if message.role != "system"]
    for model in MODELS:
        assert refusal(sent([*messages, PROMPT], model)) is None


ids = st.sampled_from(["", "a", "b", "call_0", "call|1", "é" * 70, "a_2"])
texts = st.sampled_from(["", " \n", "x", "ends ", "cut \ud83d", "\x00", "\ud83d\ude00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "", "docs.search", "n" * 90, "\ud83d"]),
    args=st.sampled_from(
        [
            "",
            " ",
            "{}",
            '{"a":',
            "[1]",
            "null",
            '"\ud83d',
            '{"a": "\\ud83d"}',
            '{"a":1,"a":2}',
            '{"\\\\ud83d":1}',
        ]
    ),
)
models = st.sampled_from(MODELS)
thinking = st.builds(
    ThinkingBlock,
    text=texts,
    signature=st.sampled_from(["", *(SIGNED + model for model in MODELS)]),
    redacted=st.sampled_from(["", "", SIGNED + MODELS[0]]),
    extra=st.sampled_from(
        [{}, {"after": "[1,0]"}, {"after": "[9,9]"}, {"after": '["x"]'}, {"after": "[-1,0]"}]
    ),
)
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=st.sampled_from([(), (IMAGE,)])),
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
        Message,
        role=st.just("tool"),
        content=texts,
        tool_call_id=ids,
        parts=st.sampled_from([(), (IMAGE,)]),
        failed=st.booleans(),
    ),
)


def honest(history: list[Message]) -> list[Message]:
    """Signatures are those of the model that the message names, as it signed them."""
    return [
        Message(
            **{
                **fields(message),
                "thinking": tuple(
                    block
                    for block in message.thinking
                    if not message.signed_by.startswith("anthropic")
                    or {block.signature, block.redacted} <= {"", SIGNED + message.signed_by.partition(":")[2]}
                ),
            }
        )
        for message in history
    ]


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(messages_of_any_kind, max_size=10).map(honest),
    models,
    st.sampled_from([None, "off", "adaptive", 2048]),
    st.booleans(),
)
def test_random_damaged_histories_are_accepted(
    history: list[Message], model: str, wish: Any, repaired: bool
) -> None:
    if wish in ("adaptive", 2048) and model.startswith("claude-3-5"):
        wish = None
    if (wish == "adaptive" and "4-5" in model) or (wish == 2048 and "opus-5" in model):
        wish = None
    messages = repair(history) if repaired else history
    try:
        body = sent(messages, model, settings=ModelSettings(thinking=wish))
    except HistoryError:
        assert not any(
            message.content.strip() or message.parts for message in messages if message.role != "tool"
        )
        return
    assert refusal(body) is None


@settings(deadline=None)
@given(
    st.lists(messages_of_any_kind, max_size=8).map(honest), st.lists(messages_of_any_kind, max_size=4), models
)
def test_more_turns_leave_the_bytes_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    """Up to its last message, marks for the cache aside: so does a prompt cache stay warm."""
    first = [PROMPT, *repair(history), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *repair(more), PROMPT]
    one, two = (unmarked(messages, model) for messages in (first, second))
    assert two[: len(one) - 1] == one[:-1]
    assert two[len(one) - 1]["content"][: len(one[-1]["content"])] == one[-1]["content"]


def unmarked(messages: list[Message], model: str) -> list[Any]:
    turns: list[Any] = sent(messages, model)["messages"]
    for turn in turns:
        for block in turn["content"]:
            block.pop("cache_control", None)
    return turns


async def test_a_conversation_goes_on_with_a_tool_and_its_own_thinking(server: HttpServer) -> None:
    """Thinking goes back, signed, to the model that signed it, and to no other."""
    model = AnthropicModel(model="claude-opus-4-6", base_url=server.url, api_key="k")
    tools = [ToolSpec(name="ls", description="Lists.", schema='{"type":"object"}')]
    request = ModelRequest(messages=[PROMPT], tools=tools, settings=ModelSettings(thinking="adaptive"))
    turn = (await model.stream(request, lambda _: None)).message
    asked = Message(**{**fields(turn), "tool_calls": (ToolCall(id="a", name="ls", args="{}"),)})
    result = Message(role="tool", tool_call_id="a", content="b", failed=True)
    await model.stream(replace(request, messages=[PROMPT, asked, result]), lambda _: None)
    other = AnthropicModel(model="claude-opus-5", base_url=server.url, api_key="k")
    await other.stream(ModelRequest(messages=[PROMPT, asked, result]), lambda _: None)
    await model.aclose()
    await other.aclose()
    own, foreign = (json.loads(sent.body)["messages"] for sent in server.requests[1:])
    assert [block["type"] for block in own[1]["content"]] == ["thinking", "text", "tool_use"]
    assert own[1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "signed by claude-opus-4-6",
    }
    assert [block["type"] for block in foreign[1]["content"]] == ["text", "tool_use"]
    assert own[2]["content"][0]["is_error"] is True
