"""`golem trash`: list, restore and empty, on a terminal and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from tests.support.golem_runs import golem

FIRST = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
SECOND = "01936f4e-5f3f-7a65-8d0c-2f6f8a6b1c12"
THIRD = "01936f4e-5f40-7a65-8d0c-2f6f8a6b1c13"


@pytest.fixture
def store(home: Path) -> Store:
    """Two conversations, both deleted."""
    store = Store(home / "golem")
    for identifier, title in ((FIRST, "Bread"), (SECOND, "The \x1b[31mboat")):
        with store.create(Conversation(conversation_id=identifier, title=title)) as writer:
            writer.save()
    assert golem("delete", FIRST, SECOND).code == 0
    return store


def test_an_empty_trash_says_so() -> None:
    for arguments in (["trash"], ["trash", "list"], ["trash", "empty"]):
        done = golem(*arguments)
        assert (done.code, done.out) == (0, "The trash is empty.\n")
    assert golem("trash", "--json").json == []


@pytest.mark.usefixtures("store")
def test_the_trash_is_listed_like_the_store() -> None:
    header, *lines = golem("trash", terminal=True).out.splitlines()
    assert header.split() == ["ID", "AGE", "MESSAGES", "STATUS", "TITLE"] or "MODEL" in header
    assert {line.split()[0] for line in lines} == {FIRST[:13], SECOND[:13]}
    assert "\x1b" not in "".join(lines)
    assert golem("list", "--json").json == []


def test_for_programs_an_entry_names_its_conversation_and_itself(store: Store) -> None:
    entries = {entry["conversationId"]: entry for entry in golem("trash", "list", "--json").json}
    assert set(entries) == {FIRST, SECOND}
    assert entries[FIRST]["title"] == "Bread"
    assert entries[FIRST]["entry"] == FIRST
    assert entries[FIRST]["file"] == str(store.trash / f"{FIRST}.json")


@pytest.mark.parametrize("reference", [FIRST, FIRST[:13], "bread"])
def test_an_entry_is_restored_by_id_beginning_or_title(store: Store, reference: str) -> None:
    done = golem("trash", "restore", reference)
    assert (done.code, done.out) == (0, f"{FIRST} is back: golem resume {FIRST} goes on with it\n")
    assert store.ids() == [FIRST]
    assert store.deleted.names() == [SECOND]


def test_the_command_that_delete_prints_brings_it_back(store: Store) -> None:
    """Also for the second of one id."""
    with store.create(Conversation(conversation_id=FIRST, title="Rye")) as writer:
        writer.save()
    command = golem("delete", FIRST).out.splitlines()[1].split()
    assert command[:4] == ["golem", "trash", "restore", f"{FIRST}.2"]
    assert golem(*command[1:4]).code == 0
    assert store.read(FIRST).title == "Rye"
    with store.create(Conversation(title="other")) as writer:
        writer.save()
    (entry,) = golem("delete", "other", "--json").json
    assert entry["entry"] == entry["conversationId"] == writer.path.stem


def test_delete_says_what_stays_that_was_kept_of_a_conversation(store: Store) -> None:
    """Emptying the trash does not erase that."""
    lost = Message(role="tool", content="x", tool_call_id="lost")
    with store.create(Conversation(messages=(lost,))) as writer:
        writer.save()
    assert golem("normalize", "-w", writer.path.stem).code == 0
    kept = writer.path.with_suffix(".json.orig")
    stays = f"  {kept} stays: it was kept by -w, --undo, --salvage or a recovery"
    assert golem("delete", writer.path.stem).out.splitlines()[2:] == [stays]
    golem("trash", "restore", writer.path.stem)
    (entry,) = golem("delete", "--json", writer.path.stem).json
    assert entry["kept"] == [str(kept)]
    golem("trash", "empty", "--yes")
    assert kept.exists()


@pytest.mark.parametrize("terminal", [False, True])
def test_every_copy_of_one_id_is_restored_by_what_the_list_shows(store: Store, terminal: bool) -> None:
    titles = {FIRST: "Bread", f"{FIRST}.2": "copy 2", f"{FIRST}.3": "copy 3"}
    for title in list(titles.values())[1:]:
        with store.create(Conversation(conversation_id=FIRST, title=title)) as writer:
            writer.save()
        golem("delete", FIRST)
    _, *lines = golem("trash", "list", terminal=terminal).out.splitlines()
    shown = {line.split()[0] for line in lines}
    assert shown == {*titles, SECOND}
    for entry, title in titles.items():
        assert golem("trash", "restore", entry).code == 0
        assert store.read(FIRST).title == title
        store.path_of(FIRST).unlink()


@pytest.mark.usefixtures("store")
def test_what_cannot_be_restored_is_one_line_and_the_rest_comes_back(store: Store) -> None:
    with store.create(Conversation(conversation_id=SECOND)) as writer:
        writer.save()
    done = golem("trash", "restore", SECOND, "nobody", FIRST)
    assert done.code == 2
    taken, unknown = done.err.splitlines()
    assert f"golem: conversation {SECOND} exists already, and nothing was overwritten" in taken
    assert unknown == "golem: there is no 'nobody' in the trash; see golem trash list"
    assert store.read(FIRST).title == "Bread"
    assert golem("trash", "restore", "01936f4e-5f3e").code == 2
    assert golem("trash", "restore", SECOND).code == 1


@pytest.mark.usefixtures("store")
def test_a_near_title_is_suggested_and_an_ambiguous_beginning_is_not_guessed() -> None:
    assert "did you mean 'Bread'?" in golem("trash", "restore", "bredd").error_line
    done = golem("trash", "restore", "01936f4e")
    assert done.code == 2
    assert FIRST in done.error_line
    assert SECOND in done.error_line


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("arguments", [["restore"], ["empty", FIRST], ["list", FIRST], ["burn"]])
def test_wrong_usage_is_one_line(arguments: list[str]) -> None:
    done = golem("trash", *arguments)
    assert done.code == 2
    assert done.error_line


@pytest.mark.parametrize(("typed", "left"), [("y\n", 0), ("yes\n", 0), ("n\n", 2), ("\n", 2), ("", 2)])
def test_emptying_asks_on_a_terminal(store: Store, typed: str, left: int) -> None:
    done = golem("trash", "empty", stdin=typed.encode(), terminal=True)
    assert done.code == 0
    assert done.out.startswith("Erase 2 conversations for good? [y/N] ")
    assert len(store.deleted.names()) == left
    assert ("Erased 2 conversations." in done.out) == (left == 0)


def test_emptying_without_a_terminal_needs_a_yes(store: Store) -> None:
    done = golem("trash", "empty", in_terminal=False)
    assert done.code == 2
    assert "--yes" in done.error_line
    assert len(store.deleted.names()) == 2
    assert golem("trash", "empty", "--yes", in_terminal=False).code == 0
    assert store.deleted.names() == []
    assert json.loads(golem("trash", "--json").raw) == []


def test_a_run_that_was_under_way_has_failed_in_the_trash(store: Store) -> None:
    """Nobody works on what was deleted."""
    run = RunRecord(run_id="r", status="running", prompt="hi")
    with store.create(Conversation(conversation_id=THIRD, runs=(run,))) as writer:
        writer.save()
    golem("delete", THIRD)
    (found,) = (each for each in golem("trash", "--json").json if each["conversationId"] == THIRD)
    assert found["status"] == "failed"


def test_what_comes_back_damaged_is_said_to_be(store: Store) -> None:
    (store.trash / f"{FIRST}.json").write_bytes(b"[")
    done = golem("trash", "restore", FIRST)
    assert done.code == 0
    assert done.out == f"{FIRST} is back, and cannot be read, as before: golem doctor says what helps\n"
