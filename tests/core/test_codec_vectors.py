"""The codec against recorded facts: what the Go library read and wrote, shapes from public bug reports."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from golem_cli.core.codec import dump_messages, load_messages
from golem_cli.core.errors import CutTranscriptError, TranscriptError
from golem_cli.core.message import Message, Part, ToolCall

CONFORMANCE = Path(__file__).parents[1] / "conformance"
ROUNDTRIP = json.loads((CONFORMANCE / "json_roundtrip.json").read_text(encoding="utf-8"))
CASES = {
    path.stem.split("-")[0]: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((CONFORMANCE / "cases").glob("*.json"))
}

# Where golem-cli differs on purpose (conformance README): vector name → what happens here.
REFUSED = {
    "array null": "a null message is an error",
    "two nulls": "a null message is an error",
    "null between": "a null message is an error",
    "trailing newline": "its message has no role",
    "case Role": "names match exactly, so there is no role",
    "case ROLE": "names match exactly, so there is no role",
    "case three": "no role",
    "key with spaces no match": "no role",
    "unknown fields": "thinking is known now, and text there is a wrong type",
    "duplicate content": "a repeated key",
    "duplicate content second null": "a repeated key",
    "duplicate toolCalls": "a repeated key",
    "duplicate toolCalls shrink and merge": "a repeated key",
    "duplicate toolCalls second null": "a repeated key",
    "duplicate args field": "a repeated key",
    "duplicate parts": "a repeated key",
    "snake tool_calls no match": "a key of the OpenAI format",
    "part data empty array": "a wrong type: data is text",
    "invalid utf8 in content": "bytes that are not the encoding they claim",
    "invalid utf8 truncated": "bytes that are not the encoding they claim",
    "overlong": "bytes that are not the encoding they claim",
    "invalid utf8 in key": "bytes that are not the encoding they claim",
}
ACCEPTED = {
    "bom": "a byte order mark is read",
    "utf8 bom bytes": "a byte order mark is read",
    "utf16": "UTF-16 with a mark is read",
    "part data unpadded": "data is kept as text",
    "part data space": "data is kept as text",
    "part data tab": "data is kept as text",
    "part data excess padding": "data is kept as text",
    "part padding mid": "data is kept as text",
}
# Accepted by both, but golem-cli keeps what Go changed: JSON that ours is written as.
KEPT = {
    "unknown field huge exponent": '[{"role":"user","extra":1e999}]',
    "case TOOLCALLS": '[{"role":"assistant","TOOLCALLS":[{"ID":"a","NAME":"n","ARGS":{"X":1}}]}]',
    "case toolcallid": '[{"role":"tool","content":"r","toolcallid":"a","TOOLNAME":"n"}]',
    "case both exact first": '[{"role":"user","Role":"assistant"}]',
    "case kelvin sign tool\u212a no match": '[{"role":"user","\u212aind":"x"}]',
    "case kelvin in kind": '[{"role":"user","parts":[{"\u212aind":"image","URL":"u","MediaType":"x"}]}]',
    "case toolCallID": '[{"role":"tool","toolCallID":"a","content":"r"}]',
    "lone high surrogate": '[{"role":"user","content":"a\\ud800b"}]',
    "lone low surrogate": '[{"role":"user","content":"a\\udc00b"}]',
    "reversed surrogates": '[{"role":"user","content":"\\udc00\\ud800"}]',
    "high surrogate then normal escape": '[{"role":"user","content":"\\ud800A"}]',
    "two highs then low": '[{"role":"user","content":"\\ud83d\U0001f600"}]',
    "lone surrogate in id": '[{"role":"tool","toolCallId":"\\ud800","content":"r"}]',
    "call unknown fields": (
        '[{"role":"assistant","toolCalls":[{"id":"a","name":"n","args":{},"type":"function","index":0}]}]'
    ),
    "part data crlf escape": '[{"role":"user","parts":[{"kind":"image","data":"AA\\r\\nEC"}]}]',
    "part data nonzero trailing bits": '[{"role":"user","parts":[{"kind":"image","data":"AAF="}]}]',
    "part data trailing bits B": '[{"role":"user","parts":[{"kind":"image","data":"AB=="}]}]',
    "part data trailing newline": '[{"role":"user","parts":[{"kind":"image","data":"AAEC\\n"}]}]',
}


def raw(row: dict[str, Any], text: str, encoded: str) -> bytes:
    return row[text].encode() if text in row else base64.b64decode(row[encoded])


def without_empty(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same messages without the empty fields that Go writes; args as a value."""
    for message in messages:
        for record in message.get("toolCalls", []) + message.get("parts", []):
            for key in [key for key, value in record.items() if value in (None, "") and key != "args"]:
                del record[key]
            if record.get("args", ...) is None:
                del record["args"]
            record.pop("argsText", None)
    return messages


@pytest.mark.parametrize("row", ROUNDTRIP, ids=[row["name"] for row in ROUNDTRIP])
def test_a_document_reads_and_writes_as_the_go_library_has_it(row: dict[str, Any]) -> None:
    """Errors and values are those of the vector, but for the differences named above."""
    name, data = row["name"], raw(row, "in", "inB64")
    refused = (row.get("error", False) or name in REFUSED) and name not in ACCEPTED
    if refused:
        with pytest.raises(TranscriptError):
            load_messages(data)
        return
    messages = load_messages(data)
    written = dump_messages(messages)
    assert dump_messages(load_messages(written)) == written
    if name.startswith("args depth"):
        depth = int(name.split()[-1])
        assert messages[0].tool_calls[0].args == "[" * depth + "]" * depth
    elif name not in ACCEPTED:
        expected = json.loads(KEPT.get(name, row["out"]))
        assert without_empty(json.loads(written)) == without_empty(expected)


def test_every_named_difference_is_a_vector() -> None:
    names = {row["name"] for row in ROUNDTRIP}
    assert {*REFUSED, *ACCEPTED, *KEPT} <= names


@pytest.mark.parametrize("case", [case for case in CASES.values() if case["kind"] != "load"])
def test_the_transcripts_of_every_other_case_load(case: dict[str, Any]) -> None:
    transcript = case["transcript"]
    messages = load_messages(json.dumps(transcript))
    assert len(messages) == len(transcript)
    written = dump_messages(messages)
    assert dump_messages(load_messages(written)) == written


def load_case(number: str) -> list[Message]:
    return load_messages(raw(CASES[number], "raw", "rawBase64"))


def refusal(number: str) -> TranscriptError:
    with pytest.raises(TranscriptError) as caught:
        load_case(number)
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    return caught.value


def test_112_a_bad_line_in_the_middle_of_jsonl_is_refused_by_its_number() -> None:
    error = refusal("112")
    assert not isinstance(error, CutTranscriptError)
    assert (error.line, error.message) == (3, 3)
    assert "line 3" in str(error)


def test_113_a_cut_last_line_of_jsonl_says_how_many_messages_precede_it() -> None:
    error = refusal("113")
    assert isinstance(error, CutTranscriptError)
    assert (error.whole, error.line) == (2, 3)


def test_116_nul_bytes_are_refused_and_not_echoed() -> None:
    assert "\0" not in str(refusal("116"))


def test_117_a_block_of_nul_is_refused_at_its_first_byte() -> None:
    data = raw(CASES["117"], "raw", "rawBase64")
    assert refusal("117").offset == data.index(b"\0")


def test_120_two_arrays_are_refused_at_the_second() -> None:
    assert refusal("120").offset == CASES["120"]["raw"].index("][") + 1


def test_121_a_record_written_over_a_cut_one_is_refused_with_a_short_excerpt() -> None:
    error = refusal("121")
    assert error.offset == CASES["121"]["raw"].index('ha{"role') + 4
    assert len(str(error)) < 120


def test_123_a_raw_line_break_in_a_string_is_refused_at_its_byte() -> None:
    error = refusal("123")
    assert (error.message, error.field) == (1, "content")
    assert error.offset == CASES["123"]["raw"].index("\n")


def test_126_crlf_is_white_space_outside_strings_and_survives_inside() -> None:
    assert load_case("126") == [
        Message(role="user", content="a\r\nb"),
        Message(role="assistant", content="c"),
    ]


def test_127_utf16_with_a_mark_is_read() -> None:
    assert load_case("127") == [
        Message(role="user", content="hi"),
        Message(role="assistant", content="hello"),
    ]


def test_128_text_is_utf8_and_comes_back() -> None:
    messages = load_case("128")
    assert messages[0].content == "Привет 世界 🙂"
    assert load_messages(dump_messages(messages)) == messages


def test_130_nan_is_not_json() -> None:
    error = refusal("130")
    assert error.message == 2
    assert error.field == "toolCalls.item 1.args"
    assert error.offset == CASES["130"]["raw"].index("NaN")


def test_131_numbers_of_any_size_are_text() -> None:
    source = CASES["131"]["raw"]
    args = load_case("131")[0].tool_calls[0].args
    assert "7" * 5000 in args
    assert args in source
    assert args.encode() in dump_messages(load_case("131"))


def test_132_133_args_come_back_byte_for_byte() -> None:
    args = '{ "id":2512292042121000001, "a":1.0,"b":1e2,"c":-0,"d":0.10,"e":"\\u0041\\/" }'
    assert load_case("132")[0].tool_calls[0].args == args
    assert f'"args":{args}'.encode() in dump_messages(load_case("132"))
    assert load_case("133")[0].tool_calls[0].args == '{"z":1,  "a":2,"z":3}'
    assert b'"args":{"z":1,  "a":2,"z":3}' in dump_messages(load_case("133"))


def test_135_twenty_thousand_brackets_are_one_clear_error() -> None:
    assert refusal("135").message == 1


def test_136_a_wrapper_object_is_refused_with_a_hint() -> None:
    assert '"messages"' in str(refusal("136"))
    assert "array of messages" in str(refusal("136"))


def test_137_content_as_a_list_names_message_field_and_format() -> None:
    error = refusal("137")
    assert (error.message, error.field) == (1, "content")
    assert "OpenAI" in str(error)


def test_138_null_fields_are_absent_fields() -> None:
    assert load_case("138") == [
        Message(role="user"),
        Message(role="assistant"),
        Message(role="tool", content="x"),
    ]


def test_139_keys_of_the_openai_format_are_refused_by_name() -> None:
    error = refusal("139")
    assert (error.message, error.field) == (1, "tool_calls")
    assert "OpenAI chat" in str(error)


def test_140_odd_roles_are_kept_as_they_are() -> None:
    """A run refuses them; the file keeps them, and none is taken for `system`."""
    assert [message.role for message in load_case("140")] == [
        "developer",
        "SYSTEM",
        " system",
        "function",
        "",
    ]
    assert load_messages(dump_messages(load_case("140"))) == load_case("140")


def test_141_a_repeated_role_is_refused() -> None:
    error = refusal("141")
    assert (error.message, error.field) == (1, "role")


def test_145_a_null_id_is_no_id() -> None:
    assert load_case("145") == [
        Message(role="user", content="go"),
        Message(role="assistant", tool_calls=(ToolCall(args="{}"),)),
        Message(role="tool", content="no such function"),
    ]


def test_146_a_missing_role_is_refused_and_not_guessed() -> None:
    error = refusal("146")
    assert (error.message, error.field) == (2, "role")


def test_a_null_part_is_an_empty_part() -> None:
    """As the Go library reads it: only a null message is an error."""
    assert load_messages('[{"role":"user","parts":[null]}]')[0].parts == (Part(),)
