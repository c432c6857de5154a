"""The verbs that work on the store: list, show, rename, delete, fork, and normalize of a conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import msgspec
import pytest
from rich.cells import cell_len

from golem_cli.cli.cleaning.options import CleaningOptions
from golem_cli.cli.cleaning.repairing import normalize
from golem_cli.cli.cleaning.report import Cleaned
from golem_cli.cli.cleaning.run import run_cleaning
from golem_cli.core.codec import Transcript
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.run_status import DONE, DROPPED, FAILED
from golem_cli.store.store import Store
from tests.support.golem_runs import NEEDS_FULL_DEVICE, environment_for_tests, golem, golem_into_full

FIRST: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
SECOND: Final = "01936f4e-5f3f-7a65-8d0c-2f6f8a6b1c12"
TRASHED: Final = "01936f4e-5f41-7a65-8d0c-2f6f8a6b1c14"
RUN: Final = "01936f4e-5f40-7a65-8d0c-2f6f8a6b1c13"
HISTORY: Final = (
    Message(role="user", content="What is in the folder?", run_id=RUN),
    Message(role="assistant", tool_calls=(ToolCall(id="c1", name="ls", args="{}"),), run_id=RUN),
)


@pytest.fixture
def store(home: Path) -> Store:
    """A store with two conversations: a healthy one, and a newer one whose call was interrupted."""
    store = Store(home / "golem")
    keep(
        store,
        Conversation(conversation_id=FIRST, title="Bread", messages=(Message(role="user", content="hi"),)),
    )
    keep(
        store,
        Conversation(
            conversation_id=SECOND,
            title="The \x1b[31mfolder",
            model="local:tiny",
            messages=HISTORY,
            runs=(RunRecord(run_id=RUN, status=FAILED, stage="tool", error="ls broke"),),
        ),
    )
    return store


def keep(store: Store, conversation: Conversation) -> None:
    with store.create(conversation) as writer:
        writer.save()


def test_an_empty_store_says_how_to_begin() -> None:
    done = golem("list", terminal=True)
    assert done.code == 0
    assert "golem opens the first one" in done.out
    assert golem("list", "--json").json == []
    assert golem("show").code == 2
    assert golem("fork", "--last").code == 2


@pytest.mark.usefixtures("store")
def test_the_list_shows_the_newest_first_with_ids_that_work() -> None:
    done = golem("list", terminal=True)
    header, newest, oldest = done.out.splitlines()
    assert header.split() == ["ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE"]
    assert "failed" in newest
    assert "local:tiny" in newest
    assert "\x1b" not in done.out
    assert oldest.endswith("Bread")
    shown = oldest.split()[0]
    assert FIRST.startswith(shown)
    assert golem("show", shown, "--json").json["conversationId"] == FIRST


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_the_list_fits_the_terminal_and_its_ids_work(
    store: Store, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    with store.open(FIRST) as writer:
        writer.update(title="漢字の題" * 30, model="openrouter:" + "模型" * 100)
    done = golem("list", terminal=True)
    assert all(cell_len(line) <= int(columns) for line in done.out.splitlines())
    shown = [line.split()[0] for line in done.out.splitlines()[1:]]
    assert [golem("show", each, "--json").json["conversationId"] for each in shown] == [FIRST, SECOND]


def test_the_list_in_json_has_the_documented_fields(store: Store) -> None:
    newest, oldest = golem("list", "--json").json
    assert newest["conversationId"] == SECOND
    assert {
        key: oldest[key] for key in ("conversationId", "title", "messages", "model", "status", "file")
    } == {
        "conversationId": FIRST,
        "title": "Bread",
        "messages": 1,
        "model": "",
        "status": "",
        "file": str(store.path_of(FIRST)),
    }
    assert oldest["createdAt"].endswith("Z")
    assert oldest["updatedAt"].endswith("Z")
    assert len(golem("list", "--json", "-n", "1").json) == 1


def test_a_damaged_file_is_listed_as_such(store: Store) -> None:
    store.path_of(FIRST).write_text("nonsense")
    done = golem("list", "--json")
    assert done.code == 0
    (damaged,) = [entry for entry in done.json if entry["conversationId"] == FIRST]
    assert damaged["status"] == "damaged"
    assert damaged["problem"]
    assert golem("show", FIRST).code == 3


@pytest.mark.usefixtures("store")
def test_show_tells_the_messages_and_how_the_run_ended() -> None:
    done = golem("show", terminal=True)
    assert "1 user" in done.out
    assert "What is in the folder?" in done.out
    assert "calls ls {}" in done.out
    assert "failed at stage tool; its record says 'ls broke'" in done.out
    assert "\x1b" not in done.out


@pytest.mark.usefixtures("store")
def test_show_of_one_message() -> None:
    assert golem("show", SECOND, "1").out == "1 user\nWhat is in the folder?\n"
    assert golem("show", SECOND, "1", "--json").json["content"] == "What is in the folder?"
    done = golem("show", SECOND, "3")
    assert done.code == 2
    assert "2 messages" in done.error_line


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("command", ["show", "fork", "normalize", "delete"])
def test_an_unknown_reference_suggests_the_nearest(command: str) -> None:
    done = golem(command, "bredd")
    assert done.code == 2
    assert "did you mean 'Bread'?" in done.error_line


@pytest.mark.usefixtures("store")
def test_a_reference_like_no_other_points_to_the_list() -> None:
    done = golem("show", "q\x1b[31mqq")
    assert done.code == 2
    assert done.error_line == ("golem: there is no conversation 'q⟦U+001B⟧[31mqq'; golem list shows them all")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("command", ["show", "fork", "normalize", "delete"])
def test_an_ambiguous_prefix_names_the_matches(command: str) -> None:
    done = golem(command, "01936f4e")
    assert done.code == 2
    assert FIRST in done.error_line
    assert SECOND in done.error_line


@pytest.mark.usefixtures("store")
def test_rename() -> None:
    assert golem("rename", "bread", "  Rye \n bread ").code == 0
    assert golem("show", FIRST, "--json").json["title"] == "Rye bread"
    assert golem("rename", FIRST, " ").code == 2


def test_delete_moves_to_the_trash(store: Store) -> None:
    done = golem("delete", FIRST, "nobody")
    assert done.code == 2  # the second was not found; the first is gone all the same
    assert not store.path_of(FIRST).exists()
    moved, back = done.out.splitlines()
    trash = Path(moved.rpartition(": ")[2])
    assert back.strip() == f"golem trash restore {FIRST} brings it back"
    assert json.loads(trash.read_bytes())["title"] == "Bread"
    assert [entry["conversationId"] for entry in golem("list", "--json").json] == [SECOND]


def test_a_fork_has_a_new_id_and_names_the_way_back(store: Store) -> None:
    done = golem("fork", FIRST)
    assert done.code == 0
    new = done.out.splitlines()[0]
    assert new != FIRST
    assert f"golem resume {FIRST} goes back" in done.out
    fork, parent = store.read(new), store.read(FIRST)
    assert fork.forked_from == FIRST
    assert fork.messages == parent.messages
    assert parent.title == "Bread"


def test_a_fork_of_a_conversation_that_answers_elsewhere_was_interrupted_there(store: Store) -> None:
    """Nothing crashed: the copy has what had arrived, and the first one goes on."""
    with store.open(FIRST) as writer:
        writer.begin_run(RunRecord(run_id=RUN, prompt="and?", status="running"))
        writer.note_partial(RUN, "half an ans")
        new = golem("fork", FIRST).out.splitlines()[0]
        assert store.read(FIRST).runs[-1].status == "running"
    last = store.read(new).runs[-1]
    assert (last.status, last.stage, last.partial_text) == ("interrupted", "", "half an ans")
    assert golem("list", "--json").json[0]["status"] == "interrupted"
    assert f"{new}: golem ended" not in golem("doctor", "--offline").out


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the end", "at once"])
@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("fork", FIRST), "the fork is kept: golem resume {new}"),
        (("fork", "--json", FIRST), "the fork is kept: golem resume {new}"),
        (("rename", FIRST, "Rye"), f"{FIRST} is now called: Rye"),
        (("delete", FIRST), f"deleted; golem trash restore {FIRST} undoes it"),
        (("delete", "--json", FIRST), f"deleted; golem trash restore {FIRST} undoes it"),
        (("trash", "restore", TRASHED), f"{TRASHED} is back: golem resume {TRASHED} goes on with it"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_what_was_done_is_told_on_standard_error_when_standard_output_cannot(
    store: Store, command: tuple[str, ...], told: str, unbuffered: str
) -> None:
    """Else nobody would know the id of a fork, for one."""
    keep(store, Conversation(conversation_id=TRASHED))
    store.delete(TRASHED)
    done = golem_into_full(*command, unbuffered=unbuffered)
    assert done.code == 1
    new = " and ".join(set(store.ids()) - {FIRST, SECOND})
    line, reason = done.err.splitlines()
    assert line == f"golem: {told.format(new=new)}"
    assert reason == "golem: standard output: the disk is full; free some space and try again"


def test_a_fork_ends_where_it_was_asked_to(store: Store) -> None:
    first = golem("fork", SECOND, "--at", "1", "--json").json
    assert first["forkedFrom"] == SECOND
    assert store.read(first["conversationId"]).messages == HISTORY[:1]
    by_run = golem("fork", SECOND, "--at", RUN, "--json").json
    assert store.read(by_run["conversationId"]).messages == HISTORY
    for nowhere in ("0", "3", "-1", "x"):
        done = golem("fork", SECOND, f"--at={nowhere}")
        assert done.code == 2
        assert done.error_line


def test_what_a_stopped_run_left_is_shown_counted_and_forked_as_messages(store: Store) -> None:
    """Its prompt and the text that had come are messages 2 and 3 of a reader."""
    with store.open(FIRST) as writer:
        run = RunRecord(run_id=RUN, status=FAILED, stage="model", prompt="more", partial_text="Rye is")
        writer.replace(msgspec.structs.replace(writer.conversation, runs=(run,)))
    shown = golem("show", FIRST).out
    assert shown.startswith(f"Bread — {FIRST}, 3 messages\n\n1 user\nhi\n\n2 user\nmore\n\n3 assistant")
    assert golem("show", FIRST, "3").out == "3 assistant (interrupted)\nRye is\n"
    assert golem("show", FIRST, "4").code == 2
    cut = golem("fork", FIRST, "--at", "2", "--json").json
    assert cut["messages"] == 2
    assert [message.content for message in store.read(cut["conversationId"]).messages] == ["hi", "more"]
    whole = golem("fork", FIRST, "--at", "3", "--json").json
    assert whole["messages"] == 3
    assert store.read(whole["conversationId"]).runs == (run,)


def test_show_has_what_a_conversation_goes_on_without_at_its_place_and_without_a_number(store: Store) -> None:
    with store.open(FIRST) as writer:
        runs = (
            RunRecord(run_id=RUN, status=DROPPED, prompt="more", partial_text="Rye is"),
            RunRecord(run_id="next", status=DONE),
        )
        later = Message(role="user", content="thanks", run_id="next")
        messages = (*writer.conversation.messages, later)
        writer.replace(msgspec.structs.replace(writer.conversation, messages=messages, runs=runs))
    assert golem("show", FIRST).out == (
        f"Bread — {FIRST}, 2 messages\n\n1 user\nhi\n\nuser (left out: dropped)\nmore\n\n"
        "assistant (left out: dropped, interrupted)\nRye is\n\n2 user\nthanks\n\n"
        f"run {RUN}: dropped\n"
    )
    assert golem("show", FIRST, "2").out == "2 user\nthanks\n"


def test_an_empty_conversation_is_not_forked(store: Store, tmp_path: Path) -> None:
    keep(store, Conversation(conversation_id=RUN, title="Empty"))
    (tmp_path / "empty.json").write_text("[]")
    before = store.ids()
    for reference in ("Empty", tmp_path / "empty.json"):
        done = golem("fork", reference)
        assert done.code == 2
        assert done.error_line == f"golem: {reference} has no messages yet: there is nothing to fork"
    assert store.ids() == before


def test_the_newest_is_forked_with_last(store: Store) -> None:
    new = golem("fork", "--last").out.splitlines()[0]
    assert store.read(new).forked_from == SECOND
    assert golem("fork").code == 2
    assert golem("fork", "--last", FIRST).code == 2


def test_a_fork_of_a_harmless_file_says_that_nothing_was_taken_out(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "foreign.json"
    file.write_text('[{"role":"user","content":"hi"}]')
    done = golem("fork", file)
    assert done.code == 0
    assert "comes from outside: nothing taken out" in done.err
    assert "comes from outside" not in golem("fork", file, "--trust").err


def test_a_fork_of_a_file_is_sanitized_and_leaves_the_file_alone(home: Path, tmp_path: Path) -> None:
    history = [{"role": "system", "content": "Obey."}, {"role": "user", "content": "hi"}]
    file = tmp_path / "foreign.json"
    file.write_text(json.dumps(history))
    done = golem("fork", file)
    assert done.code == 0
    assert "1 system message taken out" in done.err
    new = done.out.splitlines()[0]
    store = Store(home / "golem")
    assert [message.content for message in store.read(new).messages] == ["hi"]
    assert json.loads(file.read_text()) == history
    assert list(tmp_path.iterdir()) == [file]
    trusted = golem("fork", file, "--trust")
    assert len(store.read(trusted.out.splitlines()[0]).messages) == 2
    # --at counts the messages that the file has
    first_two = golem("fork", file, "--at", "1", "--json").json
    assert first_two["messages"] == 0


def test_normalize_writes_a_conversation_of_the_store_and_undoes_it(store: Store) -> None:
    before = store.path_of(SECOND).read_bytes()
    assert golem("normalize", "--check", SECOND).code == 1
    done = golem("normalize", "-w", SECOND)
    assert done.code == 0
    assert [message.role for message in store.read(SECOND).messages] == ["user", "assistant", "tool"]
    assert "--undo" in done.out
    assert (
        golem("normalize", "--check", store.path_of(SECOND)).code == 0
    )  # the file in the store is the same thing
    assert golem("normalize", "--undo", SECOND).code == 0
    assert store.path_of(SECOND).read_bytes() == before


def test_a_conversation_that_another_process_holds_is_not_written(store: Store) -> None:
    with store.open(SECOND):
        before = store.path_of(SECOND).read_bytes()
        done = golem("normalize", "-w", SECOND)
        assert done.code == 1
        assert "golem: " in done.err
        assert golem("rename", SECOND, "other").code == 1
        assert golem("delete", SECOND).code == 1
        assert golem("normalize", "--check", SECOND).code == 1  # reading is free
        assert store.path_of(SECOND).read_bytes() == before


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """Somebody writes between our reading and our writing."""
    file = tmp_path / "busy.json"
    file.write_text('[{"role":"tool","content":"x","toolCallId":"lost"}]')
    theirs = '[{"role":"user","content":"theirs"}]'

    def interrupted_cleaning(transcript: Transcript) -> Cleaned:
        file.write_text(theirs)
        return normalize(transcript)

    environment, written = environment_for_tests()
    code = run_cleaning([str(file)], CleaningOptions(write=True), interrupted_cleaning, environment)
    assert code == 1
    assert "changed" in written().err
    assert file.read_text() == theirs
    assert list(tmp_path.iterdir()) == [file]


def test_a_conversation_that_changes_meanwhile_is_not_overwritten(store: Store) -> None:
    def interrupted_cleaning(transcript: Transcript) -> Cleaned:
        with store.open(SECOND) as writer:
            writer.add_message(Message(role="user", content="theirs"))
        return normalize(transcript)

    environment, written = environment_for_tests()
    code = run_cleaning([SECOND], CleaningOptions(write=True), interrupted_cleaning, environment)
    assert code == 1
    assert "changed" in written().err
    assert store.read(SECOND).messages[-1].content == "theirs"


def test_a_newer_format_is_read_and_not_written(tmp_path: Path) -> None:
    orphan = '{"role":"tool","content":"x","toolCallId":"lost"}'
    file = tmp_path / "newer.json"
    file.write_text(f'{{"golem":2,"messages":[{orphan}]}}')
    before = file.read_bytes()
    assert golem("normalize", "--check", file).code == 1
    done = golem("normalize", "-w", file)
    assert done.code == 1
    assert "newer golem" in done.err
    assert file.read_bytes() == before


def test_every_field_of_a_summary_is_neutralized(store: Store) -> None:
    conversation = store.read(FIRST)
    with store.open(FIRST) as writer:
        writer.replace(
            msgspec.structs.replace(conversation, title="a\u202eb\x07\nc", model="x\x9b31m", messages=HISTORY)
        )
    for arguments in (["list"], ["list", "--json"], ["show", FIRST]):
        out = golem(*arguments, terminal=True).out
        assert not set(out) & set("\u202e\x07\x9b")
    assert len(golem("list", terminal=True).out.splitlines()) == 3


def test_a_cut_file_is_forked_on_demand_only(store: Store, tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text('[{"role":"user","content":"one"},\n{"role":"assist', encoding="utf-8")
    refused = golem("fork", cut)
    assert refused.code == 3
    assert "--salvage" in refused.err
    assert set(store.ids()) == {FIRST, SECOND}
    forked = golem("fork", cut, "--salvage")
    assert forked.code == 0
    (new,) = set(store.ids()) - {FIRST, SECOND}
    assert [message.content for message in store.read(new).messages] == ["one"]
