"""A strict Gemini server takes every request of ours, whatever the history; and refuses any not adapted."""

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
from golem_cli.providers.gemini import GeminiModel
from golem_cli.providers.gemini.encode import encode_request
from golem_cli.providers.gemini.parts import refusal_of
from tests.support.http_server import HttpServer
from tests.support.strict_gemini import RULES, SIGNED, Rule, refusal, strict_server

CONFORMANCE = Path(__file__).parent.parent / "conformance"
TRANSCRIPTS = Path(__file__).parent.parent.parent / "transcripts"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
FILM = Part(kind="video", url="https://example.com/v.mp4")
MODELS = ("gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.0-flash")
PROMPT = Message(role="user", content="go on")


def origin(model: str) -> str:
    return f"gemini:{model}"


def sent(messages: list[Message], model: str, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(messages=messages, **fields)
    body: dict[str, Any] = json.loads(encode_request(request, model=model, origin=origin(model)))
    return body | {"model": model}


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
        address = f"{server.url}/v1beta/models/gemini-3.8-flash:generateContent"
        async with httpx.AsyncClient() as client:
            bad, unsigned = [
                await client.post(address, json={"contents": []}, headers=headers)
                for headers in ({"x-goog-api-key": "k"}, {})
            ]
    assert (bad.status_code, unsigned.status_code) == (400, 403)
    assert bad.json()["error"]["status"] == "INVALID_ARGUMENT"


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
    model = GeminiModel(model="gemini-3.8-flash", base_url=server.url, api_key="k")
    request = ModelRequest(messages=[m for m in repair(messages) if m.role != "system"] + [PROMPT])
    streamed = await model.stream(request, lambda _: None)
    whole = await model.complete(request)
    await model.aclose()
    assert streamed.message.content == whole.message.content == "Hello"


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


signatures = st.sampled_from(["", *(SIGNED + model for model in MODELS), "ErUB"])
ids = st.sampled_from(["", "a", "b", "call_0", "call|1", "é" * 70, "a_2"])
texts = st.sampled_from(["", " \n", "x", "ends ", "cut \ud83d", "\x00", "\ud83d\ude00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "", "docs.search", "1st", "n" * 90, "\ud83d"]),
    args=st.sampled_from(
        ["", " ", "{}", '{"a":', "[1]", "null", '"\ud83d', '{"a": "\\ud83d"}', '{"a":1,"a":2}']
    ),
    signature=signatures,
)
models = st.sampled_from(MODELS)
thinking = st.builds(
    ThinkingBlock,
    text=texts,
    signature=signatures,
    extra=st.sampled_from(
        [
            {},
            {"signs": "0"},
            {"after": "[1,0]", "signs": "3"},
            {"after": "[9,9]", "signs": "99"},
            {"after": '["x"]', "signs": '"x"'},
            {"after": "[0,1]"},
        ]
    ),
)
media = st.sampled_from([(), (IMAGE,), (FILM, IMAGE)])
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=media),
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
        parts=media,
        failed=st.booleans(),
    ),
)


def honest(history: list[Message]) -> list[Message]:
    """Signatures are those of the model that the message names, as it signed them."""

    def own(signature: str, message: Message) -> bool:
        name = message.signed_by.removeprefix("gemini:")
        return not message.signed_by.startswith("gemini") or signature in {"", SIGNED + name}

    return [
        Message(
            **{
                **fields(message),
                "thinking": tuple(each for each in message.thinking if own(each.signature, message)),
                "tool_calls": tuple(each for each in message.tool_calls if own(each.signature, message)),
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
    if (wish == "off" and "gemini-3" in model) or (wish == "adaptive" and "2.0" in model):
        wish = None
    if wish == 2048 and "2.5" not in model:
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
    """Up to its last message: so does a prompt cache stay warm."""
    first = [PROMPT, *repair(history), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *repair(more), PROMPT]
    one, two = (sent(messages, model)["contents"] for messages in (first, second))
    assert two[: len(one)] == one


async def test_a_conversation_goes_on_with_a_tool_and_its_own_signatures(server: HttpServer) -> None:
    """Signatures go back to the model that made them, each in its part; another model gets none."""
    model = GeminiModel(model="gemini-3.1-pro-preview", base_url=server.url, api_key="k")
    tools = [ToolSpec(name="ls", description="Lists.", schema='{"type":"object"}')]
    request = ModelRequest(messages=[PROMPT], tools=tools)
    turn = (await model.stream(request, lambda _: None)).message
    own = SIGNED + "gemini-3.1-pro-preview"
    call = ToolCall(id="a", name="ls", args="{}", signature=own)
    asked = Message(**{**fields(turn), "tool_calls": (call,)})
    result = Message(role="tool", tool_call_id="a", content="b", failed=True)
    await model.stream(replace(request, messages=[PROMPT, asked, result]), lambda _: None)
    other = GeminiModel(model="gemini-3.8-flash", base_url=server.url, api_key="k")
    await other.stream(ModelRequest(messages=[PROMPT, asked, result]), lambda _: None)
    await model.aclose()
    await other.aclose()
    mine, foreign = (json.loads(each.body)["contents"] for each in server.requests[1:])
    function = {"id": "a", "name": "ls", "args": {}}
    assert mine[1]["parts"] == [
        {"text": "Hello"},
        {"text": "", "thoughtSignature": own},
        {"functionCall": function, "thoughtSignature": own},
    ]
    assert foreign[1]["parts"] == [
        {"text": "Hello"},
        {"functionCall": function, "thoughtSignature": "skip_thought_signature_validator"},
    ]
    assert mine[2]["parts"] == [{"functionResponse": {"id": "a", "name": "ls", "response": {"error": "b"}}}]
