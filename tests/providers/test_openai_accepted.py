"""What goes on the wire is what each service's strict server takes, whatever the history was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.codec import load_messages
from golem_cli.core.history import repair
from golem_cli.core.message import Message, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings
from golem_cli.providers.openai.encode import encode_request
from golem_cli.providers.services import SERVICES, Quirks, Service
from tests.support.damaged_histories import IMAGE, PROMPT, histories
from tests.support.every_format import OPENAI
from tests.support.strict_openai import RULES, ServiceRule, refusal

CONFORMANCE = Path(__file__).parent.parent / "conformance"
CHATTING = [service for service in SERVICES if service.protocol == "openai"]
SETTINGS = ModelSettings(max_tokens=100, seed=1)


def wire(messages: list[Message], quirks: Quirks) -> dict[str, Any]:
    request = ModelRequest(messages=messages, settings=SETTINGS)
    body: dict[str, Any] = json.loads(encode_request(request, model="m", quirks=quirks, stream=True))
    return body


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name} {' '.join(rule.services)}")
def test_the_strict_server_refuses_what_was_not_adapted(rule: ServiceRule) -> None:
    """Each rule can fail, and first: otherwise the tests below would show nothing."""
    for service in rule.services or ("openai",):
        assert refusal(rule.example, service) is rule
    assert rule.page.startswith("https://")


def test_every_rule_is_about_services_of_the_table() -> None:
    assert {name for rule in RULES for name in rule.services} <= {service.name for service in CHATTING}


REPAIRS = json.loads((CONFORMANCE / "repair.json").read_text())[::7]


@pytest.mark.parametrize("service", CHATTING, ids=lambda service: service.name)
@pytest.mark.parametrize("row", REPAIRS, ids=lambda row: row["name"])
def test_repaired_histories_are_accepted(row: dict[str, Any], service: Service) -> None:
    messages = repair(load_messages(json.dumps(row["in"])))
    assert refusal(wire([*messages, PROMPT], service.quirks), service.name) is None


@given(histories(8))
def test_the_same_request_gives_the_same_bytes(history: list[Message]) -> None:
    request = ModelRequest(messages=OPENAI.prepared(history, "openai"))
    bodies = {encode_request(request, model="m", quirks=Quirks(), stream=False) for _ in range(2)}
    assert len(bodies) == 1


@settings(deadline=None)
@given(histories(8), histories(4), st.sampled_from(CHATTING))
def test_more_turns_leave_the_messages_before_them_as_they_were(
    history: list[Message], more: list[Message], service: Service
) -> None:
    """Up to its last message: so does a prompt cache stay warm."""
    first = [PROMPT, *OPENAI.prepared(history, service.name), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *OPENAI.prepared(more, service.name), PROMPT]
    one, two = (wire(messages, service.quirks)["messages"] for messages in (first, second))
    assert two[: len(one) - 1] == one[:-1]


def test_a_tool_result_and_a_new_prompt_have_an_answer_between_them_for_mistral() -> None:
    quirks = Quirks(order="bridged", call_id_length=9)
    turn = Message(role="assistant", tool_calls=(ToolCall(id="a", name="f"), ToolCall(id="a", name="f")))
    done = [Message(role="tool", tool_call_id="a", content=text) for text in "xy"]
    sent = wire([PROMPT, turn, *done, PROMPT], quirks)["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    called = [call["id"] for call in sent[1]["tool_calls"]]
    assert called == [message["tool_call_id"] for message in sent[2:4]]
    assert len(set(called)) == 2


def test_turns_alternate_and_tools_are_told_in_text_for_perplexity() -> None:
    turn = Message(role="assistant", tool_calls=(ToolCall(id="a", name="ls", args="{}"),))
    done = Message(role="tool", tool_call_id="a", tool_name="ls", content="x", parts=(IMAGE,))
    system = Message(role="system", content="Be brief.")
    sent = wire([system, turn, done, PROMPT], Quirks(order="alternating"))["messages"]
    assert sent[:3] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "[earlier messages are not shown]"},
        {"role": "assistant", "content": "[called ls with {}]"},
    ]
    assert sent[3]["content"] == [
        {"type": "text", "text": "[result of ls]\nx"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAEC/+8="}},
        {"type": "text", "text": "go on"},
    ]


def test_reasoning_goes_back_from_the_first_call_on_and_never_another_providers() -> None:
    hm = (ThinkingBlock(text="hm"),)
    plain = Message(role="assistant", content="a", thinking=hm)
    turn = Message(role="assistant", thinking=hm, tool_calls=(ToolCall(id="a", name="f"),))
    done = Message(role="tool", tool_call_id="a", content="x")
    foreign = msgspec.structs.replace(turn, signed_by="anthropic:claude")
    history = [PROMPT, plain, PROMPT, turn, done, plain, PROMPT, plain, PROMPT, foreign, done]
    sent = wire(history, Quirks(send_reasoning=True))["messages"]
    told = [message.get("reasoning_content") for message in sent if message["role"] == "assistant"]
    assert told == [None, "hm", "hm", None, ""]
