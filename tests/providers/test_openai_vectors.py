"""Replays openai_wire.json: request bodies as JSON values; answers and streams over a real loopback server.

Each deviation has its reason here; nothing else may differ.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.history import pair
from golem_cli.providers.openai import OpenAIModel
from tests.support.wire_replay import Format, base_name, check_answer, parameters, sent_body, vectors
from tests.support.wire_vectors import request_of

VECTORS = vectors("openai_wire.json")
FORMAT = Format(
    model=OpenAIModel,
    whole=b'{"choices":[{"message":{"content":"ok"}}]}',
    streamed=b"data: [DONE]\n\n",
    default_whole=(
        '{"choices":[{"message":{"content":"ok"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}'
    ),
    default_stream='data: {"choices":[{"delta":{"content":"ok"}}]}\n\ndata: [DONE]\n\n',
    without_end="without [DONE]",
)


# Request rows whose wire form the specification replaces. Where the reason names a rule, another test shows
# it.
REPLACED = {
    "parts on assistant": HistoryError,  # parts are allowed on user and tool messages only
    "parts on system": HistoryError,
    "image both url and data": HistoryError,  # exactly one of url and data
    "image neither": HistoryError,
    "tool schema empty text": ConfigurationError,  # 0.6.0 refused these three as well
    "tool schema invalid": ConfigurationError,
    "output schema invalid": ConfigurationError,
    "config temperature low": ConfigurationError,  # … and these
    "config temperature 2.5": ConfigurationError,
}
NOT_OURS = {
    "config no key": "whether a key is needed is the caller's to know: a server on this machine needs none",
    "config all bad": "as above",
    "config max tokens negative": "below, with None where 0.6.0 has 0",
}


def adapted(body: dict[str, Any]) -> dict[str, Any]:
    """What the specification makes of a body that 0.6.0 sent: semantics.md, "On the wire"."""
    messages = [on_the_wire(message) for message in body["messages"]]
    return {**body, "messages": [message for message in messages if message is not None]}


def on_the_wire(message: dict[str, Any]) -> dict[str, Any] | None:
    message = dict(message)
    if message["role"] != "assistant":
        message.pop("tool_calls", None)  # calls on other roles are ignored
    if message["role"] != "tool":
        message.pop("tool_call_id", None)
    for call in message.get("tool_calls", ()):
        call["function"]["arguments"] = arguments_on_the_wire(call["function"]["arguments"])
    if message["role"] != "tool" and not message["content"] and "tool_calls" not in message:
        return None  # a turn with nothing in it
    return message


def arguments_on_the_wire(text: str) -> str:
    if not text.strip():
        return "{}"
    try:
        is_object = isinstance(json.loads(text), dict)
    except ValueError:
        is_object = False
    return text if is_object else json.dumps({"truncated_args": text})


def comparable(body: dict[str, Any]) -> dict[str, Any]:
    """A body with the arguments that had to be wrapped as values: their spacing is ours to choose."""
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            arguments = call["function"]["arguments"]
            if arguments.startswith('{"truncated_args"'):
                call["function"]["arguments"] = json.loads(arguments)
    return body


def needs_repair(row: dict[str, Any]) -> bool:
    """Whether the history is none that a run sends: unpaired, with blank ids, or with parts in results.

    Of such rows `test_openai_accepted.py` shows that a strict server takes them, repaired.
    """
    messages = request_of(row["spec"]).messages
    evidence = pair(messages)
    blank = any(not call.id for message in messages for call in message.tool_calls)
    framed = any(message.role == "tool" and message.parts for message in messages)
    return blank or framed or bool(evidence.orphans or evidence.displaced)


def requests() -> list[dict[str, Any]]:
    """The rows whose history a run sends, with settings that are a caller's to give."""
    rows = [row for row in VECTORS if row["kind"] == "request" and base_name(row) not in NOT_OURS]
    return [row for row in rows if base_name(row) in REPLACED or not needs_repair(row)]


@pytest.mark.parametrize("row", parameters(requests(), but={}))
async def test_request_bodies_are_those_of_the_vectors(row: dict[str, Any]) -> None:
    name = base_name(row)
    if name in REPLACED:
        with pytest.raises(REPLACED[name]):
            await sent_body(FORMAT, row)
    else:
        body = await sent_body(FORMAT, row)
        assert comparable(body) == comparable(adapted(json.loads(row["expect"]["request"]["body"])))


# Answers that the specification or the public format reads otherwise than 0.6.0 did. That they do is tested
# here; how they are read, in the tests of each subject.
READ_OTHERWISE = {
    "response http error code list": "our text of a code that is no text is its JSON",
    "response http error code map": "as above",
    "response case keys": "field names are matched exactly",
    "stream http error case keys": "as above",
    "stream case insensitive keys": "as above",
    "stream empty data line": "the standard: an event without data is not dispatched",
    "stream empty data line with space": "as above",
    "stream multi line data": "the standard: its lines are joined",
    "stream cut mid line": "an event that is not complete is not read; the drop is reported",
    "stream content array": "a list of blocks is what Mistral documents; its text is read",
    "stream refusal field": "what the model said instead of an answer is content",
    "stream tool call args object not string": "an object stands for its text",
    "stream tool call missing index": "calls without an index are told apart by their ids",
    "stream tool call id changes": "servers that give every call the same index tell them apart by id",
    "stream tool call name split": "the pieces of a name are joined",
    "stream line of 1048576 bytes before newline": "the limit is ours: 64 MiB",
    "stream line of 1048577 bytes before newline": "as above",
}


@pytest.mark.parametrize(
    "row", parameters([row for row in VECTORS if row["kind"] in {"response", "stream"}], but=READ_OTHERWISE)
)
async def test_answers_are_read_as_the_vectors_say(row: dict[str, Any]) -> None:
    await check_answer(FORMAT, row, made=is_named)


def is_named(call: tuple[str, str, str]) -> bool:
    """0.6.0 fills the gaps between indexes with calls that nobody made."""
    return bool(call[0] or call[1])


def test_every_deviation_names_a_vector() -> None:
    names = {row["name"] for row in VECTORS}
    assert set(READ_OTHERWISE) <= names
    assert REPLACED.keys() | NOT_OURS.keys() <= {base_name(row) for row in VECTORS}
