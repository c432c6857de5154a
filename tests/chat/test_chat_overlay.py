"""A store that refuses: the answer goes on in memory, and is saved as soon as the store can."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from golem_cli.chat import lineage, resuming
from golem_cli.chat.session import Session
from golem_cli.core.canceled import RunCanceled
from golem_cli.core.errors import ModelError, RunError, StoreError
from golem_cli.core.model import ModelRequest, ModelResponse, OnDelta
from golem_cli.core.run_status import DONE, DROPPED, INTERRUPTED
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel
from tests.support.faulty_turn import Fault

NOW = "2026-01-02T03:04:05.000Z"


class Refusing:
    """A writer of the real store behind a switch: while `full`, every change is refused."""

    def __init__(self, store: Store) -> None:
        self.inner = store.create(lineage.start(now=NOW))
        self.full = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name in {"begin_run", "add_message", "note_partial", "end_run", "update", "replace", "save"}:
            return lambda *values, **named: self._change(found, *values, **named)
        return found

    def _change(self, change: Callable[..., object], *values: object, **named: object) -> object:
        if self.full:
            raise StoreError("cannot save x: the disk is full")
        return change(*values, **named)


class FillingModel(ScriptedModel):
    """Fills the disk as soon as it is asked."""

    def __init__(self, writer: Refusing, *answers: str) -> None:
        super().__init__(*answers)
        self.writer = writer

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Answer, on a disk that is full from now on."""
        self.writer.full = True
        return await super().stream(request, on_delta)


def make(tmp_path: Path, *answers: str) -> tuple[Store, Refusing, Session, list[str]]:
    store, said = Store(tmp_path), list[str]()
    writer = Refusing(store)
    model = FillingModel(writer, *answers)
    session = Session(library=store, writer=writer, model=model, notice=said.append)
    return store, writer, session, said


async def test_an_answer_on_a_full_disk_goes_on_and_is_saved_later(tmp_path: Path) -> None:
    store, writer, session, said = make(tmp_path, "kept all the same")
    await session.ask("Hi")
    assert session.writer.unsaved
    assert len([line for line in said if "disk is full" in line]) == 1
    assert [m.content for m in session.conversation.messages] == ["Hi", "kept all the same"]
    assert not store.read(session.conversation.conversation_id).messages
    writer.full = False
    session.writer.save()
    assert store.read(session.conversation.conversation_id).messages == session.conversation.messages


async def test_a_new_prompt_is_refused_while_the_disk_is_full(tmp_path: Path) -> None:
    _, _, session, _ = make(tmp_path, "one", "two")
    await session.ask("Hi")
    with pytest.raises(StoreError, match="disk is full"):
        await session.ask("more")
    assert len(session.conversation.runs) == 1


@pytest.mark.parametrize("again", [lambda session: session.ask("more"), resuming.resume])
async def test_a_prompt_that_a_full_disk_refuses_leaves_a_stopped_turn_as_it_was(
    tmp_path: Path, again: Callable[[Session], Coroutine[Any, Any, object]]
) -> None:
    """Dropped afterwards it is a dropped turn, as if nothing had been tried."""
    store, writer, session, _ = make(tmp_path)
    session.model = model = ScriptedModel().hang("begun")
    task = asyncio.create_task(session.ask("Hi"))
    await model.until_hanging()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    before = session.conversation
    assert [run.status for run in before.runs] == ["interrupted"]
    writer.full = True
    with pytest.raises(StoreError, match="disk is full"):
        await again(session)
    assert session.conversation == before
    writer.full = False
    assert session.take_back().content == "Hi"
    assert [run.status for run in session.conversation.runs] == ["dropped"]
    assert store.ids() == [before.conversation_id]


async def test_a_conversation_with_unsaved_messages_is_not_left(tmp_path: Path) -> None:
    _, writer, session, _ = make(tmp_path, "one")
    await session.ask("Hi")
    here = session.conversation
    with pytest.raises(StoreError):
        session.start_new()
    assert session.conversation == here
    writer.full = False
    session.start_new()
    assert session.conversation.conversation_id != here.conversation_id


async def test_a_fork_that_cannot_be_kept_leaves_no_lock(tmp_path: Path) -> None:
    store, _, session, _ = make(tmp_path, "one")
    await session.ask("Hi")
    notes = set((tmp_path / "locks").glob("*.holder"))
    repair = Fault(store.conversations).vanished()
    with pytest.raises(StoreError):
        session.fork()
    assert set((tmp_path / "locks").glob("*.holder")) == notes
    repair()


async def test_a_whole_fork_keeps_what_is_in_memory_only(tmp_path: Path) -> None:
    """As when somebody replaced the file, with which no saving is possible any more."""
    store, writer, session, said = make(tmp_path, "one", "two")
    await session.ask("Hi")
    here = session.conversation
    with pytest.raises(StoreError):
        session.fork(1)
    assert store.ids() == [here.conversation_id]
    assert session.fork() == here.conversation_id
    assert said[-1].endswith("the newest of it is in the fork only")
    forked = store.read(session.conversation.conversation_id)
    assert [message.content for message in forked.messages] == ["Hi", "one"]
    assert forked.forked_from == here.conversation_id
    writer.full = False
    await session.ask("more")
    assert len(store.read(forked.conversation_id).messages) > len(forked.messages)


@pytest.mark.parametrize(
    "again",
    [
        lambda session: session.ask("more"),
        resuming.resume,
        lambda session: resuming.go_on(session, "more"),
    ],
    ids=["a prompt", "resume", "going on"],
)
async def test_what_a_stopped_turn_left_and_the_next_prompt_are_kept_in_one_step(
    tmp_path: Path, again: Callable[[Session], Coroutine[Any, Any, object]]
) -> None:
    """With a conversation just opened, of which nothing waits to be folded: so no save tells of the disk."""
    store = Store(tmp_path)
    model = ScriptedModel().hang("Once upon a time").respond("Well.")
    session = Session(library=store, writer=store.create(lineage.start(now=NOW)), model=model)
    task = asyncio.create_task(session.ask("Tell me a story"))
    await model.until_hanging()
    task.cancel()
    with pytest.raises(RunCanceled):
        await task
    before = session.conversation
    session.close()
    session = Session(library=store, writer=store.open(before.conversation_id), model=model)
    repair = Fault(store.conversations).vanished()
    with pytest.raises(StoreError):
        await again(session)
    assert session.conversation == before
    assert not session.writer.unsaved
    repair()
    await again(session)
    kept = store.read(before.conversation_id)
    first, second, _, answer = (message.content for message in kept.messages)
    assert (first, second, answer) == ("Tell me a story", "Once upon a time", "Well.")
    assert kept.messages == session.conversation.messages
    assert [(run.status, run.prompt) for run in kept.runs] == [(INTERRUPTED, ""), (DONE, "")]


async def test_a_failed_turn_that_cannot_be_tried_again_is_not_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    writer = Refusing(store)
    session = Session(
        library=store, writer=writer, model=ScriptedModel().fail(ModelError("gone")).respond("Yes.")
    )
    with pytest.raises(RunError):
        await session.ask("Hi")
    before = session.conversation
    writer.full = True
    with pytest.raises(StoreError, match="disk is full"):
        await resuming.try_again(session)
    assert session.conversation == before
    writer.full = False
    await resuming.try_again(session)
    assert [message.content for message in session.conversation.messages] == ["Hi", "Yes."]
    assert [run.status for run in store.read(before.conversation_id).runs] == [DROPPED, DONE]
