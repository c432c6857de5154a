"""What goes on the wire is what each service's strict server takes, whatever the history was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.core.codec import load_messages, load_transcript
from golem_cli.core.history import leave_out_malformed_parts, repair
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings
from golem_cli.providers.openai import OpenAIModel
from golem_cli.providers.openai.encode import encode_request
from golem_cli.providers.openai.parts import refusal_of
from golem_cli.providers.services import SERVICES, Quirks, Service
from tests.support.strict_openai import RULES, Rule, refusal, strict_server

CONFORMANCE = Path(__file__).parent.parent / "conformance"
TRANSCRIPTS = Path(__file__).parent.parent.parent / "transcripts"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
PROMPT = Message(role="user", content="go on")
CHATTING = [service for service in SERVICES if service.protocol == "openai"]
SETTINGS = ModelSettings(max_tokens=100, seed=1)


def wire(messages: list[Message], quirks: Quirks) -> dict[str, Any]:
    request = ModelRequest(messages=messages, settings=SETTINGS)
    body: dict[str, Any] = json.loads(encode_request(request, model="m", quirks=quirks, stream=True))
    return body


def carried(messages: list[Message]) -> list[Message]:
    """What the chat supplies: without the parts that nobody, or that this format, can carry."""
    history, _ = leave_out_malformed_parts(messages)
    return [
        msgspec.structs.replace(message, parts=tuple(p for p in message.parts if not refusal_of(p)))
        for message in history
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.name} {' '.join(rule.services)}")
def test_the_strict_server_refuses_what_was_not_adapted(rule: Rule) -> None:
    """Each rule can fail, and first: otherwise the tests below would show nothing."""
    for service in rule.services or ("openai",):
        assert refusal(rule.example, service) is rule
    assert rule.page.startswith("https://")


def test_every_rule_is_about_services_of_the_table() -> None:
    assert {name for rule in RULES for name in rule.services} <= {service.name for service in CHATTING}


SAMPLES = [
    pytest.param(load_transcript(path.read_bytes(), salvage=True).messages, id=path.stem)
    for path in sorted(TRANSCRIPTS.glob("*.json*"))
]


@pytest.mark.parametrize("name", ["openai", "mistral", "perplexity", "deepseek", "groq"])
@pytest.mark.parametrize("messages", SAMPLES)
async def test_every_sample_is_accepted_streamed_and_whole(messages: list[Message], name: str) -> None:
    service = next(service for service in CHATTING if service.name == name)
    history = [message for message in repair(carried(messages)) if message.role != "system"]
    request = ModelRequest(messages=[*history, PROMPT])
    with strict_server(name) as server:
        model = OpenAIModel(model="m", base_url=server.url, quirks=service.quirks)
        streamed = await model.stream(request, lambda _: None)
        whole = await model.complete(request)
        await model.aclose()
    assert streamed.message.content == whole.message.content == "Hello"


CASES = [
    pytest.param(case["transcript"], id=path.stem)
    for path in sorted((CONFORMANCE / "cases").glob("*.json"))
    if (case := json.loads(path.read_text(encoding="utf-8")))["kind"] in {"normalize", "sanitize", "wire"}
    and isinstance(case.get("transcript"), list)
]
REPAIRS = json.loads((CONFORMANCE / "repair.json").read_text())[::7]


@pytest.mark.parametrize("service", CHATTING, ids=lambda service: service.name)
@pytest.mark.parametrize("row", REPAIRS, ids=lambda row: row["name"])
def test_repaired_histories_are_accepted(row: dict[str, Any], service: Service) -> None:
    messages = repair(load_messages(json.dumps(row["in"])))
    assert refusal(wire([*messages, PROMPT], service.quirks), service.name) is None


@pytest.mark.parametrize("records", CASES)
def test_histories_from_bug_reports_are_accepted(records: list[dict[str, Any]]) -> None:
    messages = repair(carried(load_messages(json.dumps(records))))
    messages = [message for message in messages if message.role != "system"]
    for service in CHATTING:
        assert refusal(wire([*messages, PROMPT], service.quirks), service.name) is None


ids = st.sampled_from(["", "a", "b", "call_0", "abcDEF123"])
texts = st.sampled_from(["", "x", "cut \ud83d", "\x00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "docs.search", "", "n" * 90]),
    args=st.sampled_from(["", " ", "{}", '{"a":', "[1]", "null", '"\ud83d']),
)
blocks = st.builds(ThinkingBlock, text=texts, signature=st.sampled_from(["", "signed"]))
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=st.sampled_from([(), (IMAGE,)])),
    st.builds(Message, role=st.just("wizard"), content=texts),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=texts,
        thinking=st.lists(blocks, max_size=2).map(tuple),
        signed_by=st.sampled_from(["", "anthropic:claude"]),
        tool_calls=st.lists(calls, max_size=3).map(tuple),
    ),
    st.builds(
        Message,
        role=st.just("tool"),
        content=texts,
        tool_call_id=ids,
        parts=st.sampled_from([(), (IMAGE,)]),
        tool_name=st.just("f"),
    ),
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(messages_of_any_kind, max_size=12), st.sampled_from(CHATTING))
def test_random_damaged_histories_are_accepted(history: list[Message], service: Service) -> None:
    assert refusal(wire(repair(history), service.quirks), service.name) is None


@given(st.lists(messages_of_any_kind, max_size=8))
def test_the_same_request_gives_the_same_bytes(history: list[Message]) -> None:
    request = ModelRequest(messages=repair(history))
    bodies = {encode_request(request, model="m", quirks=Quirks(), stream=False) for _ in range(2)}
    assert len(bodies) == 1


@settings(deadline=None)
@given(
    st.lists(messages_of_any_kind, max_size=8),
    st.lists(messages_of_any_kind, max_size=4),
    st.sampled_from(CHATTING),
)
def test_more_turns_leave_the_messages_before_them_as_they_were(
    history: list[Message], more: list[Message], service: Service
) -> None:
    """Up to its last message: so does a prompt cache stay warm."""
    first = [PROMPT, *repair(history), PROMPT]
    second = [*first, Message(role="assistant", content="ok"), *repair(more), PROMPT]
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
