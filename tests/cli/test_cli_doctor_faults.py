"""`golem doctor` where the system refuses to look: each section tells its own; and every advice works."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from golem_cli.cli.checkup.families import FAMILIES
from golem_cli.core.conversation import Conversation
from golem_cli.core.message import Message
from golem_cli.store.index.database import damage_to
from golem_cli.store.store import Store
from tests.support.golem_runs import GOLEM, golem
from tests.support.obstacles import OBSTACLES
from tests.support.rights import unprivileged

if sys.platform == "win32":
    pytest.skip("POSIX permissions, links and pipes", allow_module_level=True)

FIRST: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c01"
SECOND: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c02"
FOLDERS: Final = ("conversations", "trash", "locks", "state")
NOBODY: Final = 65534


@pytest.fixture
def store(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Two conversations, one deleted one, an index, settings, prompts, and a cache without weights."""
    store = Store(home / "golem")
    for identity in (FIRST, SECOND):
        keep(store, identity)
    with store.create(Conversation(title="deleted")) as writer:
        writer.save()
    store.delete(writer.path.stem)
    golem("list")
    (home / "golem" / "state").mkdir(mode=0o700)
    for name in ("state/history", "config.toml"):
        (home / "golem" / name).touch(mode=0o600)
    monkeypatch.setenv("GOLEM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PATH", str(GOLEM.parent), prepend=os.pathsep)
    return store


def keep(store: Store, identity: str) -> Path:
    said = (Message(role="user", content="hello"), Message(role="assistant", content="ho"))
    with store.create(Conversation(conversation_id=identity, title="t", messages=said)) as writer:
        writer.save()
    return store.path_of(identity)


def place_of(store: Store, place: str) -> Path:
    folder = store.conversations.parent
    return Path(os.environ["GOLEM_CACHE"]) if place == "cache" else folder / place


def doctor() -> dict[str, Any]:
    done = golem("doctor", "--json", "--offline")
    assert (done.code, done.err) == (int(done.json["problems"] > 0), "")
    found: dict[str, Any] = done.json
    return found


def follow_advice() -> list[str]:
    """Paste every command that goes with a problem, or with the index; return the commands."""
    commands = [
        each["advice"]
        for each in doctor()["checks"]
        if each.get("advice") and (each["level"] == "problem" or each["family"] == "index")
    ]
    for command in commands:
        subprocess.run(command, shell=True, capture_output=True, check=True)  # noqa: S602 (as a person does)
    return commands


def nothing_is_left() -> bool:
    found = doctor()
    index_is_well = all(each["level"] == "ok" for each in found["checks"] if each["family"] == "index")
    return found["problems"] == 0 and index_is_well


@pytest.mark.parametrize(
    "place",
    [
        "cache",
        "",
        "conversations",
        "trash",
        "locks",
        "state",
        "config.toml",
        "index.sqlite3",
        f"conversations/{FIRST}.json",
    ],
)
def test_what_belongs_to_somebody_else_takes_no_section_down(store: Store, place: str) -> None:
    """It is somebody's and closed to us: one problem at least names it, and every section is there."""
    prefix = unprivileged()
    path = place_of(store, place)
    mode = path.stat().st_mode & 0o777
    if prefix:
        os.chown(path, NOBODY, NOBODY)
    else:
        path.chmod(0)
    command = [*prefix, str(GOLEM), "doctor", "--offline"]
    seen, read = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=False, timeout=60)
        for more in ([], ["--json"])
    )
    path.chmod(mode)
    assert (seen.stderr, read.stderr) == ("", "")
    sections = [line for line in seen.stdout.splitlines() if line and not line.startswith(" ")]
    assert sections[:-1] == list(FAMILIES)
    assert seen.returncode == read.returncode == (place != "index.sqlite3")
    bad = [line for line in seen.stdout.splitlines() if line.startswith(("  problem", "  note"))]
    assert any(str(path) in line for line in bad)
    assert '"family"' in read.stdout


@pytest.mark.parametrize("place", ["config.toml", "index.sqlite3", *FOLDERS])
@pytest.mark.parametrize("kind", OBSTACLES)
def test_what_is_in_the_way_is_told_in_its_section_and_moved_by_its_advice(
    store: Store, place: str, kind: str
) -> None:
    path = place_of(store, place)
    path.rename(path.with_name("before"))
    OBSTACLES[kind](path)
    sound = {("config.toml", "a dangling link")}  # a link to a file of settings that is not there yet
    sound |= {(folder, kind) for folder in FOLDERS if "folder" in kind}
    if kind == "a folder" and path.name != "config.toml":
        path.chmod(0o700)
        (path / "mine").unlink()
    if (place, kind) not in sound:
        assert any(str(path) in command for command in follow_advice())
    golem("list")
    if kind != "a link to a folder" or place in {"config.toml", "index.sqlite3"}:
        assert nothing_is_left()


@pytest.mark.parametrize("kind", OBSTACLES)
@pytest.mark.parametrize("suffix", [".json", ".journal"])
def test_what_bears_a_conversations_name_is_moved_by_its_advice(store: Store, suffix: str, kind: str) -> None:
    """Beside a sound file it is moved away, and the conversation is back; alone it goes to the trash."""
    path = store.path_of(FIRST).with_suffix(suffix)
    path.unlink(missing_ok=True)
    OBSTACLES[kind](path)
    (command,) = follow_advice()
    assert command.startswith("golem delete" if suffix == ".json" else "mv ")
    assert nothing_is_left()
    assert store.ids() == ([SECOND, FIRST] if suffix == ".journal" else [SECOND])
    assert os.path.lexists(store.trash / path.name) == (suffix == ".json")


@pytest.mark.parametrize("kind", ["a folder", "a dangling link", "a link loop"])
def test_what_bears_a_locks_name_is_moved_by_its_advice(store: Store, kind: str) -> None:
    path = place_of(store, f"locks/{FIRST}.lock")
    path.unlink()
    OBSTACLES[kind](path)
    follow_advice()
    store.rename(FIRST, "new")
    assert nothing_is_left()


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def full_of_zeros(path: Path) -> None:
    path.write_bytes(bytes(4096))


def cut_late(path: Path) -> None:
    path.write_bytes(path.read_bytes().partition(b'"ho')[0])


def a_journal_alone_that_says_nothing(path: Path) -> None:
    path.unlink()
    path.with_suffix(".journal").write_bytes(b"nothing\n")
    path.with_suffix(".journal").chmod(0o600)


def closed(path: Path) -> None:
    path.chmod(0o040)


@pytest.mark.parametrize(
    "damage",
    [cut_to_nothing, full_of_zeros, cut_late, a_journal_alone_that_says_nothing, closed],
)
def test_the_advice_for_damage_works(store: Store, damage: Callable[[Path], None]) -> None:
    damage(store.path_of(FIRST))
    assert follow_advice()
    assert nothing_is_left()


@pytest.mark.parametrize(
    ("damage", "advice"),
    [
        (b"{,}", "ls -l "),
        (b'{"golem":1,"mes\x00', "golem normalize --salvage -w "),
        (b"\xff\xfe{}", "ls -l "),
        (b"[1", "ls -l "),
    ],
)
def test_what_is_wrong_and_not_cut_is_for_an_editor(store: Store, damage: bytes, advice: str) -> None:
    store.path_of(FIRST).write_bytes(damage)
    (told,) = [each for each in doctor()["checks"] if each["level"] == "problem"]
    assert told["advice"].startswith(advice)
    assert ("an editor can mend it" in told["text"]) == (advice == "ls -l ")


def test_a_folder_is_not_for_an_editor(store: Store) -> None:
    OBSTACLES["a folder"](store.path_of(SECOND).with_suffix(".journal"))
    (folder,) = [each for each in doctor()["checks"] if SECOND in each["text"]]
    assert "editor" not in folder["text"]


def test_at_whatever_byte_a_file_was_cut_the_command_works(store: Store) -> None:
    path = store.path_of(FIRST)
    whole = path.read_bytes()
    for size in range(0, len(whole) - 2, 7):
        path.touch(mode=0o600)
        path.write_bytes(whole[:size])
        (told,) = [each for each in doctor()["checks"] if each["level"] == "problem"]
        if told["advice"].startswith("golem "):
            assert golem(*told["advice"].split()[1:]).code == 0, (size, told)
            assert nothing_is_left(), size
        else:
            assert "an editor can mend it" in told["text"]
        for each in (*store.conversations.glob(f"{FIRST}*"), *store.trash.glob(f"{FIRST}*")):
            each.unlink()


@pytest.mark.parametrize("conversations", [0, 2])
def test_a_damaged_index_is_gone_after_its_advice(store: Store, conversations: int) -> None:
    if not conversations:
        golem("delete", FIRST, SECOND)
    index = place_of(store, "index.sqlite3")
    index.write_bytes(b"no database, and longer than a header of SQLite" * 9)
    assert damage_to(index)
    assert follow_advice() == [f"rm {index}"]
    assert nothing_is_left()


@pytest.mark.parametrize("kind", OBSTACLES)
def test_prompts_that_cannot_be_kept_are_told_and_the_advice_works(store: Store, kind: str) -> None:
    history = place_of(store, "state/history")
    history.unlink()
    OBSTACLES[kind](history)

    def told() -> list[str]:
        return [each["advice"] for each in doctor()["checks"] if each["name"] == "prompts"]

    (command,) = told()
    subprocess.run(shlex.split(command), check=True)
    assert told() == []
