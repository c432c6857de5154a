"""A conversation of the store whose file was cut off or emptied: what says so, and what brings it back."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Final

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.core.run_status import DROPPED, RUNNING
from golem_cli.store.store import Store
from tests.support.golem_runs import GOLEM, golem
from tests.support.left_journal import journal_of_another, leave_journal
from tests.support.rights import own_mounts

FIRST: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
WHOLE: Final = Message(role="user", content="one")
CUT: Final = b'{"golem":1,"title":"Bread","messages":[\n{"role":"user","content":"one"},\n{"role":"assist'


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / "golem")


@pytest.fixture
def file(store: Store) -> Path:
    """The file of a conversation, cut off in its second message."""
    with store.create(Conversation(conversation_id=FIRST, title="Bread", messages=(WHOLE,))) as writer:
        writer.save()
    path = store.path_of(FIRST)
    path.write_bytes(CUT)
    return path


def test_every_refusal_names_the_command_that_salvages(file: Path) -> None:
    for command in ("show", "fork", "normalize", "sanitize"):
        done = golem(command, FIRST)
        assert done.code == 3
        assert f"golem normalize --salvage -w {FIRST} keeps those" in done.error_line
    assert file.read_bytes() == CUT


@pytest.mark.parametrize(
    "command", [("show",), ("export", "--format", "html"), ("ask", "hi", "-r"), ("chat", "-r")]
)
def test_a_command_without_the_flag_names_one_that_has_it(
    command: tuple[str, ...], home: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut off.json"
    cut.write_bytes(CUT)
    assert golem(*command, cut).error_line.endswith(f"; golem normalize --salvage '{cut}' keeps those")


def test_a_cut_conversation_is_salvaged_in_place_and_the_cut_file_is_kept(store: Store, file: Path) -> None:
    done = golem("normalize", "--salvage", "-w", FIRST)
    assert done.code == 0
    assert "1 whole message before the cut kept" in done.out
    kept = store.read(FIRST)
    assert (kept.title, kept.messages) == ("Bread", (WHOLE,))
    assert file.with_name(f"{file.name}.orig").read_bytes() == CUT
    assert not file.with_name(f"{file.name}.orig.2").exists()
    assert golem("normalize", "--undo", FIRST).code == 0
    assert file.read_bytes() == CUT


def test_without_w_a_cut_conversation_is_only_looked_at(file: Path) -> None:
    done = golem("normalize", "--salvage", "--check", FIRST)
    assert (done.code, done.err) == (1, "")
    assert file.read_bytes() == CUT
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_what_is_salvaged_is_repaired_at_once_and_undone_at_once(store: Store, file: Path) -> None:
    orphan = b'{"role":"tool","content":"x","toolCallId":"lost"}'
    cut = CUT.replace(b'{"role":"assist', orphan + b',\n{"role":"assist')
    file.write_bytes(cut)
    assert golem("normalize", "--salvage", "-w", FIRST).code == 0
    assert store.read(FIRST).messages == (WHOLE,)
    golem("normalize", "--undo", FIRST)
    assert file.read_bytes() == cut


def test_a_cut_conversation_is_forked_and_looked_at_on_demand(store: Store, file: Path) -> None:
    forked = golem("fork", "--json", "--salvage", FIRST)
    assert "1 whole message before the cut kept" in forked.err
    assert store.read(forked.json["conversationId"]).messages == (WHOLE,)
    looked = golem("resume", "--no-run", "--salvage", FIRST)
    assert f"  golem resume --salvage {FIRST}\n" in looked.out
    assert file.read_bytes() == CUT


def test_resume_salvages_and_says_where_the_cut_file_is(store: Store, file: Path) -> None:
    done = golem("resume", "--salvage", "--prompt", "go on", "--model", "openai:x", FIRST)
    assert "OpenAI needs a key" in done.err  # the conversation is open by then
    original = file.with_name(f"{file.name}.orig")
    assert f"the original is {original}" in done.err
    assert original.read_bytes() == CUT
    assert store.read(FIRST).messages == (WHOLE,)


def test_what_the_journal_holds_is_salvaged_too(store: Store, file: Path) -> None:
    file.unlink()
    writer = store.create(Conversation(conversation_id=FIRST, messages=(WHOLE,)))
    writer.save()
    writer.add_message(Message(role="assistant", content="two"))
    journal = leave_journal(writer)
    file.write_bytes(CUT)
    assert golem("normalize", "--salvage", "-w", FIRST).code == 0
    assert [message.content for message in store.read(FIRST).messages] == ["one", "two"]
    assert file.with_name(f"{file.name}.orig").read_bytes() == CUT
    kept_journal = file.with_suffix(".journal.orig")
    assert kept_journal.read_bytes() == journal
    undone = golem("normalize", "--undo", FIRST)
    assert undone.out == f"{FIRST}: the original is back; what it took the place of is {file}.undone\n"
    assert (file.read_bytes(), file.with_suffix(".journal").read_bytes()) == (CUT, journal)
    assert "there is nothing to undo" in golem("normalize", "--undo", FIRST).error_line
    assert not kept_journal.exists()
    assert golem("normalize", "--salvage", "-w", FIRST).code == 0
    assert [message.content for message in store.read(FIRST).messages] == ["one", "two"]


@pytest.mark.parametrize(
    "nothing", [b"", bytes(300), b" \n", b'{"gol'], ids=["no byte", "zero bytes", "space", "a few bytes"]
)
def test_a_file_that_says_nothing_names_a_way_out(store: Store, file: Path, nothing: bytes) -> None:
    file.write_bytes(nothing)
    way_out = f"golem delete {FIRST} moves it to the trash"
    for command in ("show", "resume", "fork"):
        done = golem(command, FIRST)
        assert done.code == 3
        assert done.error_line == f"golem: {file}: its text is gone; {way_out}"
    assert golem("delete", FIRST).code == 0
    assert store.ids() == []


def test_of_an_empty_file_the_journal_is_salvaged(store: Store, file: Path) -> None:
    file.unlink()
    writer = store.create(Conversation(conversation_id=FIRST, title="Bread", messages=(WHOLE,)))
    writer.save()
    writer.add_message(Message(role="user", content="two"))
    journal = leave_journal(writer)
    file.write_bytes(b"")
    command = f"golem normalize --salvage -w {FIRST}"
    assert golem("show", FIRST).error_line.endswith(f"{command} keeps what its journal has")
    assert golem(*command.split()[1:]).code == 0
    kept = store.read(FIRST)
    assert (kept.title, [message.content for message in kept.messages]) == ("Bread", ["two"])
    golem("normalize", "--undo", FIRST)
    assert (file.read_bytes(), file.with_suffix(".journal").read_bytes()) == (b"", journal)


def test_undo_says_how_many_prompts_go_with_what_it_takes_away(store: Store, file: Path) -> None:
    file.unlink()
    orphan = Message(role="tool", content="x", tool_call_id="lost")
    with store.create(Conversation(conversation_id=FIRST, messages=(WHOLE, orphan))) as writer:
        writer.save()
    assert golem("normalize", "-w", FIRST).code == 0
    with store.open(FIRST) as writer:
        writer.add_message(Message(role="user", content="later"))
        writer.add_message(Message(role="assistant", content="an answer"))
        for run_id, status in (("r1", DROPPED), ("r2", RUNNING)):
            writer.begin_run(RunRecord(run_id=run_id, status=status, prompt="and this?"))
    done = golem("normalize", "--undo", FIRST)
    assert done.out.endswith(f"is {file}.undone; that alone has 3 later prompts and what was answered\n")
    assert store.read(FIRST).messages == (WHOLE, orphan)


def test_undo_does_not_call_later_what_the_journal_brings_back(store: Store, file: Path) -> None:
    file.unlink()
    writer = store.create(Conversation(conversation_id=FIRST, messages=(WHOLE, WHOLE)))
    writer.save()
    writer.add_message(Message(role="user", content="two"))
    leave_journal(writer)
    file.write_bytes(file.read_bytes()[:-40])
    assert golem("normalize", "--salvage", "-w", FIRST).code == 0
    assert golem("normalize", "--undo", FIRST).out.endswith(f"is {file}.undone\n")


def advice() -> dict[str, str]:
    """The texts of the doctor's problems, and what helps against each."""
    found = golem("doctor", "--offline", "--json").json["checks"]
    return {each["text"]: each.get("advice", "") for each in found if each["level"] == "problem"}


def test_the_doctors_advice_for_a_cut_file_works(store: Store, file: Path) -> None:
    (command,) = (does for text, does in advice().items() if str(file) in text)
    assert command == f"golem normalize --salvage -w {FIRST}"
    assert golem(*command.split()[1:]).code == 0
    assert store.read(FIRST).messages == (WHOLE,)


def test_the_doctors_advice_for_an_empty_file_with_a_journal_saves_what_that_has(
    store: Store, file: Path
) -> None:
    file.unlink()
    writer = store.create(Conversation(conversation_id=FIRST, messages=(WHOLE,)))
    writer.save()
    writer.add_message(Message(role="user", content="two"))
    leave_journal(writer)
    file.write_bytes(b"")
    (command,) = (does for text, does in advice().items() if str(file) in text)
    assert golem(*command.split()[1:]).code == 0
    assert [message.content for message in store.read(FIRST).messages] == ["two"]


def test_the_doctor_tells_the_journal_of_another_conversation_and_what_was_kept(
    store: Store, file: Path
) -> None:
    another, journal = journal_of_another(store, WHOLE)
    file.write_bytes(b'{"golem":1,"title":"Bread","messages":[]}')
    foreign = file.with_suffix(".journal")
    foreign.write_bytes(journal)
    foreign.chmod(0o600)
    ((text, command),) = ((text, does) for text, does in advice().items() if str(foreign) in text)
    assert text == f"{foreign} is not read: it is the journal of another conversation, {another}"
    subprocess.run(shlex.split(command), check=True)
    assert not any(str(foreign) in text for text in advice())
    assert f"1 file in {file.parent}, kept by " in golem("doctor", "--offline").out  # no leftover
    foreign.write_bytes(journal)
    assert golem("rename", FIRST, "Rye").code == 0  # opening sets it aside
    assert f"2 files in {file.parent}, kept by " in golem("doctor", "--offline").out


def test_the_doctors_advice_for_an_empty_file_works(store: Store, file: Path) -> None:
    file.write_bytes(b"")
    ((text, command),) = ((text, does) for text, does in advice().items() if str(file) in text)
    assert "is empty" in text
    assert command == f"golem delete {FIRST}"
    assert golem(*command.split()[1:]).code == 0
    assert store.ids() == []
    assert not any(str(file) in text for text in advice())


def test_the_doctor_does_not_advise_chmod_on_a_read_only_file_system(tmp_path: Path) -> None:
    script = f"mount -t tmpfs -o ro golem '{tmp_path}' && '{GOLEM}' doctor --offline"
    done = subprocess.run(
        [*own_mounts(), "sh", "-c", script],
        env={**os.environ, "GOLEM_HOME": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    said = done.stdout.decode()
    assert done.returncode == 1, done.stderr
    assert f"golem may not write in {tmp_path}: its file system is read-only" in said
    assert "chmod" not in said
