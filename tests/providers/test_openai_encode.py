"""The request side of the wire: pure; expected values by hand from the format's reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.openai.encode import encode_request
from golem_cli.providers.services import Quirks

IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
CASES = Path(__file__).parent.parent / "conformance" / "cases"


def encode(
    *messages: Message, quirks: Quirks | None = None, stream: bool = False, **fields: Any
) -> dict[str, Any]:
    request = ModelRequest(messages=messages, **fields)
    body: dict[str, Any] = json.loads(
        encode_request(request, model="m", quirks=quirks or Quirks(), stream=stream)
    )
    return body


def user(content: str = "hi", *parts: Part) -> Message:
    return Message(role="user", content=content, parts=parts)


def turn(*calls: ToolCall, content: str = "", thinking: str = "") -> Message:
    blocks = (ThinkingBlock(text=thinking),) if thinking else ()
    return Message(role="assistant", content=content, tool_calls=calls, thinking=blocks)


def result(call_id: str, content: str = "r", *parts: Part) -> Message:
    return Message(role="tool", tool_call_id=call_id, tool_name="shot", content=content, parts=parts)


def case(number: int) -> list[dict[str, Any]]:
    path = next(CASES.glob(f"{number}-*.json"))
    records: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["transcript"]
    return records


def test_identity_stamps_and_signatures_are_never_sent() -> None:
    stamped = Message(
        role="assistant",
        content="a",
        run_id="run-1",
        conversation_id="conversation-1",
        thinking=(ThinkingBlock(text="t", signature="sig-1"),),
        tool_calls=(ToolCall(id="c", name="f", args="{}", signature="sig-2"),),
        interrupted=True,
        extra={"note": '"extra-1"'},
    )
    text = json.dumps(encode(stamped, result("c")))
    for secret in ("run-1", "conversation-1", "sig-1", "sig-2", "extra-1", "interrupted"):
        assert secret not in text


def test_parts_of_results_follow_the_batch_in_one_user_message_that_names_the_calls() -> None:
    calls = ToolCall(id="c1", name="shot", args="{}"), ToolCall(id="c2", name="shot", args="{}")
    messages = encode(turn(*calls), result("c1", "one", IMAGE), result("c2", "two", IMAGE), user("next"))[
        "messages"
    ]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAEC/+8="}}
    assert messages[1:] == [
        {"role": "tool", "content": "one", "tool_call_id": "c1"},
        {"role": "tool", "content": "two", "tool_call_id": "c2"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Attachments of the result of tool call c1 of shot:"},
                image,
                {"type": "text", "text": "Attachments of the result of tool call c2 of shot:"},
                image,
            ],
        },
        {"role": "user", "content": "next"},
    ]


def test_a_document_goes_as_a_file_and_audio_as_input_audio() -> None:
    document = Part(kind="document", data="JVBERi0=", media_type="application/pdf")
    audio = Part(kind="audio", data="AAAA", media_type="audio/mpeg")
    assert encode(user("", document, audio))["messages"][0]["content"] == [
        {
            "type": "file",
            "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        },
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
    ]


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (Part(kind="video", data="AAAA", media_type="video/mp4"), "video"),
        (Part(kind="hologram", url="https://x.example/y"), "hologram"),
        (Part(kind="document", url="https://x.example/y.pdf"), "document"),
        (Part(kind="audio", data="AAAA", media_type="audio/flac"), "audio/flac"),
        (Part(kind="image", data="AAAA"), "mediaType"),
        (Part(kind="image", data="not base64!!", media_type="image/png"), "base64"),
        (Part(kind="image", data="é", media_type="image/png"), "base64"),
        (Part(kind="image"), "url or data"),
    ],
)
def test_a_part_that_cannot_be_carried_is_named_before_the_request(part: Part, named: str) -> None:
    with pytest.raises(HistoryError, match=rf"message 2 of the request, part 2.*{named}"):
        encode(user(), user("see", IMAGE, part))


def test_case_165_inline_data_that_is_broken_is_reported_by_message_and_part() -> None:
    parts = [
        Part(kind=p["kind"], data=p["data"], media_type=p.get("mediaType", "")) for p in case(165)[0]["parts"]
    ]
    with pytest.raises(HistoryError, match=r"message 1 of the request, part 1: .*no mediaType"):
        encode(user("see", *parts))
    with pytest.raises(HistoryError, match=r"message 1 of the request, part 2: .*not base64"):
        encode(user("see", *parts[1:]))


def test_case_156_half_an_emoji_becomes_the_replacement_character() -> None:
    messages = encode(turn(ToolCall(id="ls", name="cat", args="{}")), result("ls", case(156)[2]["content"]))
    assert messages["messages"][1]["content"] == "log end \ufffd"


def test_case_157_nul_travels_as_an_escape_and_ids_still_pair() -> None:
    call = ToolCall(id="n\0u", name="read", args='{"p": "a\\u0000b"}')
    request = ModelRequest(messages=[turn(call), result("n\0u", "bin\0ary")])
    body = encode_request(request, model="m", quirks=Quirks(), stream=False)
    assert b"\0" not in body
    sent = json.loads(body)["messages"]
    assert sent[0]["tool_calls"][0]["id"] == sent[1]["tool_call_id"] == "n\0u"
    assert sent[1]["content"] == "bin\0ary"


def test_case_159_an_empty_assistant_turn_is_left_out() -> None:
    assert [m["content"] for m in encode(user("hi"), turn(), user("still there?"))["messages"]] == [
        "hi",
        "still there?",
    ]


def test_case_160_unsigned_thinking_is_not_sent() -> None:
    message = encode(turn(ToolCall(id="th", name="ls", args="{}"), thinking="let me see"), result("th"))
    assert "let me see" not in json.dumps(message)


def test_case_164_arguments_that_are_no_object_are_wrapped() -> None:
    call = ToolCall(id="br", name="f", args=case(164)[1]["toolCalls"][0]["args"])
    sent = encode(user("go"), turn(call), result("br"))["messages"][1]["tool_calls"][0]
    assert json.loads(sent["function"]["arguments"]) == {"truncated_args": '{"a": '}


def test_a_turn_of_thinking_alone_is_left_out_even_where_reasoning_goes_back() -> None:
    assert len(encode(user(), turn(thinking="hm"), quirks=Quirks(send_reasoning=True))["messages"]) == 1


def test_reasoning_goes_back_on_turns_with_calls_where_the_service_demands_it() -> None:
    history = turn(content="plain", thinking="a"), turn(ToolCall(id="c", name="f"), thinking="b"), result("c")
    plain, called, _ = encode(*history, quirks=Quirks(send_reasoning=True))["messages"]
    assert "reasoning_content" not in plain
    assert called["reasoning_content"] == "b"


def test_ids_of_exact_length_are_kept_or_derived_and_still_pair() -> None:
    calls = (
        ToolCall(id="abcDEF123", name="f"),
        ToolCall(id="call_1", name="f"),
        ToolCall(id="call_2", name="f"),
    )
    messages = encode(turn(*calls), *(result(call.id) for call in calls), quirks=Quirks(call_id_length=9))[
        "messages"
    ]
    sent = [call["id"] for call in messages[0]["tool_calls"]]
    assert sent == [message["tool_call_id"] for message in messages[1:]]
    assert sent[0] == "abcDEF123"
    assert len(set(sent)) == 3
    assert all(len(identity) == 9 and identity.isalnum() for identity in sent)


def test_settings_go_under_the_names_that_the_service_knows() -> None:
    settings = ModelSettings(temperature=0.0, top_p=1.0, max_tokens=5, seed=7, stop=("END",))
    quirks = Quirks(length_field="max_completion_tokens", seed_field="random_seed", stream_usage=False)
    body = encode(user(), settings=settings, quirks=quirks, stream=True)
    del body["messages"]
    assert body == {
        "model": "m",
        "temperature": 0.0,
        "top_p": 1.0,
        "max_completion_tokens": 5,
        "random_seed": 7,
        "stop": ["END"],
        "stream": True,
    }


@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(temperature=float("nan")),
        ModelSettings(top_p=1.1),
        ModelSettings(max_tokens=0),
        ModelSettings(max_tokens=-1),
    ],
)
def test_settings_out_of_range_are_refused(settings: ModelSettings) -> None:
    with pytest.raises(ConfigurationError):
        encode(user(), settings=settings)


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("f", {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_the_tool_choice_is_a_word_or_names_a_tool(choice: str, sent: object) -> None:
    tools = [ToolSpec(name="f", description="d", schema='{"type":"object"}')]
    assert encode(user(), tools=tools, tool_choice=choice)["tool_choice"] == sent


def test_without_tools_no_choice_is_sent() -> None:
    assert "tool_choice" not in encode(user(), tool_choice="auto")


def test_a_schema_that_is_no_json_names_its_tool() -> None:
    with pytest.raises(ConfigurationError, match="'f'"):
        encode(user(), tools=[ToolSpec(name="f", description="d", schema="{")])
