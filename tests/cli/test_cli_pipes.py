"""A pipe in any place of golem's own: no command waits for its other end, and none shows a traceback."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.core.run_status import RUNNING
from golem_cli.store.store import Store
from tests.support.golem_runs import golem
from tests.support.obstacles import nobody_waits

if sys.platform == "win32":
    pytest.skip("pipes have no names in folders there", allow_module_level=True)

FIRST: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c01"
SECOND: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c02"
GOLEM_SAYS: Final = re.compile("golem: ").match
PLACES: Final = (
    "config.toml",
    f"conversations/{FIRST}.json",
    f"conversations/{FIRST}.journal",
    "index.sqlite3",
    "index.sqlite3-journal",
    "index.sqlite3-wal",
    f"locks/{FIRST}.lock",
    f"locks/{FIRST}.holder",
    "state/history",
    f"trash/{SECOND}.json",
    f"trash/{SECOND}.journal",
    "conversations",
    "locks",
    "state",
    "trash",
)
COMMANDS: Final = (
    ["list"],
    ["search", "hello"],
    ["show", FIRST],
    ["resume", "--no-run", FIRST],
    ["resume", FIRST, "--prompt", "hi", "--model", "nobody:x"],
    ["ask", "hi", "--model", "nobody:x"],
    ["export", FIRST],
    ["normalize", FIRST],
    ["normalize", "-w", FIRST],
    ["fork", FIRST],
    ["rename", FIRST, "new"],
    ["config"],
    ["doctor", "--offline"],
    ["doctor", "--offline", "--json"],
    ["trash", "list"],
    ["trash", "restore", SECOND],
    ["delete", FIRST],
    ["trash", "empty", "--yes"],
)


@pytest.fixture
def folder(home: Path) -> Path:
    """A store with an index, a conversation whose run is said to go on, and one in the trash."""
    store = Store(home / "golem")
    said = Message(role="user", content="hello")
    run = RunRecord(run_id=SECOND, status=RUNNING, prompt="And?")
    for identity in (FIRST, SECOND):
        with store.create(Conversation(conversation_id=identity, messages=(said,), runs=(run,))) as writer:
            writer.save()
        os.utime(store.path_of(identity), (0, 0))
    store.delete(SECOND)
    golem("list")
    (home / "golem" / "state").mkdir(mode=0o700)
    return home / "golem"


@pytest.mark.parametrize("place", PLACES)
def test_no_command_waits_for_a_pipe(folder: Path, place: str) -> None:
    path = folder / place
    if path.is_dir():
        path.rename(path.with_name("away"))
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for arguments in COMMANDS:
        with nobody_waits(path):
            done = golem(*arguments, in_terminal=False)
        assert done.code in {0, 1, 2}, (arguments, done)
        assert not done.code or all(map(GOLEM_SAYS, done.err.splitlines())), (arguments, done.err)
        assert "internal error" not in done.err, (arguments, done.err)


def test_no_prompt_waits_for_a_pipe_in_the_place_of_the_earlier_ones(tmp_path: Path) -> None:
    """Where earlier prompts cannot be kept, those of the sitting are, as on a read-only disk."""
    from golem_cli.repl.prompt import _history

    pipe = tmp_path / "history"
    os.mkfifo(pipe)
    with nobody_waits(pipe):
        history = _history(pipe)
        history.append_string("hello")
        assert list(history.load_history_strings()) == ["hello"]
