"""A folder, a pipe or a link under a conversation's name: listed, told as it is, deleted and restored."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation
from golem_cli.core.errors import ConversationChanged, StoreError
from golem_cli.core.message import Message
from golem_cli.store.index.database import IndexUnusable, opened, remove
from golem_cli.store.lock import is_held
from golem_cli.store.store import Store
from golem_cli.store.summary import DAMAGED
from tests.support.obstacles import OBSTACLES, nobody_waits, what

if sys.platform == "win32":
    pytest.skip("links need a privilege there, and pipes have no names in folders", allow_module_level=True)

ID = "01890000-0000-7000-8000-000000000001"
REASONS = {
    "a folder": "it is a folder",
    "a dangling link": "it is a symbolic link",
    "a link loop": "it is a symbolic link",
    "a link to a folder": "it is a symbolic link",
    "a pipe": "it is not a regular file",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture(params=OBSTACLES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[".json", ".journal"])
def obstacle(request: pytest.FixtureRequest, store: Store, kind: str) -> Path:
    """It stands in the place of the file, or of the journal beside a sound file."""
    store.conversations.mkdir()
    path = store.conversations / f"{ID}{request.param}"
    if request.param == ".journal":
        value = {"golem": 1, "conversationId": ID, "title": "sound", "messages": [], "runs": []}
        store.path_of(ID).write_text(json.dumps(value))
    OBSTACLES[kind](path)
    return path


def test_whoever_opens_it_is_told_the_reason_that_lists_show(store: Store, obstacle: Path, kind: str) -> None:
    with nobody_waits(obstacle):
        assert store.ids() == [ID]
        (summary,) = store.summaries()
        assert (summary.status, summary.conversation_id) == (DAMAGED, ID)
        assert REASONS[kind] in summary.problem
        for attempt in (store.read, store.open, lambda each: store.rename(each, "new")):
            with pytest.raises(StoreError, match=REASONS[kind]):
                attempt(ID)
    assert not is_held(store.conversations.parent / "locks", ID)
    assert obstacle.name in {path.name for path in store.conversations.iterdir()}


def test_it_goes_to_the_trash_as_it_is_and_comes_back(store: Store, obstacle: Path) -> None:
    before = what(obstacle)
    with nobody_waits(obstacle):
        entry = store.delete(ID)
        assert (store.ids(), store.deleted.names()) == ([], [entry.stem])
        assert what(store.trash / obstacle.name) == before
        assert [each.status for each in store.deleted.summaries()] == [DAMAGED]
        store.deleted.restore(entry.stem)
    assert (what(obstacle), store.deleted.names()) == (before, [])
    assert store.path_of(ID).is_file() == (obstacle.suffix == ".journal")


def test_a_second_of_the_same_name_gets_a_number_and_nothing_takes_its_place(
    store: Store, obstacle: Path, kind: str
) -> None:
    first = what(obstacle)
    store.delete(ID)
    OBSTACLES[kind](obstacle)
    with pytest.raises(ConversationChanged, match="nothing was overwritten"):
        store.deleted.restore(ID)
    assert store.delete(ID).stem == f"{ID}.2"
    assert what(store.trash / obstacle.name) == first
    assert len(store.deleted.names()) == 2


def test_a_step_that_meets_it_in_the_journals_place_is_refused_and_kept_afterwards(
    store: Store, kind: str
) -> None:
    with store.create(Conversation(conversation_id=ID)) as writer:
        writer.save()
        journal = writer.path.with_suffix(".journal")
        OBSTACLES[kind](journal)
        message = Message(role="user", content="said")
        with nobody_waits(journal), pytest.raises(StoreError, match=REASONS[kind]):
            writer.add_message(message)
        journal.rename(journal.with_suffix(".away"))
        writer.add_message(message)
    assert store.read(ID).messages == (message,)


def test_nothing_goes_into_a_pipe_that_somebody_reads(store: Store) -> None:
    with store.create(Conversation(conversation_id=ID)) as writer:
        writer.save()
        journal = writer.path.with_suffix(".journal")
        os.mkfifo(journal)
        reader = os.open(journal, os.O_RDONLY | os.O_NONBLOCK)
        with pytest.raises(StoreError, match="it is not a regular file"):
            writer.add_message(Message(role="user", content="said"))
        assert os.read(reader, 100) == b""
        os.close(reader)
        journal.unlink()


def test_no_new_conversation_takes_its_name(store: Store, obstacle: Path) -> None:
    before = what(obstacle)
    with pytest.raises(ConversationChanged, match="exists already"):
        store.create(Conversation(conversation_id=ID))
    assert what(obstacle) == before


@pytest.mark.parametrize("end", ["", "-journal", "-wal", "-shm"])
def test_what_is_in_the_way_of_the_index_stays_and_lists_go_without(
    store: Store, tmp_path: Path, kind: str, end: str
) -> None:
    """Beside a file that is there SQLite looks for a journal, and would wait for the end of a pipe."""
    with store.create(Conversation(conversation_id=ID, title="sound")) as writer:
        writer.save()
    assert [each.title for each in store.summaries()] == ["sound"]
    index = tmp_path / "index.sqlite3"
    path = index.with_name(f"{index.name}{end}")
    path.unlink(missing_ok=True)
    OBSTACLES[kind](path)
    before = what(path)
    with nobody_waits(path):
        assert [each.title for each in store.summaries()] == ["sound"]
        with pytest.raises(IndexUnusable), opened(index, store.conversations):
            pass
        with pytest.raises(IndexUnusable):
            remove(index)
        store.empty_trash()
    assert what(path) == before
