"""Disks that are full, folders that are gone, files in the way: one line, nothing damaged, try again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import StoreError
from golem_cli.core.message import Message
from golem_cli.store.store import Store

BIG = """
import resource, sys
from pathlib import Path
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import StoreError
from golem_cli.core.message import Message
from golem_cli.store.store import Store

def room(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

store = Store(Path(sys.argv[1]))
limit = int(sys.argv[2])
writer = store.create(Conversation(instructions="x" * 600))
steps = [
    lambda: writer.begin_run(RunRecord(run_id="r", prompt="hello")),
    lambda: writer.note_partial("r", "half an answer"),
    lambda: writer.add_message(Message(role="user", content="hello")),
    lambda: writer.add_message(Message(role="assistant", content="answer " * 20)),
    lambda: writer.end_run(RunRecord(run_id="r", status="done")),
    lambda: writer.replace(writer.conversation, backup=True),
]
failed = 0
for step in steps:
    before = writer.conversation
    room(limit)
    try:
        step()
    except StoreError as error:
        failed += 1
        assert "\\n" not in str(error) and "larger than the system allows" in str(error), error
        assert writer.conversation == before
        room(resource.RLIM_INFINITY)
        if writer.saved:
            assert store.read(writer.path.stem).messages == before.messages
        step()
room(limit)
value = writer.conversation
try:
    writer.close()
except StoreError:
    failed += 1
room(resource.RLIM_INFINITY)
assert store.read(writer.path.stem) == value
with store.open(writer.path.stem) as writer:
    assert writer.conversation == value
print(failed, len(value.messages), [run.status for run in value.runs],
      sorted(path.suffix for path in store.conversations.iterdir()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
@pytest.mark.parametrize("limit", [0, 1, 100, 400, 800, 900, 1000, 1200])
def test_a_write_that_runs_out_of_room_can_be_made_again(tmp_path: Path, limit: int) -> None:
    """A step with room for only `limit` bytes fails in one line, changes nothing, and succeeds with room.

    In the end the turn is whole and no temporary file is left.
    """
    done = subprocess.run(
        [sys.executable, "-c", BIG, str(tmp_path), str(limit)],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    failed, rest = done.stdout.split(maxsplit=1)
    assert int(failed) >= (1 if limit < 1200 else 0)
    assert rest == "2 ['done'] ['.json', '.orig']\n"


def test_a_file_where_the_folder_should_be_is_one_line(tmp_path: Path) -> None:
    """Nothing is lost in memory, and the same call succeeds when the file is gone."""
    (tmp_path / "golem").write_text("in the way")
    writer = Store(tmp_path / "golem").create()
    run = RunRecord(run_id="r", prompt="hello")
    with pytest.raises(StoreError, match="a file stands where a folder is needed"):
        writer.begin_run(run)
    assert (writer.saved, writer.conversation.runs) == (False, ())
    (tmp_path / "golem").unlink()
    writer.begin_run(run)
    assert json.loads(writer.path.read_bytes())["runs"][0]["prompt"] == "hello"
    writer.close()


def test_a_folder_that_vanished_is_made_again_with_everything(tmp_path: Path) -> None:
    """The next message finds its journal gone, and the whole conversation is written anew before it."""
    import shutil

    store = Store(tmp_path / "golem")
    writer = store.create(Conversation(messages=(Message(role="user", content="1"),)))
    writer.save()
    writer.add_message(Message(role="assistant", content="2"))
    shutil.rmtree(tmp_path / "golem")
    writer.add_message(Message(role="user", content="3"))
    assert [each.content for each in store.read(writer.path.stem).messages] == ["1", "2", "3"]
    writer.close()
    assert [each.content for each in store.read(writer.path.stem).messages] == ["1", "2", "3"]


def test_a_folder_in_the_place_of_the_journal_is_one_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    writer = store.create()
    writer.save()
    journal = writer.path.with_suffix(".journal")
    journal.mkdir()
    message = Message(role="user", content="x")
    with pytest.raises(StoreError, match="it is a folder"):
        writer.add_message(message)
    assert writer.conversation.messages == ()
    journal.rmdir()
    writer.add_message(message)
    writer.close()
    assert len(store.read(writer.path.stem).messages) == 1


FULL = """
import sys
from contextlib import suppress
from pathlib import Path
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import StoreError
from golem_cli.core.message import Message
from golem_cli.store.store import Store

store = Store(Path(sys.argv[1]))
ballast = store.conversations / "ballast"

def fill():
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))

page = "x" * 5000  # does not fit into the last page that is taken already
writer = store.create(Conversation(title="t"))
steps = [
    lambda: writer.begin_run(RunRecord(run_id="r", prompt="prompt" + page)),
    lambda: writer.note_partial("r", "half an answer" + page),
    lambda: writer.add_message(Message(role="user", content="prompt" + page)),
    lambda: writer.add_message(Message(role="assistant", content="answer" + page)),
    lambda: writer.end_run(RunRecord(run_id="r", status="done", error=page)),
    lambda: writer.replace(writer.conversation, backup=True),
]
for step in steps:
    before = writer.conversation
    fill()
    try:
        step()
    except StoreError as error:
        assert "the disk is full" in str(error), error
    else:
        raise AssertionError("there was room")
    assert writer.conversation == before
    if writer.saved:  # readable on the full disk, by whoever comes
        assert store.read(writer.path.stem) == before
    ballast.unlink()
    step()
value = writer.conversation
fill()
with suppress(StoreError):
    writer.close()
assert store.read(writer.path.stem) == value
ballast.unlink()
with store.open(writer.path.stem) as writer:
    assert writer.conversation == value
print(len(value.messages), sorted(path.suffix for path in store.conversations.iterdir()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a small file system of our own, by a user namespace")
def test_every_step_of_a_turn_on_a_full_disk_fails_in_one_line_and_can_be_made_again(tmp_path: Path) -> None:
    """A tmpfs of 128 KiB, filled to its last page before each step: a real ENOSPC each time."""
    own_mounts = ["unshare", "--user", "--map-root-user", "--mount"]
    folder = tmp_path / "golem" / "conversations"
    folder.mkdir(parents=True)
    mount = f"mount -t tmpfs -o size=128k golem '{folder}'"
    if subprocess.run([*own_mounts, "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("this system lets us mount nothing")
    done = subprocess.run(
        [
            *own_mounts,
            "sh",
            "-c",
            f'{mount} && exec "$0" "$@"',
            sys.executable,
            "-c",
            FULL,
            str(folder.parent),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "2 ['.json', '.orig']\n", done.stderr
