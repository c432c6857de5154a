"""Replays anthropic_wire.json: request bodies as JSON values; answers and streams over a real server.

Each deviation has its reason here; nothing else may differ.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.history import pair
from golem_cli.providers.anthropic import AnthropicModel
from tests.support.wire_replay import Deltas, Format, base_name, check_answer, parameters, sent_body, vectors
from tests.support.wire_vectors import request_of

VECTORS = vectors("anthropic_wire.json")
FORMAT = Format(
    model=AnthropicModel,
    whole=b'{"content":[]}',
    streamed=b'data: {"type":"message_stop"}\n\n',
    default_whole='{"content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":1,"output_tokens":2}}',
    default_stream=(
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}\n\n'
        'data: {"type":"message_stop"}\n\n'
    ),
    without_end="without a message_stop",
)


# Request rows whose wire form the specification or the public format replaces by an error.
REPLACED = {
    "only system": HistoryError,  # the format demands a message
    "mix 31": HistoryError,  # nothing but empty turns
    "parts on assistant": HistoryError,  # parts are allowed on user and tool messages only
    "parts on system": HistoryError,
    "image both url and data": HistoryError,  # exactly one of url and data
    "image neither": HistoryError,
    "tool schema empty text": ConfigurationError,  # 0.6.0 refused these three as well
    "tool schema invalid": ConfigurationError,
    "output schema invalid": ConfigurationError,
    "config temperature low": ConfigurationError,  # … and this
}
NOT_OURS = {
    "config no key": "whether a key is needed is the caller's to know: a server on this machine needs none",
    "config no model": "a name is the caller's to give",
    "config all bad": "as above",
    "config max tokens negative": "0.6.0 has 0 where we have None; the range is tested with the settings",
}


def adapted(body: dict[str, Any]) -> dict[str, Any]:
    """What the specification and the public format make of a body that 0.6.0 sent.

    `max_tokens` is the chat's choice; marks for the cache were none; a turn without anything in it is left
    out; arguments are an object; a conversation begins with the user's turn; every object of an output
    schema is closed.
    """
    for message in body["messages"]:
        message["content"] = [block for block in message["content"] or () if not blank(block)]
        for block in message["content"]:
            if block["type"] == "tool_use":
                block["input"] = arguments_on_the_wire(block["input"])
    body["messages"] = merged([message for message in body["messages"] if message["content"]])
    if body["messages"][0]["role"] == "assistant":
        body["messages"].insert(0, None)
    if "output_config" in body:
        body["output_config"]["format"]["schema"]["additionalProperties"] = False
    return body


def blank(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and not block["text"].strip()


def merged(messages: list[dict[str, Any]]) -> list[Any]:
    """Turns of one role that the left out ones had separated."""
    turns: list[Any] = []
    for message in messages:
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1]["content"] += message["content"]
        else:
            turns.append(message)
    return turns


def arguments_on_the_wire(value: Any) -> Any:
    return value if isinstance(value, dict) else {"truncated_args": value}


def comparable(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what is ours to choose: the length, the marks, the words before and after."""
    body.pop("max_tokens")
    if isinstance(body.get("system"), list):
        [block] = body["system"]
        body["system"] = block["text"]
    turns = body["messages"]
    for index in (0, -1):
        if turns[index] and turns[index]["content"][0].get("text", "").startswith(OURS):
            turns[index] = None
    blocks = [block for turn in turns if turn for block in turn["content"]]
    for block in [*(body.get("tools") or ()), *blocks]:
        block.pop("cache_control", None)
    return body


OURS = "(The beginning of this conversation"


def needs_repair(row: dict[str, Any]) -> bool:
    """Whether the history is none that a run sends: unpaired, with blank ids, or with parts in results.

    Of such rows `test_all_formats_histories.py` shows that a strict server takes them.
    """
    messages = request_of(row["spec"]).messages
    evidence = pair(messages)
    blank_ids = any(not call.id for message in messages for call in message.tool_calls)
    framed = any(message.role == "tool" and message.parts for message in messages)
    return blank_ids or framed or bool(evidence.orphans or evidence.displaced or evidence.unanswered)


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
KEPT = "arguments that are cut off are evidence, and kept"
STANDARD = "the standard of event streams wins"
READ_OTHERWISE = {
    "response http error case keys": "field names are matched exactly",
    "stream http error case keys": "as above",
    "stream case keys": "as above",
    "response content missing": "an answer without content is none",
    "response empty object": "as above",
    "response null": "as above",
    "response error body 200": "an error in a body is an error, whatever the status",
    "response tool result content shape breaks": "a block of an unknown kind is passed over",
    "response usage cache": "cached tokens are part of the input's",
    "stream usage cache tokens ignored": "as above",
    "stream usage delta empty object zeroes output": "a count that is missing is as it was",
    "stream message start twice": "as above",
    "stream no blank lines": STANDARD,
    "stream cut mid line": STANDARD,
    "stream empty data": STANDARD,
    "stream multi line data": STANDARD,
    "stream tool no newline end": STANDARD,
    "stream line of 1048576 bytes before newline": "the limit is ours: 64 MiB",
    "stream error event null error": "an error event in mid-stream is an error",
    "stream error event no error no stop": "as above",
    "stream top level error field without error type": "as above",
    "stream tool invalid input": KEPT,
    "stream tool invalid first of two": KEPT,
    "stream mix 3": KEPT,
    "stream mix 6": KEPT,
    "stream mix 10": KEPT,
    "stream mix 11": "a fragment of another kind at an index begins another block; 0.6.0 appends to the call",
    "stream mix 18": KEPT,
}


@pytest.mark.parametrize(
    "row", parameters([row for row in VECTORS if row["kind"] in {"response", "stream"}], but=READ_OTHERWISE)
)
async def test_answers_are_read_as_the_vectors_say(row: dict[str, Any]) -> None:
    await check_answer(FORMAT, row, said=with_something_in_them)


def with_something_in_them(deltas: Deltas) -> Deltas:
    return [delta for delta in deltas if delta["content"] or delta.get("toolCalls")]


def test_every_deviation_names_a_vector() -> None:
    names = {row["name"] for row in VECTORS}
    assert set(READ_OTHERWISE) <= names
    assert REPLACED.keys() | NOT_OURS.keys() <= {base_name(row) for row in VECTORS}
