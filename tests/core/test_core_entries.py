"""Entries: the messages keep their numbers, and what a conversation goes on without stands at its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.entries import Entry, entries, left_out, numbered
from golem_cli.core.message import Message
from golem_cli.core.run_status import DONE, DROPPED, FAILED, INTERRUPTED, RUNNING


def said(role: str, content: str, run: str) -> Message:
    return Message(role=role, content=content, run_id=run)


def told(order: list[Entry]) -> list[tuple[int, str, str]]:
    return [(entry.number, entry.message.role, entry.message.content) for entry in order]


def test_a_failed_turn_stands_before_the_prompt_that_went_without_it() -> None:
    conversation = Conversation(
        messages=(said("user", "one", "a"), said("assistant", "ONE", "a"), said("user", "three", "c")),
        runs=(
            RunRecord(run_id="a", status=DONE),
            RunRecord(run_id="b", status=FAILED, prompt="two", partial_text="TW"),
            RunRecord(run_id="c", status=DONE),
        ),
    )
    assert told(entries(conversation)) == [
        (1, "user", "one"),
        (2, "assistant", "ONE"),
        (0, "user", "two"),
        (0, "assistant", "TW"),
        (3, "user", "three"),
    ]
    assert [entry.left_out_by for entry in left_out(conversation)] == [conversation.runs[1]] * 2


def test_the_text_behind_a_completed_step_stands_behind_it_without_its_prompt_again() -> None:
    """A process that died cleared nothing: its prompt is in its record and among the messages."""
    conversation = Conversation(
        messages=(said("user", "q", "a"), said("assistant", "step", "a"), said("user", "next", "b")),
        runs=(
            RunRecord(run_id="a", status=RUNNING, prompt="q", partial_text="half"),
            RunRecord(run_id="b", status=DONE),
        ),
    )
    assert told(entries(conversation)) == [
        (1, "user", "q"),
        (2, "assistant", "step"),
        (0, "assistant", "half"),
        (3, "user", "next"),
    ]


def test_turns_that_left_no_message_keep_their_order_at_either_end() -> None:
    runs = [RunRecord(run_id=name, status=FAILED, prompt=name) for name in "abde"]
    conversation = Conversation(
        messages=(said("user", "c", "c"),),
        runs=(*runs[:2], RunRecord(run_id="c", status=DONE), *runs[2:]),
    )
    shown = [entry.message.content for entry in entries(conversation)]
    assert shown == ["a", "b", "c", "d", "e"]
    assert [entry.number for entry in entries(conversation)] == [0, 0, 1, 0, 0]


def test_history_without_runs_is_its_messages() -> None:
    messages = (said("user", "q", ""), said("assistant", "a", ""))
    assert entries(Conversation(messages=messages)) == numbered(messages)


@pytest.mark.parametrize("status", [FAILED, DROPPED, INTERRUPTED, RUNNING])
def test_a_record_that_holds_nothing_leaves_nothing_out(status: str) -> None:
    conversation = Conversation(runs=(RunRecord(run_id="a", status=status),))
    assert entries(conversation) == left_out(conversation) == []


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["user", "assistant"])), max_size=8),
    st.lists(st.tuples(st.sampled_from(["", "p"]), st.sampled_from(["", "t"])), min_size=4, max_size=4),
)
def test_no_message_is_lost_moved_or_renumbered(
    spoken: list[tuple[str, str]], records: list[tuple[str, str]]
) -> None:
    messages = tuple(said(role, str(place), run) for place, (run, role) in enumerate(spoken))
    runs = tuple(
        RunRecord(run_id=name, status=FAILED, prompt=prompt, partial_text=text)
        for name, (prompt, text) in zip("abcd", records, strict=True)
    )
    order = entries(Conversation(messages=messages, runs=runs))
    assert [entry for entry in order if not entry.left_out_by] == numbered(messages)
    present = {message.run_id for message in messages}
    kept = sum(bool(run.partial_text) + (bool(run.prompt) and run.run_id not in present) for run in runs)
    assert len(order) - len(messages) == kept
