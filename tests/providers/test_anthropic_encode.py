"""Requests of the Messages format: what is sent, where the cache is marked, what is refused beforehand."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
from golem_cli.providers.anthropic.claude import claude
from golem_cli.providers.anthropic.encode import encode_request
from golem_cli.providers.anthropic.parts import refusal_of

HAIKU = "claude-haiku-4-5"
MARK = {"type": "ephemeral"}
LS = ToolSpec(name="ls", description="", schema='{"properties": {}}')


def user(content: str, *parts: Part) -> Message:
    return Message(role="user", content=content, parts=parts)


def assistant(content: str = "", *calls: ToolCall, **fields: Any) -> Message:
    return Message(role="assistant", content=content, tool_calls=calls, **fields)


def call(call_id: str, args: str = "{}", name: str = "ls") -> ToolCall:
    return ToolCall(id=call_id, name=name, args=args)


def result(call_id: str, content: str = "r", **fields: Any) -> Message:
    return Message(role="tool", tool_call_id=call_id, content=content, **fields)


def raw(*messages: Message, model: str = HAIKU, stream: bool = True, **fields: Any) -> bytes:
    request = ModelRequest(messages=messages, **fields)
    return encode_request(request, model=model, origin=f"anthropic:{model}", stream=stream)


def body(*messages: Message, **fields: Any) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(raw(*messages, **fields))
    return decoded


def turns(*messages: Message, **fields: Any) -> list[tuple[str, Any]]:
    """Role and blocks of each turn; a text block as its text, marks left out."""
    return [
        (turn["role"], [plain(block) for block in turn["content"]])
        for turn in body(*messages, **fields)["messages"]
    ]


def plain(block: dict[str, Any]) -> Any:
    block.pop("cache_control", None)
    return block["text"] if block["type"] == "text" else block


# Turns


def test_consecutive_turns_are_one_and_blank_ones_are_none() -> None:
    history = [user("a"), assistant(" \n"), user("b"), assistant("c"), assistant("d"), user("e")]
    assert turns(*history) == [("user", ["a", "b"]), ("assistant", ["c", "d"]), ("user", ["e"])]


def test_a_conversation_begins_with_the_user() -> None:
    opening = ("user", ["(The beginning of this conversation is not shown.)"])
    assert turns(assistant("a"), user("b"))[0] == opening


def test_results_come_first_whatever_came_between() -> None:
    history = [
        user("a"),
        assistant("", call("1"), call("2")),
        user("wait"),
        result("2"),
        result("1"),
        user("b"),
    ]
    [_, _, (_, answered)] = turns(*history)
    assert [block["tool_use_id"] for block in answered[:2]] == ["2", "1"]
    assert answered[2:] == ["wait", "b"]


def test_a_result_says_whether_it_failed_and_carries_its_parts() -> None:
    image = Part(kind="image", data="AA==", media_type="image/jpg")
    shown = result("1", "see", parts=(image,))
    [_, _, (_, blocks)] = turns(
        user("a"),
        assistant("", call("1"), call("2"), call("3")),
        shown,
        result("2", failed=True),
        result("3", " "),
    )
    source = {"type": "base64", "media_type": "image/jpeg", "data": "AA=="}
    content = [{"type": "text", "text": "see"}, {"type": "image", "source": source}]
    assert blocks == [
        {"type": "tool_result", "tool_use_id": "1", "content": content},
        {"type": "tool_result", "tool_use_id": "2", "content": "r", "is_error": True},
        {"type": "tool_result", "tool_use_id": "3"},
    ]


def test_ids_that_are_used_again_are_told_apart_and_so_are_their_results() -> None:
    step = [assistant("", call("call_0")), result("call_0")]
    told = [block for _, blocks in turns(user("a"), *step * 3, user("b")) for block in blocks]
    assert [block["id"] for block in told if "id" in block] == ["call_0", "call_0_2", "call_0_3"]
    assert [b["tool_use_id"] for b in told if "tool_use_id" in b] == ["call_0", "call_0_2", "call_0_3"]


def test_ids_and_names_of_another_form_are_reshaped_and_stay_apart() -> None:
    one, other = call("call|1", name="docs.search"), call("call:1", name="docs/search")
    [_, (_, asked), (_, answered)] = turns(
        user("a"), assistant("", one, other), result("call|1"), result("call:1")
    )
    assert [block["id"] for block in asked] == [block["tool_use_id"] for block in answered]
    for field in ("id", "name"):
        assert len({block[field] for block in asked}) == 2
        assert all(block[field].replace("_", "").isalnum() for block in asked)


def test_arguments_travel_as_they_were_written() -> None:
    sent = raw(user("a"), assistant("", call("1", '{ "n" : 1.50, "n" : 1e3 }'), call("2", '{"cut": "')))
    assert b'"input":{ "n" : 1.50, "n" : 1e3 }' in sent
    assert b'"input":{"truncated_args": "{\\"cut\\": \\""}' in sent


def test_a_call_without_a_result_is_answered() -> None:
    [_, _, (role, [answered, said])] = turns(user("a"), assistant("", call("1")), user("b"))
    assert (role, answered["tool_use_id"], said) == ("user", "1", "b")
    assert answered["content"].startswith("Tool call was interrupted before execution")


def test_the_last_turn_of_the_assistant_loses_its_white_space_or_its_place() -> None:
    """Models up to 4.5 go on from it, newer ones refuse it."""
    history = [user("a"), assistant("Well, \n")]
    assert turns(*history)[-1] == ("assistant", ["Well,"])
    assert turns(*history, model="claude-opus-5")[-1] == ("user", ["Continue."])


def test_identity_stamps_and_unknown_fields_are_never_sent() -> None:
    stamped = assistant(
        "b", run_id="run-1", conversation_id="conversation-1", interrupted=True, extra={"x": '"extra-1"'}
    )
    sent = raw(user("a"), stamped, user("c"))
    for secret in (b"run-1", b"conversation-1", b"extra-1", b"interrupted", b"anthropic:"):
        assert secret not in sent


@pytest.mark.parametrize("messages", [[], [user("")], [Message(role="system", content="s")], [result("1")]])
def test_a_request_without_anything_to_answer_is_refused(messages: list[Message]) -> None:
    with pytest.raises(HistoryError, match="nothing that the model could answer"):
        raw(*messages)


# Thinking

SIGNED = ThinkingBlock(text="hm", signature="s")
SENT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def test_thinking_goes_back_to_the_model_that_signed_it_only() -> None:
    unsigned, hidden = ThinkingBlock(text="?"), ThinkingBlock(redacted="x")
    turn = assistant("b", thinking=(SIGNED, unsigned, hidden), signed_by=f"anthropic:{HAIKU}")
    own = turns(user("a"), turn, user("c"))[1]
    assert own == ("assistant", [SENT, {"type": "redacted_thinking", "data": "x"}, "b"])
    assert turns(user("a"), turn, user("c"), model="claude-opus-5")[1] == ("assistant", ["b"])
    nobody = assistant("b", thinking=(SIGNED,))
    assert turns(user("a"), nobody, user("c"))[1] == ("assistant", ["b"])


def test_thinking_stands_where_it_stood_and_never_last() -> None:
    later = ThinkingBlock(text="hm", signature="s", extra={"after": "[2,1]"})
    turn = assistant(
        "So it is", call("1"), call("2"), thinking=(SIGNED, later), signed_by=f"anthropic:{HAIKU}"
    )
    kinds = [block if isinstance(block, str) else block["type"] for block in turns(user("a"), turn)[1][1]]
    assert kinds == ["thinking", "So", "tool_use", "thinking", " it is", "tool_use"]
    alone = assistant("", thinking=(SIGNED,), signed_by=f"anthropic:{HAIKU}")
    assert turns(user("a"), alone, user("b")) == [("user", ["a", "b"])]


def test_thinking_of_empty_text_is_sent_with_its_signature() -> None:
    turn = assistant("b", thinking=(ThinkingBlock(signature="s"),), signed_by=f"anthropic:{HAIKU}")
    assert turns(user("a"), turn, user("c"))[1][1][0] == {**SENT, "thinking": ""}


@pytest.mark.parametrize(
    ("model", "wish", "sent"),
    [
        (HAIKU, None, None),
        (HAIKU, "off", None),
        (HAIKU, 2048, {"type": "enabled", "budget_tokens": 2048}),
        ("claude-opus-4-6", "adaptive", {"type": "adaptive", "display": "summarized"}),
        ("claude-opus-4-6", 2048, {"type": "enabled", "budget_tokens": 2048}),
        ("claude-opus-4-8", None, None),
        ("claude-opus-4-8", "adaptive", {"type": "adaptive", "display": "summarized"}),
        ("claude-opus-5", None, {"type": "adaptive", "display": "summarized"}),
        ("claude-opus-5", "off", {"type": "disabled"}),
        ("claude-fable-5", None, {"type": "adaptive", "display": "summarized"}),
        ("claude-3-5-haiku-20241022", "off", None),
    ],
)
def test_thinking_is_asked_for_as_the_model_takes_it(model: str, wish: Any, sent: object) -> None:
    """The table of the page "Thinking"."""
    assert body(user("a"), model=model, settings=ModelSettings(thinking=wish)).get("thinking") == sent


def test_a_tool_loop_that_began_without_thinking_goes_on_without() -> None:
    loop = [user("a"), assistant("", call("1")), result("1")]
    budget = ModelSettings(thinking=2048)
    assert "thinking" not in body(*loop, settings=budget)
    assert "thinking" in body(*loop, assistant("b"), user("c"), settings=budget)
    thought = assistant("", call("1"), thinking=(SIGNED,), signed_by=f"anthropic:{HAIKU}")
    second = [assistant("", call("2")), result("2")]
    assert "thinking" in body(user("a"), thought, result("1"), *second, settings=budget)


# Length and sampling


@pytest.mark.parametrize(
    ("model", "streamed", "whole"),
    [
        ("claude-opus-5", 128_000, 16_000),
        ("claude-sonnet-4-6", 128_000, 16_000),
        ("claude-sonnet-4-5-20250929", 64_000, 16_000),
        ("claude-opus-4-1", 32_000, 16_000),
        ("claude-opus-4-20250514", 32_000, 16_000),
        ("claude-3-5-haiku-20241022", 8192, 8192),
        ("claude-3-haiku-20240307", 4096, 4096),
        ("kimi-k3", 8192, 8192),
    ],
)
def test_an_answer_may_be_as_long_as_the_model_can_make_it(model: str, streamed: int, whole: int) -> None:
    """The table "Models overview"."""
    assert body(user("a"), model=model)["max_tokens"] == streamed
    assert body(user("a"), model=model, stream=False)["max_tokens"] == whole


def test_a_budget_leaves_room_for_the_answer() -> None:
    sent = body(user("a"), stream=False, settings=ModelSettings(thinking=20_000))
    assert sent["max_tokens"] == 36_000


@pytest.mark.parametrize(
    ("model", "fields", "words"),
    [
        (HAIKU, {"temperature": 1.1}, "temperature must be in [0, 1]"),
        (HAIKU, {"temperature": -0.1}, "temperature must be in [0, 1]"),
        (HAIKU, {"temperature": float("nan")}, "temperature must be in [0, 1]"),
        (HAIKU, {"top_p": 2}, "top_p must be in [0, 1]"),
        (HAIKU, {"max_tokens": 0}, "max_tokens must be at least 1"),
        (HAIKU, {"max_tokens": -1}, "max_tokens must be at least 1"),
        (HAIKU, {"max_tokens": 64_001}, "max_tokens must be at most 64000"),
        (HAIKU, {"seed": 1}, "no seed"),
        (HAIKU, {"stop": (" ",)}, "stop sequence"),
        (HAIKU, {"temperature": 1, "top_p": 1}, "not both"),
        (HAIKU, {"temperature": 0.5, "thinking": 2048}, "temperature cannot be set"),
        (HAIKU, {"top_p": 0.5, "thinking": 2048}, "top_p must be in [0.95, 1]"),
        (HAIKU, {"thinking": 1023}, "must be in [1024, 63999]"),
        (HAIKU, {"thinking": 4096, "max_tokens": 4096}, "must be in [1024, 4095]"),
        (HAIKU, {"thinking": "adaptive"}, "give a budget of tokens"),
        ("claude-opus-5", {"thinking": 2048}, "use adaptive"),
        ("claude-opus-5", {"temperature": 0.5}, "takes no temperature"),
        ("claude-fable-5", {"thinking": "off"}, "always thinks"),
        ("claude-3-haiku-20240307", {"thinking": "adaptive"}, "does not think"),
        ("claude-3-haiku-20240307", {"thinking": 2048}, "does not think"),
    ],
)
def test_settings_out_of_their_range_are_refused_before_the_request(
    model: str, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        raw(user("a"), model=model, settings=ModelSettings(**fields))
    assert words in str(caught.value)


def test_settings_within_their_range_are_sent() -> None:
    given = ModelSettings(temperature=0.0, max_tokens=5, stop=("END",))
    sent = body(user("a"), settings=given)
    assert (sent["temperature"], sent["max_tokens"], sent["stop_sequences"]) == (0.0, 5, ["END"])


def test_an_unknown_claude_is_taken_for_one_of_the_newest() -> None:
    assert claude("claude-opus-9").max_tokens == 128_000
    assert claude("anthropic/claude-haiku-4-5").name == HAIKU


# Tools and schemas


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("ls", {"type": "tool", "name": "ls"}),
    ],
)
def test_the_choice_of_a_tool_is_worded_as_the_format_does(choice: str, sent: object) -> None:
    assert body(user("a"), tools=[LS], tool_choice=choice)["tool_choice"] == sent


def test_a_tool_is_an_object_and_says_what_it_does_when_it_does() -> None:
    [tool] = body(user("a"), tools=[LS])["tools"]
    assert tool == {
        "name": "ls",
        "input_schema": {"type": "object", "properties": {}},
        "cache_control": MARK,
    }


def test_calls_of_a_history_are_declared_when_no_tool_is_offered() -> None:
    sent = body(user("a"), assistant("", call("1", name="x.y")), result("1"))
    assert sent["tools"][0]["name"] == sent["messages"][1]["content"][0]["name"]
    assert sent["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (ToolSpec(name="a.b", description="", schema="{}"), "letters, digits, _ and -"),
        (ToolSpec(name="a", description="", schema="{"), "is not JSON"),
        (ToolSpec(name="a", description="", schema="[]"), "no JSON object"),
        (ToolSpec(name="a", description="", schema='{"anyOf": []}'), "no anyOf at the top"),
    ],
)
def test_a_tool_that_the_provider_would_refuse_is_refused_by_name(tool: ToolSpec, words: str) -> None:
    with pytest.raises(ConfigurationError, match=tool.name) as caught:
        raw(user("a"), tools=[tool])
    assert words in str(caught.value)


def test_a_call_cannot_be_forced_from_a_model_that_thinks_first() -> None:
    forced: dict[str, Any] = {"tools": [LS], "tool_choice": "required"}
    with pytest.raises(ConfigurationError, match="choose auto"):
        raw(user("a"), settings=ModelSettings(thinking=2048), **forced)
    with pytest.raises(ConfigurationError, match="choose auto"):
        raw(user("a"), model="claude-sonnet-5-5", **forced)
    off = body(user("a"), model="claude-sonnet-5-5", settings=ModelSettings(thinking="off"), **forced)
    assert off["tool_choice"] == {"type": "any"}


def test_every_object_of_an_output_schema_is_closed() -> None:
    schema = (
        '{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}},'
        '"b":{"type":["object","null"]}}}'
    )
    sent = body(user("a"), output_schema=schema)["output_config"]["format"]["schema"]
    assert sent["additionalProperties"] is False
    assert sent["properties"]["a"]["items"] == {"type": "object", "additionalProperties": False}
    assert sent["properties"]["b"]["additionalProperties"] is False


# The cache


def marked(sent: dict[str, Any]) -> list[str]:
    """Where the marks are: the text, or what stands for it."""
    blocks = [*sent.get("tools", ()), *sent.get("system", ())]
    blocks += [block for turn in sent["messages"] for block in turn["content"]]
    return [b.get("text") or b.get("name") or b["type"] for b in blocks if b.get("cache_control") == MARK]


def test_the_cache_is_marked_behind_what_is_fixed_and_at_the_ends_of_this_request_and_the_last() -> None:
    system = Message(role="system", content="Be brief.")
    history = [user("1"), assistant("a"), user("2"), assistant("b"), user("3")]
    assert marked(body(system, *history)) == ["Be brief.", "2", "3"]
    assert marked(body(system, *history[:3])) == ["Be brief.", "1", "2"]
    assert marked(body(*history, tools=[LS])) == ["ls", "2", "3"]
    assert marked(body(user("1"))) == ["1"]


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
        now = raw(*history).replace(b',"cache_control":{"type":"ephemeral"}', b"")
        assert now.startswith(before)
        before = now.removesuffix(b"}]}]}")  # up to the end of its last block


# Parts


def text_document(said: bytes, media_type: str = "text/plain; charset=utf-8") -> Part:
    return Part(kind="document", data=base64.b64encode(said).decode(), media_type=media_type)


def test_documents_travel_as_pdf_text_or_address() -> None:
    pdf = Part(kind="document", data="AA==", media_type="application/pdf")
    parts = [pdf, text_document("né".encode()), Part(kind="document", url="https://example.com/a.pdf")]
    [(_, [_, *blocks])] = turns(user("see", *parts))
    assert [block["source"] for block in blocks] == [
        {"type": "base64", "media_type": "application/pdf", "data": "AA=="},
        {"type": "text", "media_type": "text/plain", "data": "né"},
        {"type": "url", "url": "https://example.com/a.pdf"},
    ]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part(kind="audio", data="AA==", media_type="audio/wav"), "images and documents, not audio"),
        (Part(kind="video", url="https://example.com/v"), "images and documents, not video"),
        (Part(kind="image", data="AA==", media_type="image/bmp"), "jpeg, png, gif and webp"),
        (Part(kind="image", data="?", media_type="image/png"), "not valid base64"),
        (Part(kind="image", data="AA=="), "no mediaType"),
        (Part(kind="image", data="AAAA" * 1_310_721, media_type="image/png"), "up to 5 MB"),
        (Part(kind="image"), "neither url nor data"),
        (Part(kind="document", data="AA==", media_type="application/zip"), "PDF and plain text"),
        (text_document(b" \n"), "none that is blank"),
    ],
)
def test_a_part_that_the_format_cannot_carry_is_named(part: Part, words: str) -> None:
    assert words in refusal_of(part)
    with pytest.raises(HistoryError, match="message 2 of the request, part 1: "):
        raw(user("a"), user("b", part))
