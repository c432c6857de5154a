"""Recovery: where runs stop, and what resume, try again and drop make of each kind of stop."""

from __future__ import annotations

from typing import Any

import pytest

from golem_cli.core import recovery
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.run_status import DONE, DROPPED, FAILED, INTERRUPTED, PENDING, RUNNING

RUN = "01890000-0000-7000-8000-000000000001"
CALL = ToolCall(id="c1", name="look", args="{}")
ASKED = Message(role="user", content="Q", run_id=RUN)
CALLED = Message(role="assistant", tool_calls=(CALL,), run_id=RUN)
RESULT = Message(role="tool", content="R", tool_call_id="c1", tool_name="look", run_id=RUN)
EARLIER = Message(role="user", content="before", run_id="other")


def conversation(*messages: Message, **run: Any) -> Conversation:
    return Conversation(
        conversation_id="c", messages=(EARLIER, *messages), runs=(RunRecord(run_id=RUN, **run),)
    )


@pytest.mark.parametrize(
    ("stopped", "where"),
    [
        (conversation(status=FAILED, prompt="Q"), "before the first word"),
        (conversation(status=FAILED, prompt="Q", partial_text="An"), "in mid-answer"),
        (conversation(ASKED, CALLED, status=FAILED, stage="tool"), "at a tool"),
        (conversation(ASKED, CALLED, RESULT, status=RUNNING), "at a tool"),
        (
            conversation(ASKED, CALLED, RESULT, status=INTERRUPTED, stage="model", partial_text="x"),
            "in mid-answer",
        ),
        (
            conversation(
                ASKED,
                Message(role="assistant", content="half", interrupted=True, run_id=RUN),
                status=INTERRUPTED,
                stage="model",
            ),
            "in mid-answer",
        ),
    ],
)
def test_a_stop_says_where_it_was(stopped: Conversation, where: str) -> None:
    stop = recovery.last_stop(stopped)
    assert stop is not None
    assert stop.where == where
    assert stop.added == len(stopped.messages) - 1


def test_results_that_repair_added_belong_to_the_run_whose_calls_they_answer() -> None:
    closing = Message(role="tool", content="none", tool_call_id="c1", tool_name="look")
    stopped = conversation(ASKED, CALLED, closing, status=FAILED, stage="tool")
    stop = recovery.last_stop(stopped)
    assert stop is not None
    assert (stop.where, stop.added) == ("at a tool", 3)
    assert recovery.prompt_of(stopped, stop.run) == ASKED
    assert recovery.drop(stopped).messages == (EARLIER,)


def test_results_without_stamps_before_a_run_are_not_its_own() -> None:
    foreign = Message(role="tool", content="none", tool_call_id="old")
    assert recovery.messages_of(conversation(foreign, ASKED, status=FAILED), RUN) == [ASKED]
    assert recovery.messages_of(conversation(foreign, status=FAILED), RUN) == []


def test_a_run_that_waits_is_interrupted_where_nothing_may_wait() -> None:
    waiting = conversation(ASKED, CALLED, status=PENDING, pending=("c1",))
    closed = recovery.waits_no_more(waiting)
    assert (closed.runs[0].status, closed.runs[0].pending) == (INTERRUPTED, ())
    assert closed.messages == waiting.messages
    ended = conversation(ASKED, status=DONE)
    assert recovery.waits_no_more(ended) == ended


@pytest.mark.parametrize("status", [DONE, DROPPED, PENDING])
def test_a_run_that_ended_is_no_stop(status: str) -> None:
    whole = conversation(ASKED, status=status)
    assert recovery.last_stop(whole) is None
    assert recovery.settle(whole) is whole
    assert recovery.drop(whole) is whole


def test_settling_moves_prompt_and_partial_text_among_the_messages() -> None:
    settled = recovery.settle(conversation(status=INTERRUPTED, prompt="Q", partial_text="An"))
    assert settled.messages == (
        EARLIER,
        Message(role="user", content="Q", run_id=RUN, conversation_id="c"),
        Message(role="assistant", content="An", interrupted=True, run_id=RUN, conversation_id="c"),
    )
    (run,) = settled.runs
    assert (run.status, run.prompt, run.partial_text) == (INTERRUPTED, "", "")


def test_settling_twice_adds_nothing() -> None:
    once = recovery.settle(conversation(status=INTERRUPTED, prompt="Q", partial_text="An"))
    assert recovery.settle(once).messages == once.messages


def test_the_error_never_becomes_a_message() -> None:
    failed = conversation(status=FAILED, prompt="Q", error="secret failure")
    assert all("secret failure" not in m.content for m in recovery.settle(failed).messages)


def test_dropping_takes_the_messages_of_the_run_and_keeps_its_record() -> None:
    dropped = recovery.drop(conversation(ASKED, CALLED, status=FAILED, partial_text="An"))
    assert dropped.messages == (EARLIER,)
    assert (dropped.runs[0].status, dropped.runs[0].partial_text) == (DROPPED, "An")


def test_the_prompt_of_a_run_comes_from_its_messages_or_its_record() -> None:
    kept = conversation(ASKED, CALLED, status=FAILED)
    assert recovery.prompt_of(kept, kept.runs[0]).content == "Q"
    bare = conversation(status=FAILED, prompt="Q")
    assert recovery.prompt_of(bare, bare.runs[0]).content == "Q"


def test_calls_of_the_last_pending_run_wait() -> None:
    waiting = Conversation(runs=(RunRecord(run_id=RUN, status=PENDING, pending=("c1",)),))
    assert recovery.pending_calls(waiting) == {"c1"}
    assert recovery.pending_calls(conversation(status=DONE)) == frozenset()
