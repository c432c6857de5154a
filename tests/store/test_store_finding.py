"""Listing, finding, renaming and deleting conversations."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import AmbiguousReference, ConversationNotFound, StoreError
from golem_cli.core.message import Message
from golem_cli.store.imports import is_copy_of, note_import
from golem_cli.store.inspection import kept_aside, strangers
from golem_cli.store.store import Store
from golem_cli.store.titles import title_from

FIRST = "01890000-0000-7000-8000-000000000001"
SECOND = "01890000-0000-7000-8000-000000000002"
THIRD = "0189ffff-0000-7000-8000-000000000003"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def put(store: Store, identifier: str, **fields: object) -> Path:
    value = {"golem": 1, "conversationId": identifier, "messages": [], "runs": []} | fields
    store.conversations.mkdir(parents=True, exist_ok=True)
    store.path_of(identifier).write_text(json.dumps(value))
    return store.path_of(identifier)


def test_an_empty_store_lists_nothing_and_makes_no_folder(store: Store, tmp_path: Path) -> None:
    assert (store.ids(), store.summaries(), store.newest()) == ([], [], None)
    assert list(tmp_path.iterdir()) == []


def test_summaries_are_newest_first_and_count_messages(store: Store) -> None:
    put(store, FIRST, title="one", updatedAt="2026-01-02T00:00:00.000Z", createdAt="c", model="m")
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    path = put(
        store,
        SECOND,
        title="two",
        updatedAt="2026-01-03T00:00:00.000Z",
        messages=messages,
        runs=[{"runId": "a", "status": "done"}, {"runId": "b", "status": "failed"}],
        forkedFrom=FIRST,
    )
    second, first = store.summaries()
    assert (second.conversation_id, second.title, second.message_count) == (SECOND, "two", 2)
    assert (second.status, second.path, second.forked_from) == ("failed", path, FIRST)
    assert (first.conversation_id, first.model, first.created_at, first.status) == (FIRST, "m", "c", "")
    assert store.newest() == SECOND


def test_a_summary_counts_what_is_in_the_journal(store: Store) -> None:
    with store.create() as writer:
        writer.begin_run(RunRecord(run_id="r", prompt="Hello"))
        writer.add_message(Message(role="user", content="Hello", run_id="r"))
        summary = store.summaries()[0]
        assert (summary.title, summary.message_count, summary.status) == ("Hello", 1, "running")


def test_a_damaged_file_is_listed_and_never_fatal(store: Store) -> None:
    put(store, FIRST, title="fine", updatedAt="2026-01-02T00:00:00.000Z")
    put(store, SECOND).write_bytes(b"\xff\x00 no transcript")
    put(store, THIRD).unlink()
    store.path_of(THIRD).mkdir()
    found = {each.conversation_id: each for each in store.summaries()}
    assert found[FIRST].status == ""
    assert found[SECOND].status == found[THIRD].status == "damaged"
    assert SECOND in found[SECOND].problem
    assert store.newest() == FIRST


def test_what_the_fast_library_cannot_read_is_still_listed(store: Store) -> None:
    """A byte order mark and a lone surrogate are the codec's daily bread."""
    path = put(store, FIRST, title="\ud800 odd")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    (summary,) = store.summaries()
    assert (summary.title, summary.status) == ("\ud800 odd", "")


def test_other_files_in_the_folder_are_no_conversations(store: Store) -> None:
    put(store, FIRST)
    for name in ("notes.json", f"{FIRST}.json.orig", f"{FIRST.upper()}x.json", ".hidden"):
        (store.conversations / name).write_text("{}")
    assert store.ids() == [FIRST]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (FIRST, FIRST),
        (FIRST.upper(), FIRST),
        ("0189f", THIRD),
        (f" {FIRST[:-1]}2 ", SECOND),
        ("tea and biscuits", SECOND),
        ("STRASSE", THIRD),
    ],
)
def test_a_reference_is_an_id_a_beginning_or_a_title(store: Store, reference: str, expected: str) -> None:
    put(store, FIRST, title="twice")
    put(store, SECOND, title="Tea and biscuits")
    put(store, THIRD, title="Straße")
    assert store.resolve(reference) == expected


def test_an_ambiguous_reference_names_what_matches(store: Store) -> None:
    put(store, FIRST, title="same")
    put(store, SECOND, title="Same")
    put(store, THIRD, title="other")
    for reference, matches in {"01890000": {FIRST, SECOND}, "same": {FIRST, SECOND}}.items():
        with pytest.raises(AmbiguousReference) as caught:
            store.resolve(reference)
        assert set(caught.value.matches) == matches
        assert FIRST in str(caught.value)


def test_an_unknown_reference_suggests_the_nearest(store: Store) -> None:
    put(store, FIRST, title="Tea and biscuits")
    with pytest.raises(ConversationNotFound, match="did you mean 'Tea and biscuits'") as caught:
        store.resolve("tea and biscuit")
    assert caught.value.nearest == ("Tea and biscuits",)
    with pytest.raises(ConversationNotFound) as caught:
        store.resolve(FIRST[:-1] + "9")
    assert caught.value.nearest == (FIRST,)
    for nothing in ("", "  ", "zzz", "../x"):
        with pytest.raises(ConversationNotFound):
            store.resolve(nothing)


def test_rename_keeps_everything_else(store: Store) -> None:
    put(store, FIRST, title="old", messages=[{"role": "user", "content": "a"}], later=[1, 2.50])
    store.rename(FIRST, "  new\n name ")
    found = store.read(FIRST)
    assert (found.title, len(found.messages)) == ("new name", 1)
    assert found.extra == {"later": "[1,2.5]"}
    with pytest.raises(StoreError, match="at least one"):
        store.rename(FIRST, " \n")


def test_delete_moves_to_the_trash_and_never_replaces_there(store: Store) -> None:
    data = put(store, FIRST, title="one").read_bytes()
    there = store.delete(FIRST)
    assert there.read_bytes() == data
    assert there.parent == store.trash
    assert store.ids() == []
    put(store, FIRST, title="two")
    again = store.delete(FIRST)
    assert again != there
    assert (there.read_bytes() == data, json.loads(again.read_bytes())["title"]) == (True, "two")
    with pytest.raises(ConversationNotFound):
        store.delete(FIRST)


def test_delete_takes_a_damaged_file_and_a_journal_along(store: Store) -> None:
    path = put(store, FIRST)
    path.write_bytes(b"damaged")
    path.with_suffix(".journal").write_bytes(b"journal")
    there = store.delete(FIRST)
    assert there.with_suffix(".journal").read_bytes() == b"journal"
    assert list(store.conversations.iterdir()) == []


def test_the_copy_of_an_outside_file_is_found_again(store: Store, tmp_path: Path) -> None:
    """By the file's real path, over links; whether the file is still the same is told apart."""
    outside, link = tmp_path / "out.json", tmp_path / "link.json"
    outside.write_bytes(b"[]")
    link.symlink_to(outside)
    assert store.copy_of(outside) is None
    with store.create(note_import(Conversation(), link, b"[]")) as writer:
        writer.save()
    assert store.copy_of(outside) == store.copy_of(link) == writer.path.stem
    kept = store.read(writer.path.stem)
    assert is_copy_of(kept, outside, b"[]")
    assert not is_copy_of(kept, outside, b"[ ]")
    assert store.copy_of(tmp_path / "other.json") is None


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("one\r\n\u2028two", "one two"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 59 + "…"),
        ("a" * 30 + " " + "b" * 40, "a" * 30 + "…"),
        ("a " + "b" * 70, "a " + "b" * 57 + "…"),
        ("漢" * 30, "漢" * 30),
        ("漢" * 31, "漢" * 29 + "…"),
        ("y" * 5_000_000, "y" * 59 + "…"),
    ],
)
def test_a_title_is_one_line_of_at_most_sixty_cells(prompt: str, title: str) -> None:
    """Wide characters count for two; a cut falls between words unless that would cost half of it."""
    assert title_from(prompt) == title


def test_a_folder_that_cannot_be_listed_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "conversations").write_text("a file in the way")
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=f"cannot list {tmp_path / 'conversations'}: a file stands"):
        store.summaries()


def test_names_of_the_store_are_never_those_of_another_folder(store: Store) -> None:
    assert os.path.commonpath([store.path_of(FIRST), store.conversations]) == str(store.conversations)


def test_what_lies_beside_conversations_is_one_a_kept_file_or_a_stranger(store: Store) -> None:
    conversation = put(store, FIRST, title="one")
    kept = [
        conversation.with_name(f"{FIRST}{end}")
        for end in (".journal.away", ".journal.foreign", ".json.orig", ".json.undone.2")
    ]
    odd = [conversation.with_name(name) for name in ("a.json", f"{FIRST}.json.bak", f"{FIRST}.jsonfoo")]
    for path in (*kept, *odd):
        path.write_bytes(b"x")
    assert (kept_aside(conversation.parent), list(strangers(conversation.parent))) == (kept, sorted(odd))
    assert kept_aside(conversation.parent, of=SECOND) == []


@pytest.mark.parametrize(
    "stem", ["x" * 36, f"A{FIRST[1:]}", f"{FIRST[:-1]}\n", f"{FIRST[:17]}\n{FIRST[:18]}", "-" * 36]
)
def test_a_name_as_long_as_an_id_is_none(store: Store, stem: str) -> None:
    put(store, SECOND, title="one")
    store.path_of(SECOND).with_name(f"{stem}.json").write_text("{}")
    assert [each.conversation_id for each in store.summaries()] == store.ids() == [SECOND]
