"""What is wrong and what to do are told apart, whatever words a path has."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Final

import pytest

from golem_cli.core.conversation import Conversation
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from tests.support.golem_runs import GOLEM, golem

FIRST: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c01"
HELLO: Final = Message(role="user", content="hello")
MISLEADING: Final = "kept; golem --salvage"
CUT: Final = "the text stops in the middle, at byte "
COMMAND: Final = f"golem normalize --salvage -w {FIRST}"


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A conversation, cut off behind its first message, in a folder with a name like advice."""
    monkeypatch.setenv("GOLEM_HOME", str(tmp_path / MISLEADING))
    store = Store(tmp_path / MISLEADING)
    with store.create(Conversation(conversation_id=FIRST, messages=(HELLO, HELLO))) as writer:
        writer.save()
    file = store.path_of(FIRST)
    file.write_bytes(file.read_bytes().rpartition(b'"hello"')[0])
    return file


def test_a_command_names_the_file_what_is_wrong_and_what_to_do(cut: Path) -> None:
    line = golem("show", FIRST).error_line
    assert line.startswith(f"golem: {cut}: {CUT}")
    assert line.endswith(f"; {COMMAND} keeps those")


def test_a_file_elsewhere_is_named_as_it_was_typed(cut: Path, tmp_path: Path) -> None:
    elsewhere = cut.rename(tmp_path / MISLEADING / "cut.json")
    line = golem("show", elsewhere).error_line
    assert line.startswith(f"golem: {elsewhere}: {CUT}")
    assert line.endswith(f"; {shlex.join(['golem', 'normalize', '--salvage', str(elsewhere)])} keeps those")


def test_a_table_says_only_what_is_wrong_and_json_all(cut: Path) -> None:
    (row,) = golem("list").out.splitlines()[1:]
    assert CUT in row
    assert "golem" not in row
    (entry,) = golem("list", "--json").json
    assert entry["problem"].startswith(f"{cut}: {CUT}")
    assert entry["problem"].endswith(f"; {COMMAND} keeps those")


def test_the_doctor_has_the_advice_beside_what_is_wrong(cut: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = golem("doctor", "--offline", "--json").json["checks"]
    (told,) = [each for each in checks if each["name"] == "conversation"]
    assert told["text"].startswith(f"{FIRST} cannot be read: {cut}: {CUT}")
    assert "normalize" not in told["text"]
    assert told["advice"] == COMMAND
    monkeypatch.setenv("PATH", str(GOLEM.parent), prepend=os.pathsep)
    subprocess.run(shlex.split(told["advice"]), capture_output=True, check=True)
    assert golem("show", FIRST).code == 0
