"""Requests of the generateContent format: what is sent, what is reshaped, what is refused beforehand."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.gemini.encode import encode_request
from golem_cli.providers.gemini.parts import refusal_of
from golem_cli.providers.gemini.rows import row_of
from golem_cli.providers.gemini.schema import documented
from tests.support.strict_gemini import KEYWORDS, schemas

FLASH = "gemini-3.8-flash"
OLD = "gemini-2.5-flash"
SKIP = "skip_thought_signature_validator"
LS = ToolSpec(name="ls", description="", schema='{"properties": {}}')


def user(content: str, *parts: Part) -> Message:
    return Message(role="user", content=content, parts=parts)


def assistant(content: str = "", *calls: ToolCall, **fields: Any) -> Message:
    return Message(role="assistant", content=content, tool_calls=calls, **fields)


def call(call_id: str, args: str = "{}", name: str = "ls", signature: str = "") -> ToolCall:
    return ToolCall(id=call_id, name=name, args=args, signature=signature)


def result(call_id: str, content: str = "r", **fields: Any) -> Message:
    return Message(role="tool", tool_call_id=call_id, content=content, **fields)


def raw(*messages: Message, model: str = FLASH, **fields: Any) -> bytes:
    request = ModelRequest(messages=messages, **fields)
    return encode_request(request, model=model, origin=f"gemini:{model}")


def body(*messages: Message, **fields: Any) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(raw(*messages, **fields))
    return decoded


def contents(*messages: Message, **fields: Any) -> list[tuple[str, Any]]:
    """Role and parts of each content; a part of text alone as its text."""
    return [
        (turn["role"], [part["text"] if part.keys() == {"text"} else part for part in turn["parts"]])
        for turn in body(*messages, **fields)["contents"]
    ]


def responses(*messages: Message, **fields: Any) -> list[Any]:
    found = [part for _, parts in contents(*messages, **fields) for part in parts]
    return [
        each["functionResponse"] for each in found if isinstance(each, dict) and "functionResponse" in each
    ]


# Contents


def test_consecutive_turns_are_one_and_blank_ones_are_none() -> None:
    history = [user("a"), assistant(" \n"), user("b"), assistant("c"), assistant("d"), user("e")]
    assert contents(*history) == [("user", ["a", "b"]), ("model", ["c", "d"]), ("user", ["e"])]


def test_a_conversation_begins_and_ends_with_the_user() -> None:
    opening = ("user", ["(The beginning of this conversation is not shown.)"])
    assert contents(assistant("a")) == [opening, ("model", ["a"]), ("user", ["Continue."])]


def test_the_system_message_is_an_instruction_of_its_own() -> None:
    sent = body(Message(role="system", content="Be brief."), user("a"))
    assert sent["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert len(sent["contents"]) == 1


def test_responses_stand_alone_right_behind_their_calls_with_their_ids_and_names() -> None:
    history = [
        user("a"),
        assistant("b", call("1", name="ls"), call("2", name="cat")),
        user("wait"),
        result("2", tool_name="another name"),
        result("1"),
        user("c"),
    ]
    [_, (_, asked), (role, answered), last] = contents(*history)
    assert asked[0] == "b"
    assert (role, [each["functionResponse"] for each in answered]) == (
        "user",
        [
            {"id": "2", "name": "cat", "response": {"output": "r"}},
            {"id": "1", "name": "ls", "response": {"output": "r"}},
        ],
    )
    assert last == ("user", ["wait", "c"])


def test_a_result_says_whether_it_failed() -> None:
    history = [user("a"), assistant("", call("1"), call("2")), result("1", failed=True), result("2", "")]
    assert [each["response"] for each in responses(*history)] == [{"error": "r"}, {"output": ""}]


def test_media_of_a_result_go_into_it_or_behind_the_responses_as_the_model_takes_them() -> None:
    """Since Gemini 3 a response holds images and PDFs; nothing else ever stands beside it."""
    image = Part(kind="image", data="AA==", media_type="image/jpg")
    sound = Part(kind="audio", data="AA==", media_type="audio/mpeg")
    history = [user("a"), assistant("", call("1"), call("2")), result("1", parts=(image, sound)), result("2")]
    encoded = {"inlineData": {"mimeType": "image/jpeg", "data": "AA=="}}
    heard = {"inlineData": {"mimeType": "audio/mp3", "data": "AA=="}}
    label = "(Attached to the result of ls:)"
    assert [each.get("parts") for each in responses(*history)] == [[encoded], None]
    assert contents(*history)[-1] == ("user", [label, heard])
    assert [each.get("parts") for each in responses(*history, model=OLD)] == [None, None]
    assert contents(*history, user("b"), model=OLD)[-1] == ("user", [label, encoded, heard, "b"])


def test_ids_that_are_used_again_are_told_apart_and_so_are_their_results() -> None:
    step = [assistant("", call("call_0")), result("call_0")]
    history = [user("a"), *step * 3, user("b")]
    asked = [part for _, parts in contents(*history) for part in parts if "functionCall" in part]
    assert [part["functionCall"]["id"] for part in asked] == ["call_0", "call_0_2", "call_0_3"]
    assert [each["id"] for each in responses(*history)] == ["call_0", "call_0_2", "call_0_3"]


def test_names_of_another_form_are_reshaped_and_stay_apart() -> None:
    one, other = call("1", name="1st try"), call("2", name="1st/try")
    history = [user("a"), assistant("", one, other), result("1"), result("2")]
    names = [each["name"] for each in responses(*history)]
    assert len(set(names)) == 2
    assert all(name.startswith("_st_try_") for name in names)


def test_arguments_travel_as_they_were_written() -> None:
    sent = raw(user("a"), assistant("", call("1", '{ "n" : 1.50, "n" : 1e3 }'), call("2", '{"cut": "')))
    assert b'"args":{ "n" : 1.50, "n" : 1e3 }' in sent
    assert b'"args":{"truncated_args": "{\\"cut\\": \\""}' in sent


def test_a_call_without_a_result_is_answered() -> None:
    [_, _, (_, [answered]), last] = contents(user("a"), assistant("", call("1")), user("b"))
    assert answered["functionResponse"]["response"]["output"].startswith("Tool call was interrupted before")
    assert last == ("user", ["b"])


def test_identity_stamps_and_unknown_fields_are_never_sent() -> None:
    stamped = assistant(
        "b", run_id="run-1", conversation_id="conversation-1", interrupted=True, extra={"x": '"extra-1"'}
    )
    sent = raw(user("a"), stamped, user("c"))
    for secret in (b"run-1", b"conversation-1", b"extra-1", b"interrupted", b"gemini:"):
        assert secret not in sent


@pytest.mark.parametrize("messages", [[], [user("")], [Message(role="system", content="s")], [result("1")]])
def test_a_request_without_anything_to_answer_is_refused(messages: list[Message]) -> None:
    with pytest.raises(HistoryError, match="nothing that the model could answer"):
        raw(*messages)


def test_fifty_turns_begin_with_the_bytes_of_the_turns_before_them() -> None:
    history = [Message(role="system", content="Be brief."), user("0")]
    before = b""
    for number in range(50):
        history += [
            assistant("", call("call_0")),
            result("call_0"),
            assistant(f"a{number}"),
            user(f"{number}"),
        ]
        now = raw(*history)
        assert now.startswith(before)
        before = now.removesuffix(b"]}")  # up to the end of its last content


# Signatures

TURN = assistant(
    "So it is.",
    call("1", signature="c"),
    call("2"),
    thinking=(
        ThinkingBlock(text="hm"),
        ThinkingBlock(text="aha", signature="t"),
        ThinkingBlock(signature="s", extra={"after": "[3,1]", "signs": "5"}),
        ThinkingBlock(signature="e", extra={"after": "[9,2]", "signs": "0"}),
    ),
    signed_by=f"gemini:{FLASH}",
)


def function(call_id: str) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": "ls", "args": {}}}


def test_signatures_go_back_in_their_parts_to_the_model_that_made_them() -> None:
    assert contents(user("a"), TURN)[1] == (
        "model",
        [
            {"text": "aha", "thought": True, "thoughtSignature": "t"},
            "So ",
            function("1") | {"thoughtSignature": "c"},
            {"text": "it is", "thoughtSignature": "s"},
            ".",
            function("2"),
            {"text": "", "thoughtSignature": "e"},
        ],
    )


@pytest.mark.parametrize("maker", ["", "openai-responses:gpt-5", "anthropic:claude-opus-5", f"gemini:{OLD}"])
def test_signatures_of_others_stay_behind_and_the_first_call_says_that_it_comes_from_elsewhere(
    maker: str,
) -> None:
    foreign = assistant(TURN.content, *TURN.tool_calls, thinking=TURN.thinking, signed_by=maker)
    assert contents(user("a"), foreign)[1] == (
        "model",
        ["So it is.", function("1") | {"thoughtSignature": SKIP}, function("2")],
    )


def test_models_before_gemini_3_are_told_nothing_of_missing_signatures() -> None:
    assert contents(user("a"), TURN, model=OLD)[1] == ("model", ["So it is.", function("1"), function("2")])


def test_a_turn_of_thought_alone_is_none() -> None:
    alone = assistant("", thinking=(ThinkingBlock(text="aha", signature="t"),), signed_by=f"gemini:{FLASH}")
    assert contents(user("a"), alone, user("b")) == [("user", ["a", "b"])]


# Settings


@pytest.mark.parametrize(
    ("model", "wish", "sent"),
    [
        (FLASH, None, {"includeThoughts": True}),
        (FLASH, "adaptive", {"includeThoughts": True}),
        ("gemini-flash-latest", None, {"includeThoughts": True}),
        (OLD, None, {"includeThoughts": True}),
        (OLD, "adaptive", {"includeThoughts": True, "thinkingBudget": -1}),
        (OLD, "off", {"thinkingBudget": 0}),
        (OLD, 2048, {"includeThoughts": True, "thinkingBudget": 2048}),
        ("gemini-2.5-pro", 32_768, {"includeThoughts": True, "thinkingBudget": 32_768}),
        ("gemini-2.5-flash-lite", 512, {"includeThoughts": True, "thinkingBudget": 512}),
        ("gemini-2.0-flash", None, None),
        ("gemini-2.0-flash", "off", None),
        ("gemma-4-31b-it", None, None),
    ],
)
def test_thinking_is_asked_for_as_the_model_takes_it(model: str, wish: Any, sent: object) -> None:
    """The tables of the page "Gemini thinking"."""
    generation = body(user("a"), model=model, settings=ModelSettings(thinking=wish)).get(
        "generationConfig", {}
    )
    assert generation.get("thinkingConfig") == sent


@pytest.mark.parametrize(
    ("model", "fields", "words"),
    [
        (OLD, {"temperature": 2.1}, "temperature must be in [0, 2]"),
        (OLD, {"temperature": -0.1}, "temperature must be in [0, 2]"),
        (OLD, {"temperature": float("nan")}, "temperature must be in [0, 2]"),
        (OLD, {"top_p": 1.1}, "top_p must be in [0, 1]"),
        (OLD, {"max_tokens": 0}, "max_tokens must be at least 1"),
        (OLD, {"max_tokens": 65_537}, "max_tokens must be at most 65536"),
        ("gemini-2.0-flash", {"max_tokens": 8193}, "max_tokens must be at most 8192"),
        (OLD, {"seed": 2**31}, "seed must be in [0, 2147483647]"),
        (OLD, {"stop": tuple("abcdef")}, "at most 5 stop sequences"),
        (OLD, {"stop": ("",)}, "must not be empty"),
        (OLD, {"thinking": 24_577}, "must be in [1, 24576]"),
        ("gemini-2.5-pro", {"thinking": 127}, "must be in [128, 32768]"),
        ("gemini-2.5-flash-lite", {"thinking": 511}, "must be in [512, 24576]"),
        ("gemini-2.5-pro", {"thinking": "off"}, "always thinks"),
        (FLASH, {"thinking": "off"}, "always thinks"),
        (FLASH, {"thinking": 2048}, "use adaptive"),
        (FLASH, {"temperature": 0.5}, "takes no temperature"),
        ("gemini-3.5-flash-lite", {"top_p": 0.5}, "takes no top_p"),
        ("gemini-2.0-flash", {"thinking": "adaptive"}, "does not think"),
        ("gemini-2.0-flash", {"thinking": 2048}, "does not think"),
    ],
)
def test_settings_out_of_their_range_are_refused_before_the_request(
    model: str, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        raw(user("a"), model=model, settings=ModelSettings(**fields))
    assert words in str(caught.value)


def test_settings_within_their_range_are_sent() -> None:
    given_settings = ModelSettings(temperature=2.0, top_p=0.5, max_tokens=5, seed=7, stop=("END",))
    assert body(user("a"), model="gemini-2.0-flash", settings=given_settings)["generationConfig"] == {
        "temperature": 2.0,
        "topP": 0.5,
        "maxOutputTokens": 5,
        "seed": 7,
        "stopSequences": ["END"],
    }


def test_an_unknown_gemini_is_taken_for_one_of_the_newest_whose_longest_answer_is_not_known() -> None:
    assert row_of("gemini-9-pro").signed
    settings = ModelSettings(max_tokens=100_000)
    assert body(user("a"), model="gemini-9-pro", settings=settings)["generationConfig"]["maxOutputTokens"]


# Tools and schemas


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("ls", {"mode": "ANY", "allowedFunctionNames": ["ls"]}),
    ],
)
def test_the_choice_of_a_tool_is_worded_as_the_format_does(choice: str, sent: object) -> None:
    config = body(user("a"), tools=[LS], tool_choice=choice)["toolConfig"]
    assert config == {"functionCallingConfig": sent}
    assert "toolConfig" not in body(user("a"), tool_choice=choice)


def test_a_tool_declares_its_parameters_when_it_has_any() -> None:
    read = ToolSpec(name="read", description="Reads.", schema='{"properties": {"path": {"type": "string"}}}')
    [tools] = body(user("a"), tools=[LS, read])["tools"]
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert tools["functionDeclarations"] == [
        {"name": "ls", "description": "ls"},
        {"name": "read", "description": "Reads.", "parametersJsonSchema": parameters},
    ]


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (ToolSpec(name="a b", description="", schema="{}"), "letters, digits"),
        (ToolSpec(name="1a", description="", schema="{}"), "a letter or _ first"),
        (ToolSpec(name="a", description="", schema="{"), "is not JSON"),
        (ToolSpec(name="a", description="", schema="[]"), "no JSON object"),
        (ToolSpec(name="a", description="", schema='{"type": "string"}'), "of the type object only"),
    ],
)
def test_a_tool_that_the_provider_would_refuse_is_refused_by_name(tool: ToolSpec, words: str) -> None:
    with pytest.raises(ConfigurationError, match=tool.name) as caught:
        raw(user("a"), tools=[tool])
    assert words in str(caught.value)


def test_an_output_schema_is_sent_beside_tools_where_the_model_takes_both() -> None:
    schema = '{"type": "object", "properties": {"a": {"const": "x"}}}'
    sent = body(user("a"), output_schema=schema, tools=[LS])["generationConfig"]
    assert sent["responseMimeType"] == "application/json"
    assert sent["responseJsonSchema"] == {"type": "object", "properties": {"a": {"enum": ["x"]}}}
    assert "responseJsonSchema" in body(user("a"), output_schema=schema, model=OLD)["generationConfig"]
    with pytest.raises(ConfigurationError, match="an output schema or tools, not both"):
        raw(user("a"), output_schema=schema, tools=[LS], model=OLD)


@pytest.mark.parametrize(
    ("given_schema", "sent"),
    [
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9}, {"minimum": 1, "maximum": 8}),
        ({"type": "number", "exclusiveMinimum": 0.5}, {"minimum": 0.5}),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": 0}, {"minimum": 3}),
        ({"type": "string", "format": "uuid", "pattern": "a", "minLength": 1, "default": "b"}, {}),
        ({"type": "string", "format": "date-time"}, {"format": "date-time"}),
        ({"type": "boolean", "const": True}, {}),
        ({"type": "string", "enum": ["a", None]}, {}),
        ({"type": ["string", "null"], "not": {}, "if": {}, "then": {}}, {}),
        ({"type": "array", "items": {"const": 1}, "uniqueItems": True}, {"items": {"enum": [1]}}),
        ({"type": "object", "additionalProperties": {"pattern": "a"}}, {"additionalProperties": {}}),
        ({"type": "object", "required": ["ghost"], "properties": {}}, {"properties": {}}),
        ({"type": "string", "properties": {"a": {}}, "required": ["a"]}, {}),
    ],
)
def test_keywords_that_are_not_documented_are_reshaped_or_left_out(
    given_schema: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert documented(given_schema) == {"type": given_schema["type"]} | sent


def test_all_of_is_merged_and_references_stand_alone() -> None:
    schema = {
        "definitions": {"P": {"type": "string", "pattern": "x"}},
        "properties": {
            "a": {"$ref": "#/definitions/P", "description": "lost"},
            "b": {"allOf": [{"$ref": "#/definitions/P"}], "description": "kept"},
            "c": {"$ref": "https://example.com/schema"},
        },
        "allOf": [
            {"properties": {"d": True}, "required": ["d"]},
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ],
    }
    assert documented(schema) == {
        "properties": {
            "a": {"$ref": "#/$defs/P"},
            "b": {"anyOf": [{"$ref": "#/$defs/P"}], "description": "kept"},
            "c": {},
            "d": {},
        },
        "required": ["d", "a"],
        "$defs": {"P": {"type": "string"}},
    }


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "string", "#", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("type", "properties", "required", "allOf", "anyOf", "items", "$ref", "enum", "const"),
                    *("definitions", "$defs", "format", "exclusiveMinimum", "pattern", "a", "not"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(values)
def test_any_schema_becomes_one_in_documented_keywords_and_stays_it(schema: Any) -> None:
    reshaped = documented(schema)
    for each in schemas(reshaped):
        assert each.keys() <= KEYWORDS
        assert "$ref" not in each or all(name.startswith("$") for name in each)
    assert documented(reshaped) == reshaped


# Parts


def document(said: bytes, media_type: str = "text/plain; charset=utf-8") -> Part:
    return Part(kind="document", data=base64.b64encode(said).decode(), media_type=media_type)


def test_media_travel_inline_or_by_address_and_text_as_text() -> None:
    parts = [
        Part(kind="document", data="AA==", media_type="application/pdf"),
        document("né".encode(), "text/markdown"),
        Part(kind="video", data="AA==", media_type="video/quicktime"),
        Part(kind="image", url="https://example.com/a.JPG?x=1"),
        Part(kind="video", url="https://www.youtube.com/watch?v=x"),
        Part(kind="document", url="https://example.com/a", media_type="application/pdf"),
    ]
    [(_, [_, *encoded])] = contents(user("see", *parts))
    assert encoded == [
        {"inlineData": {"mimeType": "application/pdf", "data": "AA=="}},
        "né",
        {"inlineData": {"mimeType": "video/mov", "data": "AA=="}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a.JPG?x=1"}},
        {"fileData": {"fileUri": "https://www.youtube.com/watch?v=x"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.com/a"}},
    ]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part(kind="image", data="AA==", media_type="image/gif"), "parts of png, jpeg, webp, heic, heif"),
        (Part(kind="audio", data="AA==", media_type="audio/midi"), "not audio/midi"),
        (Part(kind="image", data="?", media_type="image/png"), "not valid base64"),
        (Part(kind="image", data="AA=="), "no mediaType"),
        (Part(kind="image"), "neither url nor data"),
        (Part(kind="document", data="AA==", media_type="application/zip"), "of pdf and text"),
        (Part(kind="hologram", data="AA==", media_type="a/b"), "not hologram"),
        (document(b" \n"), "no blank document"),
    ],
)
def test_a_part_that_the_format_cannot_carry_is_named(part: Part, words: str) -> None:
    assert words in refusal_of(part)
    with pytest.raises(HistoryError, match="message 2 of the request, part 1: "):
        raw(user("a"), user("b", part))
