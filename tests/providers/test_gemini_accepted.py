"""A strict Gemini server takes every request of ours, whatever the history; and refuses any not adapted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.message import Message, ToolCall
from golem_cli.core.model import ModelRequest, ToolSpec
from golem_cli.providers.gemini import GeminiModel
from tests.support.damaged_histories import PROMPT, histories
from tests.support.every_format import GEMINI
from tests.support.http_server import HttpServer
from tests.support.strict_gemini import RULES, SIGNED, strict_server
from tests.support.strict_rules import Rule


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


@settings(deadline=None)
@given(histories(8), histories(4), st.sampled_from(GEMINI.models))
def test_more_turns_leave_the_bytes_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    """Up to its last message: so does a prompt cache stay warm."""
    first = [PROMPT, *GEMINI.prepared(history, model), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *GEMINI.prepared(more, model), PROMPT]
    one, two = (GEMINI.sent(messages, model)["contents"] for messages in (first, second))
    assert two[: len(one)] == one


async def test_a_conversation_goes_on_with_a_tool_and_its_own_signatures(server: HttpServer) -> None:
    """Signatures go back to the model that made them, each in its part; another model gets none."""
    model = GeminiModel(model="gemini-3.1-pro-preview", base_url=server.url, api_key="k")
    tools = [ToolSpec(name="ls", description="Lists.", schema='{"type":"object"}')]
    request = ModelRequest(messages=[PROMPT], tools=tools)
    turn = (await model.stream(request, lambda _: None)).message
    own = SIGNED + "gemini-3.1-pro-preview"
    call = ToolCall(id="a", name="ls", args="{}", signature=own)
    asked = msgspec.structs.replace(turn, tool_calls=(call,))
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
