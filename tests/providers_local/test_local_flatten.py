"""Turns that a small chat template can take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.history import repair
from golem_cli.core.message import ASSISTANT, TOOL, USER, Message, ToolCall
from golem_cli.providers.wire.flatten import OPENING, alternating, tools_as_text

CALL = ToolCall(id="c1", name="add", args='{"a": 1}')
TURN = Message(role="assistant", content="Let me see.", tool_calls=(CALL,))

texts = st.text(max_size=8)
ids = st.sampled_from(["", "a", "b"])
calls = st.builds(ToolCall, id=ids, name=st.just("f"), args=texts)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=texts,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=ids,
)
histories = st.lists(messages, max_size=8).map(repair)


def test_a_call_and_its_results_are_told_with_name_and_verbatim_arguments() -> None:
    failed = Message(role="tool", tool_call_id="c1", tool_name="add", content="no such unit", failed=True)
    assert [(m.role, m.content) for m in tools_as_text([TURN, failed])] == [
        ("assistant", 'Let me see.\n[called add with {"a": 1}]'),
        ("user", "[failed result of add]\nno such unit"),
    ]


def test_a_history_without_tools_stays_as_it_is() -> None:
    history = [Message(role="system", content="s"), Message(role="user", content="u")]
    assert tools_as_text(history) == history


def test_instructions_and_the_first_prompt_become_one_user_turn() -> None:
    history = [Message(role="system", content="Be brief."), Message(role="user", content="Hello")]
    assert [(m.role, m.content) for m in alternating(history)] == [("user", "Be brief.\n\nHello")]


def test_a_history_that_opens_on_an_assistant_turn_gets_a_user_turn_in_front() -> None:
    history = [Message(role="assistant", content="a"), Message(role="user", content="u")]
    assert [m.content for m in alternating(history)] == [OPENING, "a", "u"]


@given(histories)
def test_no_tool_message_and_no_call_is_left(history: list[Message]) -> None:
    told = tools_as_text(history)
    assert not any(m.role == TOOL or (m.role == ASSISTANT and m.tool_calls) for m in told)


@given(histories)
def test_turns_alternate_and_begin_with_the_user(history: list[Message]) -> None:
    roles = [m.role for m in alternating(history)]
    assert roles == [(USER, ASSISTANT)[index % 2] for index in range(len(roles))]


@given(histories)
def test_alternating_twice_changes_nothing_more(history: list[Message]) -> None:
    once = alternating(history)
    assert alternating(once) == once
