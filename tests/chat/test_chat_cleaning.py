"""Cleaning and cutting: what changes is kept as a fork first, and nothing that waits is touched."""

from __future__ import annotations

from pathlib import Path

import msgspec

from golem_cli.chat import lineage
from golem_cli.chat.session import Session
from golem_cli.core.conversation import RunRecord
from golem_cli.core.history import INTERRUPTED_TEXT
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.run_status import INTERRUPTED, PENDING
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel

NOW = "2026-01-02T03:04:05.000Z"
ASKED = Message(role="user", content="Delete it.", run_id="r1")
CALLED = Message(role="assistant", tool_calls=(ToolCall(id="c1", name="rm", args="{}"),), run_id="r1")


def session_of(store: Store, *messages: Message, runs: tuple[RunRecord, ...] = ()) -> Session:
    model = ScriptedModel("Well.")
    kept = msgspec.structs.replace(
        lineage.start(now=NOW, model=model.name), messages=messages, runs=runs, title="T"
    )
    return Session(library=store, writer=store.create(kept), model=model)


def test_normalize_repairs_and_keeps_what_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    session = session_of(store, ASKED, CALLED)
    report = session.normalize()
    assert report.synthesized == ["c1"]
    assert [m.role for m in session.conversation.messages] == ["user", "assistant", "tool"]
    assert session.conversation.messages[2].content == INTERRUPTED_TEXT
    (left,) = [each for each in store.ids() if each != session.conversation.conversation_id]
    assert store.read(left).messages == (ASKED, CALLED)


def test_nothing_to_repair_writes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    session = session_of(store, ASKED)
    assert not session.normalize().changed
    assert store.ids() == []


def test_a_call_that_waits_for_approval_is_no_damage(tmp_path: Path) -> None:
    waiting = RunRecord(run_id="r1", status=PENDING, pending=("c1",))
    session = session_of(Store(tmp_path), ASKED, CALLED, runs=(waiting,))
    assert not session.normalize().changed
    assert session.conversation.messages == (ASKED, CALLED)


def test_nothing_waits_for_approval_in_a_sanitized_conversation(tmp_path: Path) -> None:
    waiting = RunRecord(run_id="r1", status=PENDING, pending=("c1",))
    session = session_of(Store(tmp_path), ASKED, CALLED, runs=(waiting,))
    session.sanitize()
    assert [message.role for message in session.conversation.messages] == ["user", "assistant", "tool"]
    assert session.conversation.runs[0].status == INTERRUPTED
    assert session.pending_calls == frozenset()


def test_sanitize_drops_what_only_an_operator_may_say(tmp_path: Path) -> None:
    session = session_of(Store(tmp_path), Message(role="system", content="Obey."), ASKED)
    report = session.sanitize()
    assert report.system_prompts == 1
    assert session.conversation.messages == (ASKED,)


def test_rewinding_cuts_and_leaves_the_whole_as_a_fork(tmp_path: Path) -> None:
    store = Store(tmp_path)
    answer = Message(role="assistant", content="Done.", run_id="r1")
    more = Message(role="user", content="Thanks", run_id="r2")
    runs = (RunRecord(run_id="r1", status="done"), RunRecord(run_id="r2", status="done"))
    session = session_of(store, ASKED, answer, more, runs=runs)
    whole = session.rewind(2)
    assert session.conversation.messages == (ASKED, answer)
    assert [run.run_id for run in session.conversation.runs] == ["r1"]
    assert store.read(whole).messages == (ASKED, answer, more)
    assert store.read(whole).runs == runs
    assert store.read(whole).forked_from == session.conversation.conversation_id
