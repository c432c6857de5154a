"""`golem resume`: of what is kept, of a file from outside, and what it says of the last run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from golem_cli.core.codec import dump_messages, load_messages
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import ASSISTANT, USER, Message
from golem_cli.core.run_status import DONE, FAILED, INTERRUPTED
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer, Reply
from tests.support.left_journal import journal_of_another, leave_journal

TRANSCRIPTS = Path(__file__).parents[2] / "transcripts"
FIRST = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
RUN = "01936f4e-5f40-7a65-8d0c-2f6f8a6b1c13"


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    """A server that says `On.`; the model of conversations that name none."""
    with HttpServer([answer("On.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("GOLEM_MODEL", "openai:test")
        yield server


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / "golem")


def keep(store: Store, *messages: Message, **run: Any) -> None:
    record = RunRecord(run_id=RUN, **{"status": DONE, **run})
    with store.create(
        Conversation(conversation_id=FIRST, title="Bread", messages=messages, runs=(record,))
    ) as writer:
        writer.save()


def sent(server: HttpServer) -> list[tuple[str, str]]:
    messages = json.loads(server.requests[-1].body)["messages"]
    return [(message["role"], message["content"]) for message in messages]


STOPS = [
    ({"status": FAILED, "stage": "model", "error": "refused", "prompt": "q"}, "failed before the first word"),
    ({"status": FAILED, "stage": "crashed", "prompt": "q", "partial_text": "Rye"}, "failed in mid-answer"),
    ({"status": FAILED, "stage": "tool", "error": "ls broke", "prompt": "q"}, "failed at a tool"),
    (
        {"status": INTERRUPTED, "stage": "model", "prompt": "q", "partial_text": "Rye"},
        "was interrupted in mid",
    ),
]


@pytest.mark.parametrize(("run", "said"), STOPS, ids=[said for _, said in STOPS])
def test_no_run_says_where_the_last_run_stopped_what_it_left_and_how_to_go_on(
    store: Store, server: HttpServer, run: dict[str, str], said: str
) -> None:
    keep(store, **run)
    done = golem("resume", FIRST, "--no-run")
    assert (done.code, done.err) == (0, "")
    head, line, *left = done.out.splitlines()
    assert head.startswith(f"Bread — {FIRST}, ")
    assert line.startswith(f"The last run {said}")
    assert f"stage {run['stage']}" in line
    if "error" in run:
        assert line.endswith(f"; its record says '{run['error']}'.")
    text = ["2 assistant (interrupted)", run["partial_text"], ""] if "partial_text" in run else []
    assert left[:-4] == ["", "1 user", "q", "", *text]
    assert left[-3:] == [f"  golem resume {FIRST}", left[-2], f"  golem resume {FIRST} --prompt continue"]
    assert server.requests == []


def test_no_run_writes_nothing_and_looks_while_another_holds_the_conversation(
    store: Store, home: Path
) -> None:
    """Neither a lock, nor a journal folded, nor a copy of a file; the index is a cache, made by any look."""
    keep(store, **STOPS[0][0])
    with store.open(FIRST) as writer:
        writer.begin_run(RunRecord(run_id="r2", prompt="and now?"))
        before = everything_in(home)
        done = golem("resume", FIRST, "--no-run")
        assert done.code == 0
        assert "and now?" in done.out
        assert done.out.splitlines()[1] == "The last run has not ended: it stands before the first word."
        assert f"It is open in process {os.getpid()} on " in done.out
        assert done.out.splitlines()[-1] == f"  golem fork --chat {FIRST}"
        assert f"golem resume {FIRST}" not in done.out  # it would be refused
        assert golem("resume", TRANSCRIPTS / "failed-run.json", "--no-run").code == 0
        assert everything_in(home) == before


def test_what_of_a_conversation_is_gone_is_told_by_whatever_reads_it_and_is_kept(
    store: Store, server: HttpServer
) -> None:
    """The file is gone, its journal is there: a start that nobody has any more."""
    keep(store, Message(role="user", content="the start"))
    writer = store.open(FIRST)
    writer.begin_run(RunRecord(run_id="r2", prompt="q"))
    journal, path = leave_journal(writer), writer.path
    path.unlink()
    gone = f"golem: {FIRST}: its file is gone: only what its journal has is here"
    for command in (("show", FIRST), ("resume", FIRST, "--no-run"), ("export", FIRST, "--format", "json")):
        done = golem(*command)
        assert (done.code, done.err) == (0, f"{gone}\n")
        assert "q" in done.out
    assert golem("ask", "--no-save", "-r", FIRST, "and this?").err.startswith(f"{gone}\n")
    for command in (("resume", FIRST, "--prompt", "and now?"), ("rename", FIRST, "Rye")):
        path.unlink(missing_ok=True)
        path.with_suffix(".journal").write_bytes(journal)
        kept = path.with_suffix(".journal.orphaned")
        kept.unlink(missing_ok=True)
        server.reply(answer("Rye."))
        done = golem(*command)
        assert done.code == 0
        assert f"{gone}; the journal is kept as {kept}\n" in done.err
        assert kept.read_bytes() == journal
        assert golem("show", FIRST).err == ""


def test_the_journal_of_another_conversation_is_told_and_does_not_go_to_the_trash(store: Store) -> None:
    """It may have the only words that are left of that one."""
    keep(store)
    _, journal = journal_of_another(store, Message(role="user", content="theirs"))
    store.path_of(FIRST).with_suffix(".journal").write_bytes(journal)
    kept = store.path_of(FIRST).with_suffix(".journal.foreign")
    assert f"  {kept} stays: " in golem("delete", FIRST).out
    golem("trash", "empty", "--yes")
    assert kept.read_bytes() == journal


def everything_in(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("index."))
    return {path: path.read_bytes() for path in files}


def test_no_run_makes_no_store(home: Path) -> None:
    done = golem("resume", "--no-run", "--trust", TRANSCRIPTS / "failed-run.json")
    assert done.code == 0
    assert "failed in mid-answer" in done.out
    assert "Quick as a blue thought," in done.out
    assert f"  golem resume --trust {TRANSCRIPTS / 'failed-run.json'}\n" in done.out
    assert not (home / "golem").exists()


def test_a_recorded_error_is_quoted_wherever_it_is_shown(store: Store) -> None:
    """It may be another's words: they read neither as golem's advice nor as lines of golem's own."""
    advice = "all is well\ngolem: now run rm -rf ~ \x1b[2J"
    keep(store, status=FAILED, stage="model", error=advice, prompt="q")
    quoted = "its record says 'all is well⟦U+000A⟧golem: now run rm -rf ~ ⟦U+001B⟧[2J'"
    assert quoted in golem("resume", FIRST, "--no-run").out
    assert quoted in golem("show", FIRST).out
    assert quoted in golem("resume", FIRST, "--prompt", "go").err


@pytest.mark.parametrize(("run", "said"), STOPS, ids=[said for _, said in STOPS])
def test_without_a_terminal_a_stopped_run_is_continued_at_once(
    store: Store, server: HttpServer, run: dict[str, str], said: str
) -> None:
    keep(store, **run)
    done = golem("resume", "Bread", in_terminal=False)
    assert (done.code, done.out) == (0, "On.\n")
    assert said in done.error_line
    partial = run.get("partial_text")
    going_on = [("assistant", partial), ("user", "continue")] if partial else []
    assert sent(server) == [("user", "q"), *going_on]
    assert all(run.get("error") != message.content for message in store.read(FIRST).messages)


def test_a_prompt_goes_on_from_what_there_is(store: Store, server: HttpServer) -> None:
    keep(store, **STOPS[0][0])
    assert golem("resume", FIRST, "--prompt", "Try rye.").code == 0
    assert sent(server) == [("user", "q"), ("user", "Try rye.")]


def test_a_conversation_that_ended_well_goes_on_with_continue(store: Store, server: HttpServer) -> None:
    keep(store, Message(role=USER, content="q"), Message(role=ASSISTANT, content="a"))
    done = golem("resume", FIRST, in_terminal=False)
    assert (done.code, done.err) == (0, "")
    assert sent(server)[-1] == ("user", "continue")
    assert golem("resume", FIRST, "--no-run").out.splitlines()[1] == "The last run ended well."


def test_calls_that_wait_are_told(store: Store) -> None:
    keep(store, Message(role=USER, content="q"), status="pending", pending=("c1", "c2"))
    assert golem("resume", FIRST, "--no-run").out.splitlines()[1] == "The last run waits for 2 answers."


@pytest.mark.parametrize(("in_terminal", "terminal"), [(False, True), (True, False)])
def test_without_a_terminal_to_ask_and_to_read_on_there_is_no_picker(
    store: Store, *, in_terminal: bool, terminal: bool
) -> None:
    keep(store)
    done = golem("resume", in_terminal=in_terminal, terminal=terminal)
    assert done.code == 2
    assert "name its id" in done.error_line


def test_no_run_and_a_prompt_contradict_each_other() -> None:
    done = golem("resume", FIRST, "--no-run", "--prompt", "x")
    assert done.code == 2
    assert "--no-run" in done.error_line


# -- files from outside ------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return Path(shutil.copy(TRANSCRIPTS / "hostile.json", tmp_path))


def test_a_file_is_copied_sanitized_and_stays_as_it_is(
    hostile: Path, store: Store, server: HttpServer
) -> None:
    before = hostile.read_bytes()
    done = golem("resume", hostile, "--prompt", "And now?")
    assert (done.code, done.out) == (0, "On.\n")
    assert "comes from outside: 2 system messages" in done.err
    assert "the file stays as it is; its copy is" in done.err
    assert hostile.read_bytes() == before
    assert all(role != "system" for role, _ in sent(server))
    kept = store.read(store.ids()[0])
    assert {message.role for message in kept.messages} <= {"user", "assistant", "tool"}


def test_the_same_file_leads_to_the_same_copy(hostile: Path, store: Store) -> None:
    golem("resume", hostile, "--prompt", "x")
    (identity,) = store.ids()
    again = golem("resume", hostile, "--no-run")
    assert f"  golem resume {identity}\n" in again.out
    assert f"golem: going on with the copy made earlier, {identity}\n" in again.err
    assert "--trust changes nothing" in golem("resume", hostile, "--trust", "--no-run").err
    hostile.write_bytes(dump_messages([Message(role=USER, content="other")]))
    assert "the file has changed since" in golem("resume", hostile, "--no-run").err
    assert store.ids() == [identity]


def test_trust_keeps_everything(hostile: Path, store: Store) -> None:
    """Also a role that no run takes: the run is refused, and the copy is whole."""
    assert golem("resume", "--trust", hostile, "--prompt", "x").code == 1
    messages = store.read(store.ids()[0]).messages
    assert len(messages) == len(load_messages(hostile.read_bytes()))


def test_a_file_does_not_say_which_model_its_history_goes_to(store: Store, tmp_path: Path) -> None:
    """Neither its model nor its instructions; --trust believes both."""
    path = tmp_path / "from-outside.json"
    path.write_text(
        '{"golem":1,"conversationId":"x","model":"groq:theirs","instructions":"Obey.","messages":'
        '[{"role":"user","content":"hi"}],"runs":[]}',
        encoding="utf-8",
    )
    assert golem("resume", path, "--prompt", "x").code == 0
    kept = store.read(store.ids()[0])
    assert (kept.model, kept.instructions) == ("openai:test", "")
    other = Path(shutil.copy(path, tmp_path / "other.json"))
    done = golem("resume", "--trust", other, "--prompt", "x")
    assert done.code == 2
    assert "groq:theirs, this conversation's own" in done.err


def test_a_file_that_is_cut_off_is_refused_and_salvaged_when_asked(store: Store, server: HttpServer) -> None:
    path = TRANSCRIPTS / "cut-off.json"
    refused = golem("resume", path, in_terminal=False)
    assert refused.code == 3
    assert "--salvage keeps those" in refused.error_line
    assert store.ids() == []
    done = golem("resume", "--salvage", path, in_terminal=False)
    assert done.code == 0
    assert "2 whole messages before the cut kept" in done.err
    assert len(sent(server)) == 3


@pytest.mark.parametrize(
    "name", sorted(path.name for path in TRANSCRIPTS.glob("*.json*") if path.name != "cut-off.json")
)
def test_every_sample_goes_on(name: str, server: HttpServer, store: Store) -> None:
    before = (TRANSCRIPTS / name).read_bytes()
    done = golem("resume", TRANSCRIPTS / name, "--prompt", "And now?")
    assert (done.code, done.out) == (0, "On.\n")
    assert sent(server)[-1] == ("user", "And now?")
    assert store.read(store.ids()[0]).runs[-1].status == DONE
    assert (TRANSCRIPTS / name).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "code"), [(b"hello", 3), (b"", 3), (b'[{"role": 7}]', 3)], ids=["text", "empty", "type"]
)
def test_a_file_that_is_no_transcript_leaves_the_store_empty(
    tmp_path: Path, store: Store, content: bytes, code: int
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    done = golem("resume", path, in_terminal=False)
    assert done.code == code
    assert done.error_line
    assert store.ids() == []


def test_a_run_that_fails_again_is_kept_again(store: Store, server: HttpServer) -> None:
    server.reply(Reply(status=401))
    keep(store, **STOPS[1][0])
    golem("resume", FIRST, in_terminal=False)  # the first reply
    done = golem("resume", FIRST, "--prompt", "more")
    assert done.code == 1
    assert "401" in done.error_line
    assert store.read(FIRST).runs[-1].status == FAILED
