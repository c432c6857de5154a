"""A strict Responses server takes every request of ours, whatever the history; refuses any not adapted."""

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
from golem_cli.providers.openai_responses import ResponsesModel
from golem_cli.providers.openai_responses.encode import encode_request
from tests.support.damaged_histories import IMAGE, PROMPT, histories
from tests.support.every_format import RESPONSES
from tests.support.http_server import HttpServer
from tests.support.strict_responses import RULES, refusal, strict_server
from tests.support.strict_rules import Rule


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


@settings(deadline=None)
@given(histories(8), histories(4), st.sampled_from(RESPONSES.models))
def test_more_turns_leave_the_bytes_before_them_as_they_were(
    history: list[Message], more: list[Message], model: str
) -> None:
    first = [PROMPT, *RESPONSES.prepared(history, model), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *RESPONSES.prepared(more, model), PROMPT]
    origin = RESPONSES.origin(model)
    one, two = (
        encode_request(ModelRequest(messages=messages), model=model, origin=origin, stream=True)
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
