"""A strict Messages server takes every request of ours, whatever the history; and refuses any not adapted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.message import Message, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.anthropic import AnthropicModel
from tests.support.damaged_histories import PROMPT, histories
from tests.support.every_format import ANTHROPIC
from tests.support.http_server import HttpServer
from tests.support.strict_anthropic import RULES, strict_server
from tests.support.strict_rules import Rule


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


@settings(deadline=None)
@given(histories(8), histories(4), st.sampled_from(ANTHROPIC.models))
def test_more_turns_leave_the_bytes_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    """Up to its last message, marks for the cache aside: so does a prompt cache stay warm."""
    first = [PROMPT, *ANTHROPIC.prepared(history, model), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *ANTHROPIC.prepared(more, model), PROMPT]
    one, two = (unmarked(messages, model) for messages in (first, second))
    assert two[: len(one) - 1] == one[:-1]
    assert two[len(one) - 1]["content"][: len(one[-1]["content"])] == one[-1]["content"]


def unmarked(messages: list[Message], model: str) -> list[Any]:
    turns: list[Any] = ANTHROPIC.sent(messages, model)["messages"]
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
    asked = msgspec.structs.replace(turn, tool_calls=(ToolCall(id="a", name="ls", args="{}"),))
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
