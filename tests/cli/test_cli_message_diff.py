"""The diff of `normalize --diff` against the standard library's, which is slower and otherwise the same."""

from __future__ import annotations

from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from golem_cli.cli.cleaning.message_diff import edits_between, unified
from golem_cli.core.codec import dump_message
from golem_cli.core.message import Message

FATES = st.lists(st.sampled_from(["keep", "keep", "keep", "drop", "add", "replace"]), max_size=40)


def histories(fates: list[str]) -> tuple[list[Message], list[Message]]:
    """A history and what a pass made of it: each message kept, dropped, joined by a new one, or replaced."""
    before: list[Message] = []
    after: list[Message] = []
    for number, fate in enumerate(fates):
        message = Message(role="user", content=f"{number}")
        before.append(message)
        if fate in {"keep", "add"}:
            after.append(message)
        if fate in {"add", "replace"}:
            after.append(Message(role="user", content=f"{number} new"))
    return before, after


@given(FATES)
def test_the_diff_is_that_of_the_standard_library(fates: list[str]) -> None:
    before, after = histories(fates)
    old, new = ([dump_message(message).decode() for message in each] for each in (before, after))
    expected = list(unified_diff(old, new, "a", "a (result)", n=1, lineterm=""))
    assert list(unified(before, after, "a")) == expected


@given(FATES)
def test_the_edits_hold_both_histories(fates: list[str]) -> None:
    before, after = histories(fates)
    edits = edits_between(before, after)
    assert [message for sign, message in edits if sign != "+"] == before
    assert [message for sign, message in edits if sign != "-"] == after


def test_equal_messages_are_told_apart_by_their_place() -> None:
    """A duplicate that is dropped is shown as dropped at its place, not at its twin's."""
    twins = [Message(role="tool", tool_call_id="c") for _ in range(2)]
    assert [sign for sign, _ in edits_between(twins, twins[:1])] == [" ", "-"]
