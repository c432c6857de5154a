"""Redacting: a secret planted anywhere, in any spelling, is in no document that is written afterwards."""

from __future__ import annotations

import base64
import html
import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.codec import dump_conversation, load_conversation
from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.secrets import kinds_in, redact, survivor
from golem_cli.render.export import export_html, export_markdown
from tests.support.secrets import EXAMPLES, HEX, TAIL, example

KEY: Final = example("an Anthropic key")[1]
OTHER: Final = example("a Groq key")[1]
UUID: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"


def as_json(text: str) -> str:
    """`text` as a JSON string with every second character escaped."""
    return (
        '"' + "".join(f"\\u{ord(c):04x}" if i % 2 else json.dumps(c)[1:-1] for i, c in enumerate(text)) + '"'
    )


def calling(arguments: str = "{}", *, name: str = "n", identity: str = "c", signature: str = "") -> Message:
    call = ToolCall(id=identity, name=name, args=arguments, signature=signature)
    return Message(role="assistant", tool_calls=(call,))


def document(text: str, encoding: str = "utf-8") -> Part:
    return Part(kind="document", data=base64.b64encode(text.encode(encoding)).decode())


def everywhere(text: str) -> dict[str, Conversation]:
    """One conversation for each place that can hold a text, with the place's name."""
    user, run = Message(role="user"), RunRecord(run_id=UUID)
    of_messages: dict[str, Message] = {
        "role": Message(role=text),
        "content": Message(role="user", content=text),
        "tool content": Message(role="tool", content=text, tool_call_id="c1"),
        "part url": Message(role="user", parts=(Part(kind="image", url=text),)),
        "part data": Message(role="user", parts=(document(text),)),
        "media type": Message(role="user", parts=(Part(kind="image", data="aGk=", media_type=text),)),
        "thinking": Message(role="assistant", thinking=(ThinkingBlock(text=text),)),
        "signature": Message(role="assistant", thinking=(ThinkingBlock(text="t", signature=text),)),
        "redacted thinking": Message(role="assistant", thinking=(ThinkingBlock(redacted=text),)),
        "call id": calling(identity=text),
        "call name": calling(name=text),
        "arguments": calling(f'{{"k": {as_json(text)}}}'),
        "torn arguments": calling(f'{{"k": "{text}'),
        "a name in the arguments": calling(f"{{{as_json(text)}: 1}}"),
        "arguments in arguments": calling(json.dumps({"k": as_json(text)})),
        "call signature": calling(signature=text),
        "result's call": Message(role="tool", tool_call_id=text),
        "tool name": Message(role="tool", tool_call_id="c", tool_name=text),
        "run id": Message(role="user", run_id=text),
        "unknown field": msgspec.structs.replace(user, extra={"x": f"[{as_json(text)}]"}),
        "unknown field's name": msgspec.structs.replace(user, extra={text: "1"}),
    }  # fmt: skip
    of_runs = {
        "run": RunRecord(run_id=text),
        "run error": msgspec.structs.replace(run, error=text),
        "run prompt": msgspec.structs.replace(run, prompt=text, status="failed"),
        "partial text": msgspec.structs.replace(run, partial_text=text, status="failed"),
        "pending": msgspec.structs.replace(run, pending=(text,)),
        "prompt part": msgspec.structs.replace(run, prompt_parts=(Part(kind="image", url=text),)),
        "run extra": msgspec.structs.replace(run, extra={"x": as_json(text)}),
    }
    return {
        **{name: Conversation(messages=(user, message)) for name, message in of_messages.items()},
        **{name: Conversation(runs=(each,)) for name, each in of_runs.items()},
        "title": Conversation(title=text),
        "model": Conversation(model=text),
        "instructions": Conversation(instructions=text),
        "forked from": Conversation(forked_from=text),
        "conversation id": Conversation(conversation_id=text),
        "settings": Conversation(settings=ConversationSettings(extra={"x": as_json(text)})),
        "conversation extra": Conversation(extra={"x": as_json(text)}),
    }


def strings(value: Any) -> list[str]:
    """Every string in a JSON value, names and strings inside JSON strings included."""
    match value:
        case str():
            try:
                return [value, *strings(json.loads(value))]
            except ValueError:
                return [value]
        case list():
            return [each for item in value for each in strings(item)]
        case dict():
            return [each for pair in value.items() for item in pair for each in strings(item)]
    return []


def readings(conversation: Conversation) -> list[str]:
    """Everything that somebody can read in the three documents."""
    document, page = export_markdown(conversation), export_html(conversation)
    written = dump_conversation(conversation)
    found = [document, page, html.unescape(page), unquote(page), document.replace("\\", "")]
    found += [written.decode(), *strings(json.loads(written))]
    return found + [
        base64.b64decode(part.data).decode("utf-8", "replace")
        for m in conversation.messages
        for part in m.parts
    ]


def plain(reading: str) -> str:
    """`reading` folded to ASCII where that reads the same, without the marks of this file's spellings."""
    for mark in ("\u200b", "⟦U+200B⟧", "\x1b[1m", "\x1b[0m", "⟦U+001B⟧[1m", "⟦U+001B⟧[0m"):
        reading = reading.replace(mark, "")
    return unicodedata.normalize("NFKC", reading).replace("\u2013", "-")


PLACES: Final = tuple(everywhere("x"))


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_replaced_in_every_place(place: str) -> None:
    done = redact(everywhere(f"my {KEY} here")[place])
    assert done.doubts == ()
    assert not any(KEY in text for text in readings(done.conversation))
    assert not any(survivor(text, done.values) for text in readings(done.conversation))
    assert load_conversation(dump_conversation(done.conversation)) == done.conversation


SPELL: Final[dict[str, Callable[[str], str]]] = {
    "as it is": lambda text: text,
    "JSON": lambda text: json.dumps(as_json(text)),
    "HTML": lambda text: "".join(f"&#{ord(c)};" if i % 3 else c for i, c in enumerate(text)),
    "emphasis": lambda text: f"{text[:9]}**{text[9:20]}**{text[20:]}",
    "code": lambda text: f"`{text[:12]}`{text[12:]}",
    "backslashes": lambda text: text.replace("-", "\\-").replace("_", "\\_"),
    "zero width": "\u200b".join,
    "in a link": lambda text: f"[here](https://bob:{text}@example.com/?k={text})",
    "in a fence": lambda text: f"```\n{text}\n```",
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "a dash": lambda text: text.replace("-", "\u2013"),
    "colours": lambda text: f"{text[:9]}\x1b[1m{text[9:20]}\x1b[0m{text[20:]}",
    "in tags": lambda text: f"<b>{text[:7]}</b>{text[7:]}",
}
AROUND: Final = st.text(st.sampled_from(" \n\"'<>&*_`[]()#|~\\aé\u200b\x1b漢"), max_size=8)


@given(
    kind=st.sampled_from(sorted(EXAMPLES)),
    place=st.sampled_from(PLACES),
    spelling=st.sampled_from(sorted(SPELL)),
    before=AROUND,
    after=AROUND,
)
def test_no_planted_secret_survives_in_any_document(
    kind: str, place: str, spelling: str, before: str, after: str
) -> None:
    """Either it is replaced in all three, whatever stands around it, or the export is refused."""
    text, secret = example(kind)
    planted = text.replace(secret, SPELL[spelling](secret) if "\n" not in secret else secret)
    conversation = everywhere(f"{before} {planted} {after}")[place]
    conversation = msgspec.structs.replace(conversation, title=conversation.title or f"{planted[:40]}…")
    done = redact(conversation)
    if done.doubts or survivor(export_html(done.conversation), done.values):
        return
    tail = secret[len(secret) // 2 :]  # half a key is a leak as well
    for reading in readings(done.conversation):
        assert tail not in plain(reading)


def test_the_same_secret_has_the_same_placeholder_and_another_another() -> None:
    conversation = Conversation(
        title=f"{OTHER} and {KEY}",
        messages=(
            Message(role="user", content=f"{KEY} {OTHER} {KEY}"),
            Message(role="assistant", tool_calls=(ToolCall(id="c", name="n", args=f"[{as_json(KEY)}]"),)),
        ),
    )
    done = redact(conversation)
    assert done.secrets == 2
    assert done.conversation.title == "[secret-1] and [secret-2]"
    assert done.conversation.messages[0].content == "[secret-2] [secret-1] [secret-2]"
    assert done.conversation.messages[1].tool_calls[0].args == '["[secret-2]"]'


def test_a_secret_that_was_found_once_is_replaced_where_no_pattern_sees_it() -> None:
    password = "correct-horse"  # noqa: S105 (an example's)
    conversation = Conversation(
        messages=(
            Message(role="user", content=f"postgres://bob:{password}@db"),
            Message(role="assistant", content=f"The password is {password}."),
        )
    )
    first, second = redact(conversation).conversation.messages
    assert first.content == "postgres://bob:[secret-1]@db"
    assert second.content == "The password is [secret-1]."


def test_a_title_that_was_cut_inside_a_secret_does_not_give_its_beginning_away() -> None:
    conversation = Conversation(title=f"my key is {KEY[:19]}…", messages=(Message(role="user", content=KEY),))
    assert redact(conversation).conversation.title == "my key is [secret-1]…"


def test_what_only_a_provider_can_read_is_removed() -> None:
    block = ThinkingBlock(text="hm", signature=TAIL)
    conversation = Conversation(messages=(Message(role="assistant", thinking=(block,)),))
    (message,) = redact(conversation).conversation.messages
    assert message.thinking == (ThinkingBlock(text="hm", signature="[removed]"),)


def test_what_has_no_signature_any_more_is_signed_by_nobody() -> None:
    """No model may be sent the thinking again as its own: it would refuse every request from then on."""
    block = ThinkingBlock(text="hm", signature=TAIL)
    signed = Message(role="assistant", thinking=(block,), signed_by="anthropic:claude")
    (message,) = redact(Conversation(messages=(signed,))).conversation.messages
    assert message.signed_by != "anthropic:claude"


def test_an_id_with_a_secret_in_it_is_renamed_whole() -> None:
    """What is left of a key that was broken in two looks like nothing, and is half of it."""
    broken = f"{KEY[:60]}\n\n{KEY[60:]}"
    clean = redact(Conversation(conversation_id=broken, messages=(calling(identity=broken),))).conversation
    assert (clean.conversation_id, clean.messages[0].tool_calls[0].id) == ("[id-1]", "[id-1]")


def test_ids_that_look_random_get_names_and_pairs_stay_pairs() -> None:
    call = f"call_{TAIL[:24]}"
    conversation = Conversation(
        conversation_id=UUID,
        messages=(
            Message(role="assistant", tool_calls=(ToolCall(id=call, name="n", args="{}"),)),
            Message(role="tool", tool_call_id=call, run_id=UUID),
        ),
    )
    done = redact(conversation)
    asked, answered = done.conversation.messages
    assert asked.tool_calls[0].id == answered.tool_call_id == "[id-1]"
    assert (done.conversation.conversation_id, answered.run_id, done.doubts) == (UUID, UUID, ())


def test_a_random_string_is_a_doubt_that_names_its_place_and_not_itself() -> None:
    conversation = Conversation(
        messages=(Message(role="user"), Message(role="user", content=f"x {HEX[:40]}"))
    )
    (doubt,) = redact(conversation).doubts
    assert doubt.place == "message 2, text"
    assert "40 characters" in doubt.why
    assert HEX[:8] not in doubt.why
    done = redact(conversation, random=True)
    assert (done.doubts, done.conversation.messages[1].content) == ((), "x [random-1]")


def test_a_document_of_another_kind_with_a_secret_in_it_is_a_doubt() -> None:
    data = base64.b64encode(b"%PDF-1.7\xff\xfe" + KEY.encode() + b"\xff").decode()
    conversation = Conversation(messages=(Message(role="user", parts=(Part(kind="document", data=data),)),))
    (doubt,) = redact(conversation).doubts
    assert doubt.place == "message 1, part 1, data"


def test_media_is_no_doubt() -> None:
    data = base64.b64encode(bytes(range(256)) * 8).decode()
    conversation = Conversation(
        messages=(Message(role="user", parts=(Part(kind="image", data=data, media_type="image/png"),)),)
    )
    assert redact(conversation).doubts == ()
    assert redact(conversation).conversation == conversation


def test_a_conversation_without_secrets_stays_as_it_is() -> None:
    conversation = Conversation(
        conversation_id=UUID, title="Bread", messages=(Message(role="user", content="hi"),)
    )
    assert redact(conversation).conversation == conversation


def test_the_kinds_in_a_conversation_come_with_the_place_of_the_first() -> None:
    conversation = Conversation(
        messages=(
            Message(role="user", content=KEY),
            Message(role="assistant", tool_calls=(ToolCall(id="c", name="n", args=f'["{OTHER}", "{KEY}"]'),)),
        )
    )
    assert kinds_in(conversation) == {
        "an Anthropic key": "message 1, text",
        "a Groq key": "message 2, call 1, arguments",
    }


def test_redacting_five_megabytes_goes_round_once() -> None:
    """What repeats a secret's beginning over and over is searched in linear time, too."""
    text = f"{KEY[:12]} " * 400_000
    conversation = Conversation(messages=(Message(role="user", content=f"{text}{KEY}"),))
    (message,) = redact(conversation).conversation.messages
    assert message.content == f"{text}[secret-1]"


@pytest.mark.parametrize("spelling", SPELL)
def test_a_secret_has_one_placeholder_however_it_is_spelled(spelling: str) -> None:
    text = f"{KEY}\n\n{SPELL[spelling](KEY)}\n\nx {KEY}. **{KEY}** __{KEY}__ api_key={KEY} Bearer {KEY}"
    done = redact(Conversation(messages=(Message(role="user", content=text),)))
    assert done.secrets == 1
    assert done.doubts == ()
    assert not set(done.conversation.messages[0].content) & set("\u2013\x1b")


def test_what_looks_random_has_one_placeholder_however_it_is_spelled() -> None:
    run = TAIL[:30]
    text = f"{run} {run}. x={run} {SPELL['full width'](run)} %61{run[1:]}"
    done = redact(Conversation(messages=(Message(role="user", content=text),)), random=True)
    assert done.conversation.messages[0].content == " ".join(
        ["[random-1]", "[random-1].", "x=[random-1]", "[random-1]", "[random-1]"]
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_text_of_a_part_is_read_and_written_as_it_is_encoded(encoding: str) -> None:
    conversation = Conversation(
        messages=(Message(role="user", parts=(document(f"my {KEY} here", encoding),)),)
    )
    (message,) = redact(conversation).conversation.messages
    assert base64.b64decode(message.parts[0].data).decode(encoding) == "my [secret-1] here"


def test_base64_in_lines_or_safe_for_addresses_is_read_too() -> None:
    raw = f"???>>> {KEY}".encode()
    for data in (base64.encodebytes(raw).decode(), base64.urlsafe_b64encode(raw).decode().rstrip("=")):
        part = Part(kind="document", data=data)
        (message,) = redact(
            Conversation(messages=(Message(role="user", parts=(part,)),))
        ).conversation.messages
        assert base64.b64decode(message.parts[0].data) == b"???>>> [secret-1]"


@pytest.mark.parametrize("more", ["", "A", "Ab", "Abc"])
@pytest.mark.parametrize("before", ["", "my key is ", "key:\n"])
def test_text_in_place_of_base64_is_text_also_where_it_would_pass_for_base64(before: str, more: str) -> None:
    """Of every length, as a key has only characters of base64 for addresses."""
    part = Part(kind="document", data=f"{before}{KEY}{more}")
    (message,) = redact(Conversation(messages=(Message(role="user", parts=(part,)),))).conversation.messages
    assert message.parts[0].data == f"{before}[secret-1]"


@pytest.mark.parametrize("explained", [f"image@sha256:{HEX[:64]}", f"see commit {HEX[:40]}"])
def test_what_the_message_explains_is_no_doubt_where_the_title_cuts_it_off(explained: str) -> None:
    prompt = f"it is  {explained}\nand more words to make it long enough for a cut"
    title = f"{' '.join(prompt.split())[:50]}…"
    message = Message(role="user", content=prompt)
    assert redact(Conversation(title=title, messages=(message,))).doubts == ()
    elsewhere = msgspec.structs.replace(message, content="something else that is said")
    (doubt,) = redact(Conversation(title=title, messages=(elsewhere,))).doubts
    assert doubt.place == "title"
    unexplained = msgspec.structs.replace(message, content=f"it is {TAIL}")
    doubts = redact(Conversation(title=f"it is {TAIL[:50]}…", messages=(unexplained,))).doubts
    assert [each.place for each in doubts] == ["title", "message 1, text"]


def test_a_random_string_in_place_of_base64_is_a_doubt() -> None:
    part = Part(kind="document", data=f"{TAIL[:20]}-{TAIL[20:41]}_")
    (doubt,) = redact(Conversation(messages=(Message(role="user", parts=(part,)),))).doubts
    assert doubt.place == "message 1, part 1, data"


def test_a_random_string_in_the_text_of_a_part_is_a_doubt() -> None:
    conversation = Conversation(messages=(Message(role="user", parts=(document(f"x {TAIL[:30]}"),)),))
    (doubt,) = redact(conversation).doubts
    assert doubt.place == "message 1, part 1, data"
    (message,) = redact(conversation, random=True).conversation.messages
    assert base64.b64decode(message.parts[0].data) == b"x [random-1]"


def test_text_of_two_bytes_a_character_in_another_file_is_seen() -> None:
    data = base64.b64encode(b"\xff\xd8\x80" + KEY.encode("utf-16-le")).decode()
    done = redact(Conversation(messages=(Message(role="user", parts=(Part(kind="document", data=data),)),)))
    assert [doubt.place for doubt in done.doubts] == ["message 1, part 1, data"]


def test_what_stands_for_a_number_in_json_is_a_string() -> None:
    """Otherwise the document could not be read again."""
    number = "31415926535897932384626433832795"
    arguments = f'{{"n":{number},"text":"see: {number}, ok","password": -{number}}}'
    conversation = Conversation(messages=(calling(arguments),), extra={"x": f"[{number},1]"})
    done = redact(conversation, random=True)
    assert done.conversation.extra == {"x": '["[random-1]",1]'}
    call = done.conversation.messages[0].tool_calls[0]
    parsed = json.loads(call.args)
    assert (parsed["n"], parsed["text"]) == ("[random-1]", "see: [random-1], ok")
    assert parsed["password"].startswith("[")
    assert load_conversation(dump_conversation(done.conversation)) == done.conversation


def test_an_id_in_foreign_letters_gets_a_name_too() -> None:
    conversation = Conversation(messages=(calling(identity=SPELL["full width"](TAIL[:24])),))
    assert redact(conversation).conversation.messages[0].tool_calls[0].id == "[id-1]"
