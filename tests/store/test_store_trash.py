"""The trash: what is deleted comes back whole, overwrites nothing, and is erased only when asked."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from golem_cli.core.conversation import RunRecord
from golem_cli.core.errors import ConversationChanged, ConversationLocked, ConversationNotFound, StoreError
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from tests.support.left_journal import leave_journal

FIRST = "01890000-0000-7000-8000-000000000001"
SECOND = "01890000-0000-7000-8000-000000000002"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def put(store: Store, identifier: str, title: str) -> Path:
    store.conversations.mkdir(parents=True, exist_ok=True)
    value = {"golem": 1, "conversationId": identifier, "title": title, "messages": [], "runs": []}
    store.path_of(identifier).write_text(json.dumps(value))
    return store.path_of(identifier)


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_an_empty_trash_has_no_folder(store: Store, tmp_path: Path) -> None:
    assert (store.deleted.names(), store.deleted.summaries(), store.empty_trash()) == ([], [], 0)
    assert list(tmp_path.iterdir()) == []


def test_what_was_deleted_comes_back_as_it_was(store: Store) -> None:
    data = put(store, FIRST, "one").read_bytes()
    entry = store.delete(FIRST)
    assert store.deleted.names() == [entry.stem] == [FIRST]
    assert store.deleted.restore(FIRST) == FIRST
    assert store.path_of(FIRST).read_bytes() == data
    assert store.deleted.names() == []
    assert store.read(FIRST).title == "one"


def crashed(store: Store) -> bytes:
    """Leave a journal beside the file of the first conversation, as a killed process does."""
    put(store, FIRST, "one")
    writer = store.open(FIRST)
    writer.begin_run(RunRecord(run_id="r", prompt="hello"))
    writer.add_message(Message(role="user", content="hello", run_id="r"))
    return leave_journal(writer)


def test_the_journal_travels_with_its_file(store: Store) -> None:
    journal = crashed(store)
    store.delete(FIRST)
    assert names_in(store.conversations) == []
    assert [each.message_count for each in store.deleted.summaries()] == [1]
    store.deleted.restore(FIRST)
    assert store.path_of(FIRST).with_suffix(".journal").read_bytes() == journal
    assert [message.content for message in store.read(FIRST).messages] == ["hello"]
    assert names_in(store.trash) == []


def test_of_a_journal_alone_the_place_of_the_journal_is_told(store: Store) -> None:
    journal = crashed(store)
    store.path_of(FIRST).unlink()
    assert store.delete(FIRST).read_bytes() == journal


def test_two_of_one_id_are_two_entries_and_keep_their_journals_apart(store: Store) -> None:
    journal = crashed(store)
    store.delete(FIRST)
    put(store, FIRST, "again")
    second = store.delete(FIRST)
    assert second.stem == f"{FIRST}.2"
    by_name = {each.conversation_id: each for each in store.deleted.summaries()}
    assert {name: each.title for name, each in by_name.items()} == {FIRST: "one", f"{FIRST}.2": "again"}
    assert [each.forked_from for each in by_name.values()] == ["", ""]
    store.deleted.restore(f"{FIRST}.2")
    assert store.read(FIRST).title == "again"
    assert names_in(store.conversations) == [f"{FIRST}.json"]
    with pytest.raises(ConversationChanged, match="nothing was overwritten"):
        store.deleted.restore(FIRST)
    assert (store.trash / f"{FIRST}.journal").read_bytes() == journal


@pytest.mark.parametrize("suffix", [".json", ".journal"])
def test_restoring_overwrites_neither_a_file_nor_a_journal(store: Store, suffix: str) -> None:
    put(store, FIRST, "one")
    store.delete(FIRST)
    theirs = store.conversations / f"{FIRST}{suffix}"
    theirs.write_bytes(b"theirs")
    with pytest.raises(ConversationChanged, match=f"golem delete {FIRST}"):
        store.deleted.restore(FIRST)
    assert theirs.read_bytes() == b"theirs"
    assert names_in(store.conversations) == [theirs.name]
    assert store.deleted.names() == [FIRST]


def test_a_restore_that_was_cut_off_is_completed_by_another(store: Store) -> None:
    """After the first of two files has its new name, and its old one still."""
    crashed(store)
    store.delete(FIRST)
    os.link(store.trash / f"{FIRST}.json", store.path_of(FIRST))
    store.deleted.restore(FIRST)
    assert len(store.read(FIRST).messages) == 1
    assert names_in(store.trash) == []


def test_a_conversation_that_is_being_written_is_not_restored_under_its_writer(store: Store) -> None:
    put(store, FIRST, "one")
    store.delete(FIRST)
    put(store, FIRST, "two")
    with store.open(FIRST), pytest.raises(ConversationLocked):
        store.deleted.restore(FIRST)


def test_damage_is_no_hindrance(store: Store) -> None:
    put(store, FIRST, "one").write_bytes(b"damaged")
    store.delete(FIRST)
    assert [each.status for each in store.deleted.summaries()] == ["damaged"]
    store.deleted.restore(FIRST)
    assert store.path_of(FIRST).read_bytes() == b"damaged"


def test_a_link_is_restored_and_erased_as_a_link(store: Store, tmp_path: Path) -> None:
    """Where it leads is neither read nor touched."""
    outside = tmp_path / "outside.json"
    outside.write_text("private")
    store.trash.mkdir()
    (store.trash / f"{FIRST}.json").symlink_to(outside)
    store.deleted.restore(FIRST)
    assert store.path_of(FIRST).readlink() == outside
    with pytest.raises(StoreError, match="symbolic link"):
        store.read(FIRST)
    store.delete(FIRST)
    assert store.empty_trash() == 1
    assert outside.read_text() == "private"


def test_emptying_erases_what_it_can_and_tells_of_a_folder_with_something_in_it(store: Store) -> None:
    put(store, FIRST, "one")
    put(store, SECOND, "two").unlink()
    store.path_of(SECOND).mkdir()
    (store.path_of(SECOND) / "mine").write_text("mine")
    store.delete(SECOND)
    store.delete(FIRST)
    with pytest.raises(StoreError, match="golem does not erase"):
        store.empty_trash()
    assert names_in(store.trash) == [f"{SECOND}.json"]
    (store.trash / f"{SECOND}.json" / "mine").unlink()
    assert store.empty_trash() == 1
    assert names_in(store.trash) == []


def test_a_dangling_link_in_the_trash_is_not_replaced(store: Store, tmp_path: Path) -> None:
    store.trash.mkdir()
    (store.trash / f"{FIRST}.json").symlink_to(tmp_path / "nowhere")
    put(store, FIRST, "one")
    assert store.delete(FIRST).stem == f"{FIRST}.2"
    assert (store.trash / f"{FIRST}.json").is_symlink()


@pytest.mark.parametrize("name", ["", "..", f"../conversations/{SECOND}", "nobody", f"{FIRST}.json"])
def test_only_an_entry_is_restored(store: Store, name: str) -> None:
    put(store, FIRST, "one")
    put(store, SECOND, "two")
    store.delete(FIRST)
    with pytest.raises(ConversationNotFound):
        store.deleted.restore(name)
    assert store.ids() == [SECOND]


def test_emptying_erases_entries_and_nothing_else(store: Store) -> None:
    put(store, FIRST, "one")
    put(store, SECOND, "two")
    store.delete(FIRST)
    (store.trash / "notes.json").write_text("mine")
    (store.trash / f"{FIRST}.json.orig").write_text("mine")
    assert store.empty_trash() == 1
    assert names_in(store.trash) == [f"{FIRST}.json.orig", "notes.json"]
    assert store.ids() == [SECOND]
