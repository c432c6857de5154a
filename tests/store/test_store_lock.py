"""One writer for each conversation, over processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import ConversationLocked
from golem_cli.core.message import Message
from golem_cli.store.store import Store

HOLD = """
import sys
from pathlib import Path
from golem_cli.store.store import Store
with Store(Path(sys.argv[1])).open(sys.argv[2]) as writer:
    print("held", flush=True)
    sys.stdin.readline()
"""

ADD = """
import sys, time
from pathlib import Path
from golem_cli.core.errors import ConversationLocked
from golem_cli.core.message import Message
from golem_cli.store.store import Store
store = Store(Path(sys.argv[1]))
for number in range(15):
    while True:
        try:
            with store.open(sys.argv[2]) as writer:
                writer.add_message(Message(role="user", content=f"{sys.argv[3]} {number}"))
            break
        except ConversationLocked:
            time.sleep(0.01)
"""

ADD_UNTIL_KILLED = """
import itertools, sys, time
from pathlib import Path
from golem_cli.core.errors import ConversationLocked
from golem_cli.core.message import Message
from golem_cli.store.store import Store
store = Store(Path(sys.argv[1]))
for number in itertools.count():
    try:
        with store.open(sys.argv[2]) as writer:
            writer.add_message(Message(role="user", content=f"{sys.argv[3]} {number}"))
            print(f"{sys.argv[3]} {number}", flush=True)
    except ConversationLocked:
        time.sleep(0.01)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def identifier(store: Store) -> str:
    with store.create(Conversation(title="held")) as writer:
        writer.begin_run(RunRecord(run_id="r", prompt="hi"))
    return writer.path.stem


def holder(tmp_path: Path, identifier: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), identifier],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_writer_is_told_who_holds_it_and_may_read(
    store: Store, tmp_path: Path, identifier: str
) -> None:
    with holder(tmp_path, identifier) as process:
        with pytest.raises(ConversationLocked, match=f"process {process.pid} on ") as caught:
            store.open(identifier)
        assert str(process.pid) in caught.value.holder
        with pytest.raises(ConversationLocked):
            store.delete(identifier)
        assert store.read(identifier).title == "held"
        process.communicate("go\n")
    with store.open(identifier) as writer:
        assert writer.conversation.title == "held"


def test_the_lock_of_a_killed_process_is_free(store: Store, tmp_path: Path, identifier: str) -> None:
    """Its note of the holder is still there, and does not count."""
    with holder(tmp_path, identifier) as process:
        os.kill(process.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
    note = json.loads((tmp_path / "locks" / f"{identifier}.holder").read_bytes())
    assert note["pid"] == process.pid
    with store.open(identifier), pytest.raises(ConversationLocked, match=f"process {os.getpid()} on "):
        store.open(identifier)


def test_a_running_run_is_crashed_only_when_nobody_holds_the_conversation(store: Store) -> None:
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="hi"))
    identifier = writer.path.stem
    assert store.read(identifier).runs[0].status == "running"
    assert store.summaries()[0].status == "running"
    writer.close()  # a chat ends its runs; this one stands for a process that could not
    assert (store.read(identifier).runs[0].status, store.read(identifier).runs[0].stage) == (
        "failed",
        "crashed",
    )
    assert store.summaries()[0].status == "failed"
    assert json.loads(writer.path.read_bytes())["runs"][0]["status"] == "running"


def test_looking_whether_a_lock_is_held_leaves_it_free(store: Store, identifier: str) -> None:
    store.summaries()
    with store.open(identifier) as writer:
        store.summaries()
        writer.add_message(Message(role="user", content="mine"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks can be shared")
def test_who_looks_at_a_lock_is_not_taken_for_a_writer(store: Store) -> None:
    """Two readers at once: a crashed run is told as crashed to both."""
    import fcntl

    writer = store.create()
    writer.begin_run(RunRecord(run_id="r", prompt="hi"))
    writer.close()
    with (store.conversations.parent / "locks" / f"{writer.path.stem}.lock").open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert store.read(writer.path.stem).runs[0].stage == "crashed"


def test_a_failed_open_gives_the_lock_back(store: Store, identifier: str) -> None:
    path = store.path_of(identifier)
    whole = path.read_bytes()
    path.write_bytes(b"[")
    with pytest.raises(Exception, match=path.name):
        store.open(identifier)
    path.write_bytes(whole)
    store.open(identifier).close()


def test_three_processes_that_add_to_one_conversation_lose_nothing(
    store: Store, tmp_path: Path, identifier: str
) -> None:
    """45 messages by three writers that take turns: each there once, each writer's in its order."""
    processes = [
        subprocess.Popen([sys.executable, "-c", ADD, str(tmp_path), identifier, name]) for name in "abc"
    ]
    while any(process.poll() is None for process in processes):
        store.summaries()  # a reader disturbs nobody
        store.read(identifier)
    assert [process.returncode for process in processes] == [0, 0, 0]
    contents = [message.content for message in store.read(identifier).messages]
    assert len(contents) == 45
    for name in "abc":
        assert [each for each in contents if each.startswith(name)] == [f"{name} {n}" for n in range(15)]


def test_writers_killed_at_any_moment_leave_everything_they_were_told_was_saved(
    store: Store, tmp_path: Path, identifier: str
) -> None:
    """Four at a time, each killed after one to six messages; what was acknowledged is there, each once."""
    acknowledged: list[str] = []
    for round_ in range(2):
        command = [sys.executable, "-c", ADD_UNTIL_KILLED, str(tmp_path), identifier]
        names = [f"{round_}{letter}" for letter in "abcd"]
        writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in names]
        for count, writer in enumerate(writers, 1 + 2 * round_):
            with writer:
                assert writer.stdout is not None
                acknowledged += [writer.stdout.readline().strip() for _ in range(count)]
                writer.kill()
                acknowledged += writer.stdout.read().split("\n")[:-1]
    with store.open(identifier) as last:
        contents = [message.content for message in last.conversation.messages]
    assert set(acknowledged) <= set(contents)
    assert len(contents) == len(set(contents))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_whatever_stands_in_the_holders_note_the_second_writer_is_told(store: Store, identifier: str) -> None:
    with store.open(identifier):
        note = store.conversations.parent / "locks" / f"{identifier}.holder"
        for junk in (b"", b"[1]", b'{"pid":1e400,"host":"h","since":"s"}', b"\xff"):
            note.write_bytes(junk)
            with pytest.raises(ConversationLocked, match="open in another process"):
                store.open(identifier)
        note.unlink()
        os.mkfifo(note)  # nobody writes to it: reading would wait for ever
        with pytest.raises(ConversationLocked, match="open in another process"):
            store.open(identifier)
