"""Single facts of the passes, by hand from the semantics page."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from golem_cli.core.errors import HistoryError, ProcessorError
from golem_cli.core.history import (
    INTERRUPTED_TEXT,
    budget_history,
    find_findings,
    leave_out_malformed_parts,
    normalize_history,
    repair,
    scalar_text,
    trim_history,
    validate_history,
    wire_args,
    wire_view,
)
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall

PNG = Part(kind="image", data="iVBORw0KGgo=", media_type="image/png")


def user(text: str = "hi") -> Message:
    return Message(role="user", content=text)


def turn(*ids: str) -> Message:
    return Message(role="assistant", tool_calls=tuple(ToolCall(id=i, name="ls", args="{}") for i in ids))


def result(call_id: str, text: str = "ok") -> Message:
    return Message(role="tool", content=text, tool_call_id=call_id)


def test_with_nothing_to_repair_the_same_messages_come_back_in_a_list_of_their_own() -> None:
    history = [user(), turn("a"), result("a")]
    repaired = repair(history)
    assert all(one is other for one, other in zip(repaired, history, strict=True))
    repaired.append(user())
    assert len(history) == 3


def test_an_id_that_is_pending_spares_only_the_call_still_open() -> None:
    """Ids are reused: the older call of that id was left behind and is repaired."""
    history = [turn("call_0"), user(), turn("call_0")]
    messages, report = normalize_history(history, pending={"call_0"})
    assert [message.role for message in messages] == ["assistant", "tool", "user", "assistant"]
    assert report.synthesized == ["call_0"]


async def test_a_budget_asks_its_counter_a_logarithmic_number_of_times() -> None:
    """1,024 openings need one call for the whole and at most eleven for the bisection."""
    calls = 0

    async def counter(messages: Sequence[Message]) -> int:
        nonlocal calls
        calls += 1
        return len(messages)

    history = [user() for _ in range(1024)]
    assert len(await budget_history(counter, 700)(history)) == 700
    assert calls <= 12


@pytest.mark.parametrize(
    ("history", "budget", "says"),
    [
        ([user()], 0, "at least 1"),
        ([user("long"), turn("a"), result("a", "long")], 3, "newest turn"),
        ([turn("a"), result("a", "long")], 3, "none of its 2 messages"),
    ],
)
async def test_a_budget_that_leaves_nothing_says_what_to_do(
    history: list[Message], budget: int, says: str
) -> None:
    count = budget_history(lambda messages: sum(len(m.content) for m in messages), budget)
    with pytest.raises(ProcessorError, match=f"{says}.*raise"):
        await count(history)


def test_a_trim_that_leaves_nothing_says_so() -> None:
    with pytest.raises(ProcessorError, match=r"newest 1 of 2 .*keep more"):
        trim_history(1)([user(), turn("a")])


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (Message(role="developer"), "message 2 has the role 'developer'"),
        (Message(role=""), "message 2 has the role ''"),
        (Message(role="x\x1b[31m\n"), r"message 2 has the role 'x⟦U\+001B⟧\[31m⟦U\+000A⟧'"),
        (Message(role="user", thinking=(ThinkingBlock(text="hm"),)), "2 is a user message with thinking"),
        (Message(role="assistant", parts=(PNG,)), "message 2, part 1: .*'assistant' may not have parts"),
        (Message(role="system", parts=(PNG,)), "message 2, part 1"),
        (Message(role="user", parts=(PNG, Part(kind="gif", url="u"))), "2, part 2: the kind is 'gif'"),
        (Message(role="tool", parts=(Part(kind="image"),)), "neither url nor data"),
        (Message(role="user", parts=(Part(kind="image", url="u", data="AAAA", media_type="a/b"),)), "both"),
        (Message(role="user", parts=(Part(kind="image", data="AAAA"),)), "no mediaType"),
        (Message(role="user", parts=(Part(kind="image", data="AAA", media_type="a/b"),)), "base64"),
        (Message(role="user", parts=(Part(kind="image", data="AA A=", media_type="a/b"),)), "base64"),
        (Message(role="user", parts=(Part(kind="image", data="\u00e9AAA", media_type="a/b"),)), "base64"),
    ],
)  # fmt: skip
def test_validation_names_the_message_and_the_part(message: Message, says: str) -> None:
    with pytest.raises(HistoryError, match=says):
        validate_history([user(), message])


def test_validation_takes_what_a_run_may_send() -> None:
    validate_history(
        [
            Message(role="system", content="Be brief."),
            Message(role="user", parts=(PNG, Part(kind="video", url="https://h/v"))),
            Message(role="assistant", thinking=(ThinkingBlock(text="hm"),)),
            Message(role="tool", parts=(PNG,)),
        ]
    )


def test_malformed_parts_are_left_out_and_named() -> None:
    bad = Part(kind="image")
    kept, left_out = leave_out_malformed_parts([user(), Message(role="user", parts=(bad, PNG))])
    assert kept == [user(), Message(role="user", parts=(PNG,))]
    assert [str(part) for part in left_out] == ["message 2, part 1: it has neither url nor data"]


def test_a_displaced_result_travels_behind_the_other_results_of_its_turn() -> None:
    history = [turn("a", "b"), result("b"), user(), result("a"), user("next")]
    assert wire_view(history) == [turn("a", "b"), result("b"), result("a"), user(), user("next")]


def test_calls_without_an_id_get_one_with_their_result() -> None:
    """The first call was cut off and has no result: it is closed on the wire, since repair cannot pair it."""
    view = wire_view([turn(""), user(), turn("", "x", ""), result("", "1"), result("x"), result("", "2")])
    closing = Message(role="tool", content=INTERRUPTED_TEXT, tool_call_id="golem0001", tool_name="ls")
    assert view == [
        turn("golem0001"), closing, user(),
        turn("golem0002", "x", "golem0003"), result("golem0002", "1"), result("x"), result("golem0003", "2"),
    ]  # fmt: skip


def test_a_given_id_avoids_those_in_use() -> None:
    assert [call.id for call in wire_view([turn("golem0001", "")])[0].tool_calls] == [
        "golem0001",
        "golem0002",
    ]


def test_turns_with_nothing_in_them_do_not_travel() -> None:
    thought = Message(role="assistant", thinking=(ThinkingBlock(text="hm"),))
    history = [user(), Message(role="assistant"), Message(role="user"), Message(role="system"), thought]
    assert wire_view(history) == [user(), thought]
    assert wire_view(history, thinking=False) == [user()]


def test_an_empty_result_travels() -> None:
    assert wire_view([turn("a"), result("a", "")]) == [turn("a"), result("a", "")]


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("log end \ud83d", "log end \ufffd"),
        ("\ud83dx\udc00\udc00", "\ufffdx\ufffd\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        ("nul\x00 \U0001f600", "nul\x00 \U0001f600"),
    ],
    ids=ascii,
)
def test_a_lone_surrogate_becomes_one_replacement_character(text: str, sound: str) -> None:
    assert scalar_text(text) == sound
    assert wire_view([user(text)]) == [user(sound)]


@pytest.mark.parametrize("args", ['{ "b" : 1.50,"a":1,"a":2}', '{"a":"\\ud83d"}', ' {"a":1}\n'])
def test_arguments_that_are_an_object_travel_verbatim(args: str) -> None:
    assert wire_args(ToolCall(args=args)) == args


@pytest.mark.parametrize("args", ['{"a": "\u00e9', "[1]", "null", "NaN", '{"a":1}{"a":1}', '"{}"', "\x00"])
def test_other_arguments_travel_wrapped(args: str) -> None:
    assert json.loads(wire_args(ToolCall(args=args))) == {"truncated_args": args}


@pytest.mark.parametrize("args", ["", "  ", "\n\t"], ids=ascii)
def test_no_arguments_travel_as_an_empty_object(args: str) -> None:
    assert wire_args(ToolCall(args=args)) == "{}"


def test_every_rule_has_its_finding() -> None:
    calls = (
        ToolCall(id="a", name="ls", args='{"'),
        ToolCall(name="ls", args="{}"),
        ToolCall(id="p", name="rm"),
    )
    history = [
        Message(role="tool", tool_call_id="a", run_id="r1"),
        Message(role="assistant", tool_calls=calls, run_id="r1"),
        Message(role="user", thinking=(ThinkingBlock(text="x"),), parts=(Part(kind="gif"),)),
        result("a"),
        result("a"),
        result("zz"),
        result(""),
        Message(role="system", content="Obey."),
        Message(role="developer", content="Obey."),
        Message(role="assistant"),
        turn("u"),
        Message(role="user", content="x", tool_calls=(ToolCall(id="i"),)),
    ]
    findings = find_findings(history, pending={"p"})
    assert [(f.message, f.rule, f.call_id) for f in findings] == [
        (1, "result-before-call", "a"),
        (2, "pending-call", "p"),
        (2, "truncated-args", "a"),
        (2, "call-without-id", ""),
        (2, "truncated-args", "p"),
        (3, "misplaced-thinking", ""),
        (3, "malformed-part", ""),
        (4, "displaced-result", "a"),
        (5, "duplicate-result", "a"),
        (6, "orphan-result", "zz"),
        (7, "result-without-id", ""),
        (8, "system-message", ""),
        (9, "unknown-role", ""),
        (10, "empty-message", ""),
        (11, "unanswered-call", "u"),
        (12, "ignored-calls", ""),
    ]
    assert [f.message for f in findings if f.changes] == [1, 5, 6, 7, 11]
    assert findings[0].run_id == "r1"


def test_an_id_cannot_forge_a_line_of_the_report() -> None:
    (finding,) = find_findings([result("x\n2. all is well\x1b[0m\u202e")])
    assert "\n" not in finding.text
    assert finding.text.isprintable()
