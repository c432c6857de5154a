"""What goes on the wire is what a strict chat-completions server takes, whatever the history was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.history import repair
from golem_cli.core.message import Message, Part, ToolCall
from golem_cli.core.model import ModelRequest
from golem_cli.providers.openai.encode import encode_request
from golem_cli.providers.services import SERVICES, Quirks, Service

CONFORMANCE = Path(__file__).parent.parent / "conformance"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")


def refusal(body: dict[str, Any], quirks: Quirks) -> str:
    """Why a strict server refuses `body`: the rules of the format's public reference, and of the service."""
    waiting: list[str] = []
    for message in body["messages"]:
        role, content = message["role"], message.get("content")
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                return "a result without its call right before it"
            waiting.remove(message["tool_call_id"])
            if not isinstance(content, str):
                return "a tool message carries text only"
            continue
        if waiting:
            return f"calls without results: {waiting}"
        if not content and not message.get("tool_calls"):
            return "an empty message"
        if set(message) - {"role", "content", "tool_calls", "reasoning_content"}:
            return "an unknown field"
        if role != "assistant" and "tool_calls" in message:
            return "calls on another role"
        for call in message.get("tool_calls", ()):
            if reason := call_refusal(call, quirks):
                return reason
            waiting.append(call["id"])
    return f"calls without results: {waiting}" if waiting else ""


def call_refusal(call: dict[str, Any], quirks: Quirks) -> str:
    identity = call["id"]
    if not identity:
        return "a call without an id"
    if quirks.call_id_length and not (len(identity) == quirks.call_id_length and identity.isalnum()):
        return f"an id of another form: {identity}"
    if not isinstance(json.loads(call["function"]["arguments"]), dict):
        return "arguments that are no object"
    return ""


def wire(messages: list[Message], quirks: Quirks) -> dict[str, Any]:
    request = ModelRequest(messages=messages)
    body: dict[str, Any] = json.loads(encode_request(request, model="m", quirks=quirks, stream=True))
    return body


def loaded(records: list[dict[str, Any]]) -> list[Message]:
    """A history of the conformance cases; a null and a missing field are one."""
    return [
        Message(
            role=record["role"],
            content=record.get("content") or "",
            tool_calls=tuple(
                ToolCall(id=call.get("id") or "", name=call.get("name") or "", args=args_text(call))
                for call in record.get("toolCalls") or ()
            ),
            tool_call_id=record.get("toolCallId") or "",
            tool_name=record.get("toolName") or "",
        )
        for record in records
    ]


def args_text(call: dict[str, Any]) -> str:
    if "argsText" in call:
        return str(call["argsText"])
    return "" if call.get("args") is None else json.dumps(call["args"])


CASES = [
    pytest.param(json.loads(path.read_text(encoding="utf-8")), id=path.stem)
    for path in sorted((CONFORMANCE / "cases").glob("*.json"))
]


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row["name"]) for row in json.loads((CONFORMANCE / "repair.json").read_text())[::7]],
)
def test_repaired_histories_are_accepted(row: dict[str, Any], service: Service) -> None:
    body = wire(repair(loaded(row["in"])), service.quirks)
    assert refusal(body, service.quirks) == ""


@pytest.mark.parametrize("case", CASES)
def test_histories_from_bug_reports_are_accepted(case: dict[str, Any]) -> None:
    records = case.get("transcript")
    if case["kind"] not in {"normalize", "sanitize", "wire"} or not isinstance(records, list):
        return
    messages = [m for m in repair(loaded(records)) if m.role != "system"]
    for quirks in (Quirks(), Quirks(call_id_length=9, send_reasoning=True)):
        assert refusal(wire(messages, quirks), quirks) == ""


ids = st.sampled_from(["", "a", "b", "call_0", "abcDEF123"])
texts = st.sampled_from(["", "x", "cut \ud83d", "\x00"])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.just("f"),
    args=st.sampled_from(["", " ", "{}", '{"a":', "[1]", "null", '"\ud83d']),
)
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=st.sampled_from([(), (IMAGE,)])),
    st.builds(
        Message, role=st.just("assistant"), content=texts, tool_calls=st.lists(calls, max_size=3).map(tuple)
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


@given(st.lists(messages_of_any_kind, max_size=12), st.sampled_from([0, 9]), st.booleans())
def test_random_damaged_histories_are_accepted(history: list[Message], length: int, reasoning: bool) -> None:
    quirks = Quirks(call_id_length=length, send_reasoning=reasoning)
    assert refusal(wire(repair(history), quirks), quirks) == ""


@given(st.lists(messages_of_any_kind, max_size=8))
def test_the_same_request_gives_the_same_bytes(history: list[Message]) -> None:
    request = ModelRequest(messages=repair(history))
    bodies = {encode_request(request, model="m", quirks=Quirks(), stream=False) for _ in range(2)}
    assert len(bodies) == 1


def test_the_strict_server_refuses_what_was_not_adapted() -> None:
    """Each rule can fail: otherwise the tests above would show nothing."""
    turn = {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "r"}
    user = {"role": "user", "content": "hi"}
    bad_args = {**turn, "tool_calls": [{"id": "a", "function": {"arguments": "[]"}}]}
    for messages in ([turn], [result], [turn, user, result], [turn, result, result], [bad_args, result]):
        assert refusal({"messages": messages}, Quirks())
    assert refusal({"messages": [{"role": "user", "content": ""}]}, Quirks())
    assert refusal({"messages": [turn, result]}, Quirks(call_id_length=9))
    assert refusal({"messages": [turn, result, user]}, Quirks()) == ""
