"""A strict Converse server takes every request of ours, whatever the history; and refuses any not adapted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.message import Message, ToolCall
from golem_cli.core.model import ModelRequest, ToolSpec
from golem_cli.providers.bedrock import BedrockModel
from tests.support.damaged_histories import IMAGE, PROMPT, histories
from tests.support.every_format import BEDROCK
from tests.support.http_server import HttpServer
from tests.support.strict_bedrock import (
    BEARER,
    HAIKU,
    LLAMA,
    NOVA,
    OPUS,
    REGION,
    RULES,
    SIGNED,
    read,
    strict_server,
)
from tests.support.strict_rules import Rule

LS = ToolSpec(name="ls", description="Lists.", schema='{"type":"object","additionalProperties":false}')


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


@settings(deadline=None)
@given(histories(8), histories(4), st.sampled_from(BEDROCK.models))
def test_more_turns_leave_the_turns_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    """Up to its last message, points for the cache aside: so does a prompt cache stay warm."""
    first = [PROMPT, *BEDROCK.prepared(history, model), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *BEDROCK.prepared(more, model), PROMPT]
    one, two = (unmarked(messages, model) for messages in (first, second))
    assert two[: len(one) - 1] == one[:-1]
    assert two[len(one) - 1]["content"][: len(one[-1]["content"])] == one[-1]["content"]


def unmarked(messages: list[Message], model: str) -> list[Any]:
    turns: list[Any] = BEDROCK.sent(messages, model)["messages"]
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
