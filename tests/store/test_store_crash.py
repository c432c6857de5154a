"""Processes that die: nothing accepted is lost, nothing is there twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.store.atomic import revision_of
from golem_cli.store.journal import decode
from golem_cli.store.store import Store
from tests.support.left_journal import leave_journal

if sys.platform == "win32":
    pytest.skip("SIGKILL is POSIX's", allow_module_level=True)

CHAT = """
import itertools, sys
from pathlib import Path
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.store.store import Store
store = Store(Path(sys.argv[1]))
writer = store.create(Conversation())
identifier = writer.path.stem
def say(*words):
    print(identifier, *words, flush=True)
for turn in itertools.count():
    run = f"run-{turn}"
    writer.begin_run(RunRecord(run_id=run, prompt=f"prompt {turn}"))
    say("begun", turn)
    for size in range(3):
        writer.note_partial(run, "word " * (size + 1))
    writer.add_message(Message(role="user", content=f"prompt {turn}", run_id=run))
    say("message", f"prompt {turn}")
    writer.add_message(Message(role="assistant", content=f"answer {turn}", run_id=run))
    say("message", f"answer {turn}")
    writer.end_run(RunRecord(run_id=run, status="done"))
    say("ended", turn)
    if turn % 3 == 2:
        writer.close()
        writer = store.open(identifier)
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_chat_has_everything_it_was_told_was_saved(tmp_path: Path, seed: int) -> None:
    """SIGKILL right after some line: prompts, messages and ends said before it are there, once, in order."""
    chosen = random.Random(seed)  # noqa: S311 (a seeded choice, no secret)
    process = subprocess.Popen([sys.executable, "-c", CHAT, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(chosen.randrange(1, 50))]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.stdout.close()
    process.wait()

    identifier = said[0].split()[0]
    told = [line.split(maxsplit=2)[1:] for line in said if line.endswith("\n")]
    messages = [rest.strip() for word, rest in told if word == "message"]
    store = Store(tmp_path)
    before = store.read(identifier)
    with store.open(identifier) as writer:
        kept = writer.conversation
        assert kept == before
        contents = [message.content for message in kept.messages]
        assert contents[: len(messages)] == messages
        assert len(contents) <= len(messages) + 1
        assert contents == [f"{('prompt', 'answer')[n % 2]} {n // 2}" for n in range(len(contents))]
        begun = sum(word == "begun" for word, _ in told)
        ended = sum(word == "ended" for word, _ in told)
        assert begun <= len(kept.runs) <= begun + 1
        assert sum(run.status == "done" for run in kept.runs) in {ended, ended + 1}
        assert all((run.status, run.stage) in {("done", ""), ("failed", "crashed")} for run in kept.runs)
        for run in kept.runs:
            prompts = [each for each in kept.messages if each.run_id == run.run_id]
            assert run.status == "done" or bool(run.prompt) != bool(prompts), "the prompt is there once"
        writer.add_message(Message(role="user", content="goes on"))
    assert store.read(identifier).messages[-1].content == "goes on"
    assert [path.name for path in store.conversations.iterdir()] == [f"{identifier}.json"]


def chat_of_three(store: Store) -> tuple[Path, Conversation, bytes]:
    """A conversation with an unfolded journal: its path, value, and journal."""
    writer = store.create(Conversation(messages=(Message(role="user", content="0"),)))
    writer.begin_run(RunRecord(run_id="r", prompt="again"))
    for _ in range(3):
        writer.add_message(
            Message(role="user", content="again")
        )  # equal ones: only marks can tell them apart
    writer.end_run(RunRecord(run_id="r", status="done"))
    return writer.path, writer.conversation, leave_journal(writer)


class Death(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("call", ["fsync", "replace", "unlink", "write"])
@pytest.mark.parametrize("when", range(4))
@pytest.mark.parametrize("after", [False, True])
def test_a_fold_that_dies_at_any_step_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, when: int, after: bool
) -> None:
    """Dead just before or after the nth fsync, rename, removal or write: the conversation is the same."""
    store = Store(tmp_path)
    path, value, _ = chat_of_three(store)
    assert store.read(path.stem) == value
    home, name = (Path, call) if call in {"replace", "unlink"} else (os, call)
    real, calls = getattr(home, name), iter(range(1000))

    def dying(*args: object, **options: object) -> object:
        if next(calls) != when:
            return real(*args, **options)
        if after:
            real(*args, **options)
        raise Death

    with monkeypatch.context() as patch:
        patch.setattr(home, name, dying)
        with suppress(Death):
            store.open(path.stem).close()
    assert store.read(path.stem) == value
    with store.open(path.stem) as writer:
        assert writer.conversation == value
    assert not path.with_suffix(".journal").exists()
    assert store.read(path.stem) == value


def test_a_journal_that_survived_its_fold_is_recognised(tmp_path: Path) -> None:
    """The rename was done, the removal was not: messages equal to one another are still there three times."""
    store = Store(tmp_path)
    writer = store.create()
    writer.save()
    journal = writer.path.with_suffix(".journal")
    for _ in range(3):
        writer.add_message(Message(role="user", content="again"))
    spare = tmp_path / "spare"
    os.link(journal, spare)
    writer.close()
    spare.replace(journal)
    assert decode(journal.read_bytes())[0][-1].payload.decode() == revision_of(writer.path.read_bytes())
    assert len(store.read(writer.path.stem).messages) == 3
    with store.open(writer.path.stem) as again:
        again.add_message(Message(role="user", content="again"))
    assert len(store.read(writer.path.stem).messages) == 4


def test_a_journal_torn_at_every_byte_opens(tmp_path: Path) -> None:
    """Read at each cut: as many messages as there are whole lines for them, never an error."""
    store = Store(tmp_path)
    path, _, journal = chat_of_three(store)
    for cut in range(len(journal) + 1):
        path.with_suffix(".journal").write_bytes(journal[:cut])
        whole = [each.kind for each in decode(journal[:cut])[0]]
        assert len(store.read(path.stem).messages) == 1 + whole.count("message")
    path.with_suffix(".journal").write_bytes(journal[:-1])
    with store.open(path.stem) as writer:
        assert (writer.conversation.runs[0].status, writer.conversation.runs[0].stage) == (
            "failed",
            "crashed",
        )
    assert json.loads(path.read_bytes())["runs"][0]["stage"] == "crashed"


def test_a_journal_alone_has_the_prompt_and_the_text_of_the_run_that_was_under_way(tmp_path: Path) -> None:
    """The first prompt of a conversation is written with its file; the journal begins after it."""
    store = Store(tmp_path)
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="the prompt"))
    writer.note_partial("r", "half an ans")
    journal, alone = leave_journal(writer), writer.path.with_suffix(".journal")
    writer.path.unlink()
    (run,) = store.read(writer.path.stem).runs
    assert (run.prompt, run.partial_text, run.stage) == ("the prompt", "half an ans", "crashed")
    told = "its file is gone: only what its journal has is here"
    assert store.look(writer.path.stem).losses == told
    with store.open(writer.path.stem) as again:
        assert again.conversation.runs == (run,)
        assert again.losses == f"{told}; the journal is kept as {alone}.orphaned"
    assert alone.with_name(f"{alone.name}.orphaned").read_bytes() == journal
    assert store.look(writer.path.stem).losses == ""


def test_streamed_text_of_a_run_that_nobody_knows_is_kept_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="the prompt"))
    writer.note_partial("r", "half an ans")
    known, journal = leave_journal(writer), writer.path.with_suffix(".journal")
    damaged = b"".join(line for line in known.splitlines(keepends=True) if b" run " not in line)
    writer.path.unlink()
    journal.write_bytes(damaged)
    store.open(writer.path.stem).close()
    assert journal.with_suffix(".journal.damaged").read_bytes() == damaged


def test_a_journal_with_a_damaged_entry_is_kept_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    writer = store.create()
    writer.save()
    for content in ("first", "rotten", "last"):
        writer.add_message(Message(role="user", content=content))
    damaged = leave_journal(writer).replace(b"rotten", b"ROTTEN")
    journal = writer.path.with_suffix(".journal")
    journal.write_bytes(damaged)
    with store.open(writer.path.stem) as again:
        assert [message.content for message in again.conversation.messages] == ["first", "last"]
        told = f"its journal has lines that cannot be used; the journal is kept as {journal}.damaged"
        assert again.losses == told
    assert journal.with_suffix(".journal.damaged").read_bytes() == damaged
    assert not journal.exists()


def test_a_leftover_temporary_file_is_no_conversation(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.create() as writer:
        writer.save()
    (store.conversations / f".{writer.path.name}.0123456789ab.tmp").write_bytes(b"half")
    assert store.ids() == [writer.path.stem]


DIE_IN_THE_FOLD = """
import os, signal, sys
from pathlib import Path
from golem_cli.core.conversation import RunRecord
from golem_cli.store.store import Store
writer = Store(Path(sys.argv[1])).create()
writer.begin_run(RunRecord(run_id="r", prompt="hi"))
writer.update(title="in the journal")
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
writer.save()
"""


def test_opening_after_a_death_in_the_fold_removes_its_temporary_file(tmp_path: Path) -> None:
    """It holds a copy of the whole conversation. That of another conversation is not ours to remove."""
    store = Store(tmp_path)
    died = subprocess.run([sys.executable, "-c", DIE_IN_THE_FOLD, str(tmp_path)], check=False)
    assert died.returncode == -signal.SIGKILL
    other = store.conversations / ".01a00000-0000-7000-8000-000000000000.json.0123456789ab.tmp"
    other.write_bytes(b"half")
    assert len([path for path in store.conversations.iterdir() if path.suffix == ".tmp"]) == 2
    with store.open(store.ids()[0]) as writer:
        assert writer.conversation.title == "in the journal"
    assert sorted(store.conversations.iterdir()) == sorted([other, writer.path])
