"""Laws of the codec, on generated and damaged documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from golem_cli.core.codec import (
    Transcript,
    dump_conversation,
    dump_message,
    dump_messages,
    dump_run,
    dump_transcript,
    load_conversation,
    load_message,
    load_messages,
    load_run,
    load_transcript,
)
from golem_cli.core.codec.document import read_document
from golem_cli.core.codec.fast import read_fast
from golem_cli.core.codec.text import read_text
from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.errors import TranscriptError
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.usage import Usage

# No law depends on how busy the machine is.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCHEMA = Path(__file__).parents[2] / "docs" / "conversation.schema.json"
KNOWN = set(json.loads(SCHEMA.read_bytes())["$defs"]["message"]["properties"])
"""The fields of a message, as they are published."""
FOREIGN = {"tool_calls", "tool_call_id", "function_call"}
"""Of OpenAI's messages: such a file is refused, with how to convert it."""
# Everything that JSON can hold: a low surrogate right after a high one would be another character.
texts = st.text(st.characters(exclude_categories=[])).map(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
short = st.one_of(st.just(""), st.sampled_from(["a", "call_0", '"', "\\", "\u2028\0", "\ud800"]), texts)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
raw_json = st.one_of(
    json_values.map(json.dumps),
    json_values.map(lambda value: json.dumps(value, indent=1)),
    st.sampled_from(
        ['{"a":1,"a":2}', "1e999", "7" * 60, '{ "b" :[ 1.0 ]}', '"\\ud800"', "-0", '"\\/\\u0041"']
    ),
)
one_line_json = json_values.map(lambda value: json.dumps(value, separators=(",", ":")))
extras: st.SearchStrategy[dict[str, str]] = st.one_of(
    st.builds(dict),
    st.dictionaries(st.sampled_from(["x", "é", "new field", '"', "\0", ""]), one_line_json, max_size=2),
)
args = st.one_of(
    texts, raw_json, st.sampled_from(["", "null", " {}", "{}\n", '{"a":\r1}', '{"a":1', "NaN", "\ufeff{}"])
)
calls = st.builds(ToolCall, id=short, name=short, args=args, signature=short, extra=extras)
parts = st.builds(Part, kind=short, url=short, data=short, media_type=short, extra=extras)
thinking = st.builds(ThinkingBlock, text=short, signature=short, redacted=short, extra=extras)


def tuples(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=2).map(tuple)


messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool", "", "wizard"]),
    content=short,
    parts=tuples(parts),
    thinking=tuples(thinking),
    tool_calls=tuples(calls),
    tool_call_id=short,
    tool_name=short,
    failed=st.booleans(),
    interrupted=st.booleans(),
    signed_by=short,
    run_id=short,
    conversation_id=short,
    extra=extras,
)
counts = st.integers(0, 10**18 - 1)
runs = st.builds(
    RunRecord,
    run_id=short,
    status=short,
    stage=short,
    error=short,
    model=short,
    requests=counts,
    tool_calls=counts,
    usage=st.builds(Usage, input_tokens=counts, output_tokens=counts, extra=extras),
    cost=st.none() | st.floats(0, allow_infinity=False),
    started_at=short,
    ended_at=short,
    prompt=short,
    prompt_parts=tuples(parts),
    partial_text=short,
    pending=tuples(short),
    extra=extras,
)
conversations = st.builds(
    Conversation,
    conversation_id=short,
    title=short,
    model=short,
    instructions=short,
    settings=st.builds(
        ConversationSettings, trim=st.none() | counts, budget=st.none() | counts, extra=extras
    ),
    forked_from=short,
    messages=tuples(messages),
    runs=tuples(runs),
    version=st.integers(1, 3),
    extra=extras,
)


@unhurried
@given(st.lists(messages, max_size=4))
def test_messages_come_back_equal_and_a_second_save_is_the_same(history: list[Message]) -> None:
    """Whatever the strings, arguments and unknown fields are; one line a message."""
    written = dump_messages(history)
    assert load_messages(written) == history
    assert dump_messages(load_messages(written)) == written
    assert written.count(b"\n") == (len(history) + 2 if history else 1)
    json.loads(written)


@unhurried
@given(messages)
def test_one_message_and_its_line_are_each_other(message: Message) -> None:
    line = dump_message(message)
    assert b"\n" not in line
    assert b"\r" not in line
    assert load_message(line) == message
    assert dump_messages([message]) == b"[\n" + line + b"\n]\n"


@unhurried
@given(runs)
def test_one_run_and_its_line_are_each_other(run: RunRecord) -> None:
    line = dump_run(run)
    assert b"\n" not in line
    assert load_run(line) == run


@unhurried
@given(conversations)
def test_a_conversation_comes_back_equal(conversation: Conversation) -> None:
    written = dump_conversation(conversation)
    assert load_conversation(written) == conversation
    assert dump_conversation(load_conversation(written)) == written
    assert written.count(b"\n") == 1 + sum(
        len(items) + 1 for items in (conversation.messages, conversation.runs) if items
    )


@unhurried
@given(st.lists(messages, min_size=1, max_size=3))
def test_jsonl_comes_back_in_its_own_form(history: list[Message]) -> None:
    written = dump_transcript(Transcript(form="jsonl", messages=history))
    loaded = load_transcript(written)
    assert (loaded.form, loaded.messages) == ("jsonl", history)
    assert dump_transcript(loaded) == written


@unhurried
@given(args)
def test_arguments_stay_verbatim(text: str) -> None:
    message = Message(role="assistant", tool_calls=(ToolCall(id="c", name="f", args=text),))
    assert load_messages(dump_messages([message]))[0].tool_calls[0].args == text


@unhurried
@given(raw_json, st.sampled_from(["", " ", "\n", "\t\r\n"]))
def test_an_args_value_is_read_verbatim_whatever_surrounds_it(raw: str, space: str) -> None:
    document = f'[{{"role":"assistant","toolCalls":[{{"args":{space}{raw}{space}}}]}}]'
    expected = "" if raw == "null" else raw
    assert load_messages(document)[0].tool_calls[0].args == expected


@unhurried
@given(texts, json_values)
def test_an_unknown_field_of_any_name_and_value_is_kept(name: str, value: object) -> None:
    assume(name not in KNOWN | FOREIGN)
    document = json.dumps([{"role": "user", name: value}], indent=2)
    kept = json.loads(dump_messages(load_messages(document)))[0][name]
    assert kept == value
    assert type(kept) is type(value)


def outcome(data: bytes, *, fast: bool) -> tuple[Any, ...]:
    """What a document reads as: by the definition alone, or with the fast path first."""
    try:
        transcript = load_transcript(data) if fast else read_document(read_text(data))
    except TranscriptError as error:
        return (str(error), error.message, error.field, error.line, error.offset)
    return (transcript.form, transcript.messages, transcript.conversation)


def documents() -> st.SearchStrategy[bytes]:
    """Documents of all forms and layouts, as golem-cli and as other programs write them."""
    arrays = st.lists(messages, max_size=3).map(dump_messages)
    lines = st.lists(messages, min_size=1, max_size=3).map(
        lambda history: dump_transcript(Transcript(form="jsonl", messages=history))
    )
    values = arrays.map(lambda data: json.loads(data, parse_float=lambda _: 0.5))  # 1e999 is no Python number
    compact = values.map(lambda value: json.dumps(value, separators=(",", ":")).encode())
    pretty = values.map(lambda value: json.dumps(value, indent=2, sort_keys=True).encode())
    return st.one_of(arrays, lines, conversations.map(dump_conversation), compact, pretty)


TOKENS = [
    b'"role":"user",',
    b'"content":null,',
    b'"id":"",',
    b'"x":[1, 2],',
    b'"messages":[],',
    b'"golem":1,',
]
TOKENS += [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b'"',
    b"\\",
    b"\n",
    b" ",
    b"\0",
    b"\xff",
    b"\\ud800",
    b"null",
    b'"extra":{},',
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A document with a token put in, taken out or doubled somewhere."""
    data = draw(documents())
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 30)))
        middle = draw(st.sampled_from([b"", data[start:end] * 2, *TOKENS]))
        data = data[:start] + middle + data[end:]
    return data


@unhurried
@given(documents())
def test_the_fast_path_reads_what_the_definition_reads(data: bytes) -> None:
    assert outcome(data, fast=True) == outcome(data, fast=False)


@unhurried
@given(damaged())
@example(b'[{"role":"user","role":"user"}]')
@example(b'[{"role":"user","content":"","content":"a"}]')
@example(b'[{"role":"user","extra":{}}]')
@example(b'[{"role":"user","extra":{"a":"b"}}]')
@example(b'[{"role":"user","r\\u006fle":"user"}]')
@example(b'[{"role":"user","content":"\\u0061"}]')
@example(b'[{"role":"user","content":null}]')
@example(b'{"golem":1,"x":{"messages":[{"role":"a"}]},"messages":[{"role":"a"}]}')
@example(b'{"golem":1,"messages":[],"messages":[{"role":"a"}]}')
@example(b'{"role":"user","golem":1}\n{"role":"user"}')
@example(b'{"role":"user"} {"role":"user"}')
@example(b'{"golem":1,"messages":null}')
@example(b'{"golem":1}')
@example(b'[{"role":"assistant","toolCalls":[{"args":"\\ud800"}]}]')
@example(b'[{"role":"assistant","toolCalls":[{"args":"\\ud800\\u0041 and so on"}]}]')
@example(b'[{"role":"user","content":"\\ud800 and so on, and so on"}]')
def test_the_fast_path_and_the_definition_agree_on_damaged_documents(data: bytes) -> None:
    assert outcome(data, fast=True) == outcome(data, fast=False)


@unhurried
@given(st.binary() | damaged() | st.text().map(lambda text: text.encode("utf-16")))
def test_bad_bytes_raise_a_transcript_error_of_one_printable_line_and_nothing_else(data: bytes) -> None:
    for salvage in (False, True):
        try:
            load_transcript(data, salvage=salvage)
        except TranscriptError as error:
            assert str(error).isprintable()  # noqa: PT017 (many documents are fine: nothing is raised then)


@unhurried
@given(documents(), st.data())
def test_salvage_keeps_exactly_the_messages_before_the_cut(data: bytes, draw: st.DataObject) -> None:
    whole = load_transcript(data)
    cut = draw.draw(st.integers(1, len(data)))
    try:
        kept = load_transcript(data[:cut], salvage=True)
    except TranscriptError:
        return  # white space or a mark alone
    assert kept.messages == whole.messages[: len(kept.messages)]
    assert len(kept.messages) == len(whole.messages) or kept.salvaged or kept.form == "jsonl"


@unhurried
@given(st.lists(messages.filter(lambda message: "\\ud" not in repr(message)), min_size=1, max_size=3))
def test_what_golem_writes_needs_no_slow_path_for_the_document(history: list[Message]) -> None:
    assert read_fast(read_text(dump_messages(history))) is not None
