"""The bodies of Converse requests: each rule of the format and of a family, worked out by hand."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.message import Message, Part, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.bedrock.encode import encode_count, encode_request
from golem_cli.providers.bedrock.families import family_of
from golem_cli.providers.bedrock.names import foundation_model
from golem_cli.providers.bedrock.parts import refusal_of
from tests.support.strict_bedrock import CLAUDE_3, HAIKU, LLAMA, MISTRAL, NOVA, OPUS

HI = Message(role="user", content="hi")
IMAGE = Part(kind="image", data="AAEC", media_type="image/jpg")
PDF = Part(kind="document", data="AAEC", media_type="application/pdf")
CALL = Message(
    role="assistant", content="I look.", tool_calls=(ToolCall(id="a", name="ls", args='{ "b":1.0 }'),)
)
RESULT = Message(role="tool", tool_call_id="a", content="done", failed=True, parts=(IMAGE,))
LS = ToolSpec(name="ls", description="Lists.", schema='{"properties":{},"additionalProperties":false}')
POINT = {"cachePoint": {"type": "default"}}


def text_of(request: ModelRequest, model: str) -> str:
    return encode_request(request, model=model, origin=f"bedrock:{model}", stream=True).decode()


def body(*messages: Message, model: str = LLAMA, **fields: Any) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(text_of(ModelRequest(messages=messages, **fields), model))
    return sent


def test_a_plain_request_is_the_conversation_alone() -> None:
    assert body(HI) == {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}


def test_the_messages_stand_last_and_arguments_keep_their_text() -> None:
    sent = text_of(
        ModelRequest(messages=[Message(role="system", content="s"), HI, CALL, RESULT], tools=[LS]), HAIKU
    )
    assert list(json.loads(sent)) == ["system", "toolConfig", "messages"]
    assert '"input":{ "b":1.0 }' in sent


def test_claude_may_talk_beside_calls_and_hears_of_failures_and_images_in_results() -> None:
    turns = body(HI, CALL, RESULT, HI, model=CLAUDE_3)["messages"]
    call = {"toolUse": {"toolUseId": "a", "name": "ls", "input": {"b": 1.0}}}
    assert turns[1]["content"] == [{"text": "I look."}, call]
    inside = [{"text": "done"}, {"image": {"format": "jpeg", "source": {"bytes": "AAEC"}}}]
    result = {"toolResult": {"toolUseId": "a", "content": inside, "status": "error"}}
    assert turns[2]["content"] == [result, {"text": "hi"}]


def test_other_models_have_turns_of_their_own_for_calls_and_results_and_images_follow_them() -> None:
    turns = body(HI, CALL, RESULT, HI, model=LLAMA)["messages"]
    assert [(turn["role"], [next(iter(block)) for block in turn["content"]]) for turn in turns] == [
        ("user", ["text"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["toolUse"]),
        ("user", ["toolResult"]),
        ("assistant", ["text"]),
        ("user", ["text", "image", "text"]),
    ]
    assert turns[4]["content"][0]["toolResult"] == {"toolUseId": "a", "content": [{"text": "done"}]}


def test_a_result_without_output_says_so() -> None:
    silent = Message(role="tool", tool_call_id="a", content=" ")
    assert body(HI, CALL, silent, model=HAIKU)["messages"][2]["content"][0]["toolResult"]["content"] == [
        {"text": "(no output)"}
    ]


def test_documents_are_numbered_and_never_without_text() -> None:
    turns = body(
        Message(role="user", parts=(PDF,)), Message(role="assistant", content="ok"),
        Message(role="user", content="and", parts=(PDF,)), model=NOVA,
    )["messages"]  # fmt: skip
    first, _, third = (turn["content"] for turn in turns)
    assert [next(iter(block)) for block in first] == ["text", "document"]
    assert [first[1]["document"]["name"], third[1]["document"]["name"]] == ["Document 1", "Document 2"]
    assert first[1]["document"]["format"] == "pdf"


def test_a_sixth_document_begins_another_turn() -> None:
    turns = body(Message(role="user", content="see", parts=(PDF,) * 6), model=HAIKU)["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [sum("document" in block for block in turn["content"]) for turn in turns] == [5, 0, 1]


def test_a_model_without_a_system_prompt_reads_it_first() -> None:
    sent = body(Message(role="system", content="Be brief."), HI, model=MISTRAL)
    assert sent == {"messages": [{"role": "user", "content": [{"text": "Be brief."}, {"text": "hi"}]}]}


def test_the_cache_is_marked_for_models_that_have_one() -> None:
    system = Message(role="system", content="s")
    sent = body(system, HI, Message(role="assistant", content="ok"), HI, model=HAIKU)
    assert sent["system"] == [{"text": "s"}, POINT]
    assert [turn["content"][-1] == POINT for turn in sent["messages"]] == [True, False, True]
    assert body(HI, model=HAIKU, tools=[LS])["toolConfig"]["tools"][-1] == POINT
    for model in (CLAUDE_3, NOVA, LLAMA):
        assert "cachePoint" not in text_of(ModelRequest(messages=[system, HI]), model)


@pytest.mark.parametrize(
    ("choice", "model", "expected"),
    [
        ("auto", NOVA, {"auto": {}}),
        ("required", NOVA, {"any": {}}),
        ("ls", NOVA, {"tool": {"name": "ls"}}),
        ("ls", LLAMA, {"any": {}}),  # the run offers no other
    ],
)
def test_the_choice_of_tools(choice: str, model: str, expected: Any) -> None:
    assert body(HI, model=model, tools=[LS], tool_choice=choice)["toolConfig"]["toolChoice"] == expected


def test_without_tools_or_with_the_choice_of_none_the_history_names_what_it_called() -> None:
    for tools in ([], [LS]):
        [declared] = body(HI, CALL, RESULT, tools=tools, tool_choice="none")["toolConfig"]["tools"]
        assert declared["toolSpec"]["name"] == "ls"
        assert declared["toolSpec"]["description"] == "No longer available: do not call it."
    assert "toolConfig" not in body(HI, tools=[LS], tool_choice="none")


def test_a_tools_schema_is_an_object_and_novas_a_plain_one() -> None:
    schema = {"type": "object", "properties": {}}
    [tool] = body(HI, model=NOVA, tools=[LS])["toolConfig"]["tools"]
    assert tool == {"toolSpec": {"name": "ls", "description": "Lists.", "inputSchema": {"json": schema}}}
    [other] = body(HI, model=LLAMA, tools=[LS])["toolConfig"]["tools"]
    assert other["toolSpec"]["inputSchema"]["json"] == schema | {"additionalProperties": False}


def test_novas_schemas_have_their_definitions_in_place() -> None:
    """A tree is a node with branches: what leads back into itself allows anything."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {"properties": {"tree": {"$ref": "#/$defs/Node", "title": "T"}}, "$defs": {"Node": node}}
    tool = ToolSpec(name="ls", description="", schema=json.dumps(schema))
    [sent] = body(HI, model=NOVA, tools=[tool])["toolConfig"]["tools"]
    inner = {"type": "object", "properties": {"next": {}}, "title": "T"}
    assert sent["toolSpec"]["inputSchema"]["json"] == {"type": "object", "properties": {"tree": inner}}


def test_settings_are_named_as_the_format_does() -> None:
    settings = ModelSettings(temperature=0.5, top_p=0.9, max_tokens=7, stop=("END",))
    assert body(HI, settings=settings)["inferenceConfig"] == {
        "maxTokens": 7,
        "temperature": 0.5,
        "topP": 0.9,
        "stopSequences": ["END"],
    }


def test_claude_thinks_within_a_budget_and_its_answer_is_longer_than_that() -> None:
    sent = body(HI, model=HAIKU, settings=ModelSettings(thinking=2048))
    assert sent["additionalModelRequestFields"] == {"thinking": {"type": "enabled", "budget_tokens": 2048}}
    assert sent["inferenceConfig"]["maxTokens"] > 2048
    assert "additionalModelRequestFields" not in body(HI, model=NOVA, settings=ModelSettings(thinking=2048))
    looped = body(HI, CALL, RESULT, model=HAIKU, settings=ModelSettings(thinking=2048))
    assert "additionalModelRequestFields" not in looped


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (LLAMA, ModelSettings(temperature=1.1)),
        (LLAMA, ModelSettings(top_p=-0.1)),
        (LLAMA, ModelSettings(max_tokens=0)),
        (LLAMA, ModelSettings(seed=1)),
        (LLAMA, ModelSettings(stop=("",))),
        (HAIKU, ModelSettings(temperature=1, top_p=1)),
        (HAIKU, ModelSettings(max_tokens=64_001)),
        (HAIKU, ModelSettings(thinking="adaptive")),
        (OPUS, ModelSettings(thinking=1)),
    ],
)
def test_settings_out_of_their_documented_ranges_are_refused_here(
    model: str, settings: ModelSettings
) -> None:
    with pytest.raises(ConfigurationError):
        body(HI, model=model, settings=settings)


@pytest.mark.parametrize(
    "tool",
    [
        ToolSpec(name="docs.search", description="", schema="{}"),
        ToolSpec(name="ls", description="", schema="[]"),
        ToolSpec(name="ls", description="", schema="{"),
        ToolSpec(name="ls", description="", schema='{"type":"array"}'),
    ],
)
def test_tools_that_the_format_does_not_take_are_refused_here(tool: ToolSpec) -> None:
    with pytest.raises(ConfigurationError, match="tool"):
        body(HI, tools=[tool])


def test_an_output_schema_travels_as_text_with_its_objects_closed() -> None:
    sent = body(HI, output_schema='{"type":"object"}')["outputConfig"]["textFormat"]
    assert sent["type"] == "json_schema"
    schema = json.loads(sent["structure"]["jsonSchema"]["schema"])
    assert schema == {"type": "object", "additionalProperties": False}


def part(kind: str, media_type: str, data: str = "AAEC") -> Part:
    return Part(kind=kind, media_type=media_type, data=data)


@pytest.mark.parametrize(
    ("given", "model", "reason"),
    [
        (part("image", "image/webp"), HAIKU, ""),
        (part("image", "image/bmp"), HAIKU, "png, jpeg, gif, webp"),
        (Part(kind="image", url="https://example.org/a.png"), HAIKU, "as data only, not by url"),
        (part("image", "image/png", "AAAA" * 1_310_721), HAIKU, "up to 3.75 MB"),
        (part("document", "text/x-log; charset=utf-8", base64.b64encode(b"x").decode()), HAIKU, ""),
        (part("document", "text/plain", base64.b64encode(b" \n").decode()), HAIKU, "blank"),
        (part("document", "application/zip"), HAIKU, "and text, not application/zip"),
        (part("video", "video/mp4"), HAIKU, "takes parts of the kinds document, image, not video"),
        (part("video", "video/mp4"), NOVA, ""),
        (part("audio", "audio/mpeg"), LLAMA, ""),
        (part("image", "image/png", "!"), HAIKU, "not valid base64"),
        (Part(kind="smell", data="AAEC", media_type="x/y"), NOVA, "not smell"),
    ],
)
def test_which_parts_a_model_takes(given: Part, model: str, reason: str) -> None:
    said = refusal_of(given, family_of(model))
    assert reason in said if reason else said == ""


def test_a_part_that_cannot_travel_is_named() -> None:
    with pytest.raises(HistoryError, match=r"message 1 of the request, part 1: .* not video"):
        body(Message(role="user", parts=(part("video", "video/mp4"),)), model=HAIKU)


def test_a_request_that_says_nothing_is_refused() -> None:
    with pytest.raises(HistoryError, match="nothing that the model could answer"):
        body(Message(role="user", content=" "))


def test_a_count_is_of_the_conversation_its_system_prompt_and_the_tools_that_it_called() -> None:
    counted = encode_count([Message(role="system", content="s"), HI, CALL, RESULT], model=HAIKU, origin="o")
    assert counted is not None
    asked = json.loads(counted)["input"]["converse"]
    assert list(asked) == ["system", "toolConfig", "messages"]
    assert encode_count([], model=HAIKU, origin="o") is None


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (HAIKU, "anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("global.anthropic.claude-sonnet-4-6", "anthropic.claude-sonnet-4-6"),
        (NOVA, NOVA),
        ("arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0", NOVA),
        (f"arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.{NOVA}", NOVA),
        ("my-model", "my-model"),
    ],
)
def test_tokens_are_counted_for_the_model_behind_a_profile(model: str, expected: str) -> None:
    assert foundation_model(model) == expected
