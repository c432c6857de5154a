"""Bytes and positions: encodings, cuts, nesting, and what an error says."""

from __future__ import annotations

import codecs

import pytest

from golem_cli.core.codec import (
    dump_conversation,
    dump_messages,
    dump_transcript,
    load_conversation,
    load_message,
    load_messages,
    load_run,
    load_transcript,
)
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import CutTranscriptError, TranscriptError
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.usage import Usage

DOCUMENT = '[{"role":"user","content":"héllo 🙂"}]'
HELLO = [Message(role="user", content="héllo 🙂")]


def refused(data: bytes | str) -> TranscriptError:
    with pytest.raises(TranscriptError) as caught:
        load_messages(data)
    assert str(caught.value).isprintable()
    return caught.value


def cut(data: bytes | str) -> CutTranscriptError:
    error = refused(data)
    assert isinstance(error, CutTranscriptError)
    return error


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_every_unicode_encoding_reads_and_errors_give_its_bytes(mark: bytes, encoding: str) -> None:
    assert load_messages(mark + DOCUMENT.encode(encoding)) == HELLO
    broken = DOCUMENT[:-2] + ",}]"
    error = refused(mark + broken.encode(encoding))
    assert error.offset == len(mark) + len(broken[: broken.index("}")].encode(encoding))


def test_a_string_may_begin_with_a_mark_and_holds_no_lone_surrogate() -> None:
    assert load_messages("\ufeff" + DOCUMENT) == HELLO
    assert refused('[{"role":"é\ud800"}]').offset == 12


def test_bad_utf8_names_its_byte_and_line() -> None:
    error = refused(b'[\n{"role":"us\xffer"}]')
    assert (error.offset, error.line) == (13, 2)
    assert "0xff" in str(error)


def test_a_cut_inside_a_character_is_a_cut() -> None:
    data = DOCUMENT.encode()
    assert cut(data[: data.index("🙂".encode()) + 2]).whole == 0
    assert cut(b'[{"role":"user"},{"role":"\xe2\x82').whole == 1


def test_part_of_a_character_behind_a_whole_document_is_no_cut() -> None:
    error = refused(b'[{"role":"user"}]\xe2')
    assert not isinstance(error, CutTranscriptError)
    assert error.offset == 17


def test_line_ends_and_white_space_mean_nothing() -> None:
    assert load_messages('\r\n\t[ {\r\n"role" :\t"user" }\r\n ]\n\n') == [Message(role="user")]


@pytest.mark.parametrize("space", ["\f", "\v", "\u00a0", "\u2028"])
def test_other_white_space_is_refused(space: str) -> None:
    refused(f"{space}[]")
    refused(f'[{{"role":{space}"user"}}]')


@pytest.mark.parametrize("data", ["", "  \n", b"\xef\xbb\xbf"])
def test_nothing_is_no_transcript(data: bytes | str) -> None:
    assert "empty" in str(refused(data))


THREE = '[{"role":"user"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]'


@pytest.mark.parametrize(
    ("end", "whole"),
    [(1, 0), (10, 0), (16, 1), (17, 1), (30, 1), (51, 2), (len(THREE) - 2, 2), (len(THREE) - 1, 3)],
)
def test_a_cut_array_counts_the_messages_before_the_cut(end: int, whole: int) -> None:
    assert cut(THREE[:end]).whole == whole
    salvaged = load_transcript(THREE[:end], salvage=True)
    assert salvaged.messages == load_messages(THREE)[:whole]
    assert str(whole) in salvaged.salvaged


@pytest.mark.parametrize(
    "tail", ["-", "1.", "1e", "1e+", "tr", "nul", '"\\', '"\\u00', '"a', "[1", '{"a"', '{"a":']
)
def test_a_cut_inside_any_token_is_a_cut(tail: str) -> None:
    assert cut('[{"role":"user"},{"role":"user","x":' + tail).whole == 1


@pytest.mark.parametrize("tail", ['"\n', '"\\x', "01", "-a", "trux", "[1 2", "[,", "{,", "+1", "1e}"])
def test_what_no_continuation_could_mend_is_no_cut(tail: str) -> None:
    assert not isinstance(refused('[{"role":"user"},{"role":"user","x":' + tail), CutTranscriptError)


def test_a_cut_conversation_keeps_its_head_its_messages_and_its_whole_runs() -> None:
    head = '{"golem":1,"title":"t","messages":[{"role":"user"}],"runs":[{"runId":"r1"},'
    assert cut(head + '{"runId":"r').whole == 1
    salvaged = load_transcript(head + '{"runId":"r', salvage=True)
    assert salvaged.form == "object"
    assert salvaged.conversation == Conversation(
        title="t", messages=(Message(role="user"),), runs=(RunRecord(run_id="r1"),)
    )


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"", "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF32_BE, "utf-32-be")],
)
@pytest.mark.parametrize("zeros", [4, 512])
def test_what_never_reached_the_disk_is_a_cut(mark: bytes, encoding: str, zeros: int) -> None:
    """A file system that lost its power gives zero bytes for it: behind a whole document, or a torn one."""
    whole = mark + DOCUMENT.encode(encoding)
    error = cut(whole + bytes(zeros))
    assert (error.whole, error.offset) == (1, len(whole))
    assert "ends in zero bytes" in str(error)
    for text in (DOCUMENT, DOCUMENT[:-1], DOCUMENT[:-1] + ',{"role":"assis'):
        salvaged = load_transcript(mark + text.encode(encoding) + bytes(zeros), salvage=True)
        assert salvaged.messages == HELLO
        assert salvaged.salvaged.startswith("the text ends in zero bytes; 1 whole message ")


def test_zero_bytes_are_a_cut_in_lines_and_in_the_middle_of_a_character() -> None:
    lines = b'{"role":"user","content":"one"}\n{"role":"user","content":"h\xc3'
    assert cut(lines + bytes(8)).whole == 1
    assert not isinstance(refused(bytes(300)), CutTranscriptError)  # nothing is before it
    assert "nothing but zero bytes" in str(refused(bytes(300)))
    assert not isinstance(refused(DOCUMENT.encode() + b"\0\n"), CutTranscriptError)  # not at the end


def test_a_whole_document_is_not_salvaged() -> None:
    assert load_transcript(THREE, salvage=True).salvaged == ""


def test_salvage_mends_no_error_in_the_middle() -> None:
    with pytest.raises(TranscriptError):
        load_transcript('{"role":"user"}\n{"role":\n{"role":"user"}\n', salvage=True)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("form", ["[{}]", '{"golem":1,"messages":[{}]}', "{}"])
def test_nesting_is_read_to_ten_thousand_and_then_refused_whatever_the_form(form: str) -> None:
    """Counted as in an array: args stand four levels deep, a message's own field two."""
    for record, room in (
        ('{{"role":"assistant","toolCalls":[{{"args":{}}}]}}', 9_996),
        ('{{"role":"user","x":{}}}', 9_998),
    ):
        document = form.replace("{}", record.format(nested(room)))
        messages = load_messages(document)
        assert load_messages(dump_messages(messages)) == messages
        error = refused(form.replace("{}", record.format(nested(room + 1))))
        assert "10,000" in str(error)


def test_args_too_deep_for_the_file_are_kept_as_text() -> None:
    message = Message(role="assistant", tool_calls=(ToolCall(id="c", args=nested(20_000)),))
    written = dump_messages([message])
    assert b'"args":null,"argsText":"[[' in written
    assert load_messages(written) == [message]


@pytest.mark.parametrize(
    ("args", "written"),
    [
        ('{"a": 1}', b'"args":{"a": 1}'),
        ("[]", b'"args":[]'),
        ('"text"', b'"args":"text"'),
        ("7", b'"args":7'),
        ('{"a":\n 1.0}', b'"args":{"a":1.0},"argsText":"{\\"a\\":\\n 1.0}"'),
        (" {}", b'"args":{},"argsText":" {}"'),
        ("{}\t", b'"args":{},"argsText":"{}\\t"'),
        ("null", b'"args":null,"argsText":"null"'),
        ('{"a":', b'"args":null,"argsText":"{\\"a\\":"'),
        ("NaN", b'"args":null,"argsText":"NaN"'),
        ("  ", b'"args":null,"argsText":"  "'),
        ('{"a":"\ud800"}', b'"args":null,"argsText":"{\\"a\\":\\"\\\\ud800\\"}"'.replace(b"\\\\u", b"\\u")),
    ],
)
def test_args_are_a_value_where_that_is_verbatim_and_else_text_beside_it(args: str, written: bytes) -> None:
    message = Message(role="assistant", tool_calls=(ToolCall(id="c", args=args),))
    assert b'[{"id":"c",' + written + b"}]" in dump_messages([message])
    assert load_messages(dump_messages([message])) == [message]


def test_empty_args_have_no_key_and_args_text_wins_on_reading() -> None:
    document = (
        '[{"role":"assistant","toolCalls":[{"id":"c","args":{"b":2},"argsText":"x"},{"id":"d","args":null}]}]'
    )
    messages = load_messages(document)
    assert [call.args for call in messages[0].tool_calls] == ["x", ""]
    assert b'{"id":"d"}' in dump_messages(messages)


def test_empty_fields_are_left_out_and_unknown_ones_stand_last() -> None:
    unknown = '"x": {"b": [1.0, 2], "a": "é b", "a": null}'
    document = f'[{{{unknown}, "failed":false, "content":"", "role":"user", "y":null}}]'
    assert dump_messages(load_messages(document)) == (
        '[\n{"role":"user","x":{"b":[1.0,2],"a":"é b","a":null},"y":null}\n]\n'.encode()
    )


@pytest.mark.parametrize("value", ['"m"', "3", '{"name":"m"}', "[1]", "true"])
def test_a_model_that_others_write_into_a_message_is_an_unknown_field(value: str) -> None:
    """The contract has none: whose signatures a message carries stands in `signedBy`."""
    (message,) = load_messages(f'[{{"role":"assistant","model":{value}}}]')
    assert (message.signed_by, message.extra) == ("", {"model": value})


def test_of_a_repeated_unknown_field_the_last_is_kept() -> None:
    """As JSON readers do; `extra` has one value for a name."""
    assert load_messages('[{"role":"user","x":1,"x":2}]')[0].extra == {"x": "2"}


@pytest.mark.parametrize(
    ("document", "message", "field"),
    [
        ('[{"role":"user"},{"role":5}]', 2, "role"),
        ('[{"role":"user","failed":"yes"}]', 1, "failed"),
        ('[{"role":"user","parts":{}}]', 1, "parts"),
        ('[{"role":"user","parts":[5]}]', 1, "parts.item 1"),
        ('[{"role":"user","parts":[{},{"url":[]}]}]', 1, "parts.item 2.url"),
        ('[{"role":"assistant","thinking":[{"text":1}]}]', 1, "thinking.item 1.text"),
        ('[{"role":"assistant","toolCalls":[{"id":"a","id":"a"}]}]', 1, "toolCalls.item 1.id"),
        ('[{"role":"assistant","toolCalls":[{"argsText":{}}]}]', 1, "toolCalls.item 1.argsText"),
        ('[{"role":"assistant","thinking":[{"text":"a","text":"b"}]}]', 1, "thinking.item 1.text"),
        ('[{"role":"user","parts":[{"kind":"a","kind":"b"}]}]', 1, "parts.item 1.kind"),
        ('{"golem":1,"messages":[{"role":"user"},{"role":null}]}', 2, "role"),
        ('{"golem":1,"title":"a","title":"a"}', None, "title"),
        ('{"golem":1,"runs":[{"runId":"a"},{"runId":"b","requests":1.5}]}', None, "runs.item 2.requests"),
        ('{"golem":1,"runs":[{"runId":"a","runId":"b"}]}', None, "runs.item 1.runId"),
        ('{"golem":1,"runs":[{}]}', None, "runs.item 1.runId"),
        ('{"golem":1,"runs":[{"runId":"a","cost":1e999}]}', None, "runs.item 1.cost"),
        ('{"golem":1,"runs":[{"runId":"a","requests":' + "9" * 5000 + "}]}", None, "runs.item 1.requests"),
        ('{"golem":0}', None, "golem"),
        ('{"golem":"1"}', None, "golem"),
    ],
)
def test_an_error_names_message_and_field(document: str, message: int | None, field: str) -> None:
    error = refused(document)
    assert (error.message, error.field) == (message, field)
    assert error.offset is not None
    assert error.line == 1


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ('[{"role":"tool","tool_call_id":"a"}]', "OpenAI"),
        ('[{"role":"user","content":[{"type":"image_url"}]}]', "OpenAI"),
        ('[{"role":"assistant","toolCalls":[{"id":"a","function":{"name":"f"}}]}]', "OpenAI"),
        ('[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}]', "Anthropic"),
        ('[{"role":"model","parts":[{"text":"hi"}]}]', "Gemini"),
        ('{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}', "Gemini"),
    ],
)
def test_another_contract_is_named(document: str, name: str) -> None:
    assert name in str(refused(document))


def test_an_excerpt_shows_no_control_or_bidi_character() -> None:
    error = refused('[{"role":"user"} \u202e\x1b]0;x\x07')
    assert "⟦U+202E⟧⟦U+001B⟧" in str(error)


def test_an_unknown_name_in_an_error_is_short_and_marked() -> None:
    error = refused('[{"role":"user","' + "\u202e" * 500 + '":NaN}]')
    assert len(str(error)) < 400


def test_jsonl_needs_line_breaks_and_may_have_blank_lines() -> None:
    assert len(load_messages('\n{"role":"user"}\r\n\n {"role":"user"}')) == 2
    assert refused('{"role":"user"}{"role":"user"}').offset == 15


def test_a_torn_line_of_jsonl_is_named_where_it_begins() -> None:
    error = refused('{"role":"user"}\n{"role":"user","content":"a"\n{"role":"user"}\n')
    assert error.line == 2
    assert "line 2" in str(error)


def test_a_conversation_is_written_in_the_order_of_the_contract() -> None:
    conversation = Conversation(
        conversation_id="c",
        title="t",
        created_at="a",
        updated_at="b",
        model="m",
        forked_from="p",
        messages=(Message(role="user"), Message(role="assistant")),
        runs=(RunRecord(run_id="r", status="failed", stage="model", usage=Usage(input_tokens=3), cost=0.5),),
        extra={"new": "[1]"},
    )
    assert dump_conversation(conversation).decode() == (
        '{"golem":1,"conversationId":"c","title":"t","createdAt":"a","updatedAt":"b","model":"m",'
        '"instructions":"","settings":{},"forkedFrom":"p","messages":[\n{"role":"user"},\n{"role":"assistant"}\n],'
        '"runs":[\n{"runId":"r","status":"failed","stage":"model","requests":0,"toolCalls":0,'
        '"usage":{"inputTokens":3},"cost":0.5}\n],"new":[1]}\n'
    )


def test_a_newer_version_loads_and_stays() -> None:
    conversation = load_conversation('{"golem":2,"messages":[],"mood":"good"}')
    assert (conversation.version, conversation.extra) == (2, {"mood": '"good"'})
    assert b'{"golem":2,' in dump_conversation(conversation)


@pytest.mark.parametrize("rest", ["", ',"messages":null', ',"messages":[]'])
def test_a_conversation_may_lack_messages(rest: str) -> None:
    """A null field is an absent one, and an absent list is empty."""
    assert load_conversation(f'{{"golem":1{rest}}}').messages == ()


def test_only_the_object_form_is_a_conversation() -> None:
    with pytest.raises(TranscriptError, match="conversation object"):
        load_conversation("[]")


def test_a_title_that_looks_like_messages_confuses_nothing() -> None:
    conversation = Conversation(
        title='"messages":[{"role":"user"}]',
        extra={"x": '{"messages":[{"role":"user"}]}'},
        messages=(Message(role="user"),),
    )
    assert load_conversation(dump_conversation(conversation)) == conversation


def test_a_transcript_is_written_in_its_form_with_its_messages() -> None:
    for document in (b'[\n{"role":"user"}\n]\n', b'{"role":"user"}\n', b"[]\n"):
        assert dump_transcript(load_transcript(document)) == document
    loaded = load_transcript('{"golem":1,"messages":[{"role":"user"}]}')
    loaded.messages.append(Message(role="assistant"))
    assert load_messages(dump_transcript(loaded)) == loaded.messages


def test_an_unknown_field_that_no_reader_would_take_is_not_written() -> None:
    for extra in ({"x": "{"}, {"role": '"user"'}, {"x": "1,2"}, {"tool_calls": "[]"}):
        with pytest.raises(TranscriptError):
            dump_messages([Message(role="user", extra=extra)])


def test_one_line_readers_refuse_what_is_not_one_record() -> None:
    for bad in ("", "[]", '{"role":"user"} {}', '{"content":"x"}', b'{"role":"user"}\xe2'):
        with pytest.raises(TranscriptError):
            load_message(bad)
    with pytest.raises(TranscriptError, match="runId"):
        load_run('{"status":"done"}')
