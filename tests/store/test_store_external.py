"""Files outside the store: their form, their original, their permissions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from golem_cli.core.errors import (
    ConversationChanged,
    CutTranscriptError,
    NewerFormatError,
    StoreError,
    TranscriptError,
)
from golem_cli.core.message import Message
from golem_cli.store.external import read_external, undo, write_in_form, write_new

ARRAY = b'[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]'
JSONL = b'{"role":"user","content":"a"}\n{"role":"assistant","content":"b"}\n'
OBJECT = b'{"golem":1,"conversationId":"x","later":7,"messages":' + ARRAY + b"}"
FIRST = [Message(role="user", content="a")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.json"


@pytest.mark.parametrize(
    ("data", "form"), [(ARRAY, "array"), (JSONL, "jsonl"), (OBJECT, "object"), (ARRAY[:-1] + b"]", "array")]
)
def test_a_file_is_written_back_in_its_form(path: Path, data: bytes, form: str) -> None:
    path.write_bytes(data)
    file = read_external(path)
    assert file.transcript.form == form
    assert len(file.transcript.messages) == 2
    backup = write_in_form(file, replace(file.transcript, messages=FIRST))
    assert backup == path.with_name("t.json.orig")
    assert backup.read_bytes() == data
    again = read_external(path)
    assert (again.transcript.form, again.transcript.messages) == (form, FIRST)
    assert form != "object" or json.loads(path.read_bytes())["later"] == 7


def test_utf_16_is_read_and_utf_8_written(path: Path) -> None:
    path.write_bytes(ARRAY.decode().encode("utf-16"))
    file = read_external(path)
    write_in_form(file, replace(file.transcript, messages=FIRST))
    assert json.loads(path.read_bytes().decode("utf-8")) == [{"role": "user", "content": "a"}]


def test_the_same_bytes_are_not_written(path: Path) -> None:
    path.write_bytes(ARRAY)
    file = read_external(path)
    write_in_form(file, replace(file.transcript, messages=FIRST))
    before = path.stat().st_mtime_ns, path.stat().st_ino
    again = read_external(path)
    assert write_in_form(again, again.transcript) is None
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["t.json", "t.json.orig"]


def test_a_backup_is_never_replaced_and_undo_takes_the_newest(path: Path) -> None:
    versions = [[Message(role="user", content=str(number))] for number in range(4)]
    path.write_bytes(ARRAY)
    for number, messages in enumerate(versions[:3]):
        file = read_external(path)
        backup = write_in_form(file, replace(file.transcript, messages=messages))
        assert backup is not None
        assert backup.name == ("t.json.orig" if number == 0 else f"t.json.orig.{number + 1}")
    assert path.with_name("t.json.orig").read_bytes() == ARRAY
    undone = undo(path)
    assert read_external(path).transcript.messages == versions[1]
    assert read_external(undone).transcript.messages == versions[2]
    undo(path)
    undo(path)
    assert path.read_bytes() == ARRAY
    with pytest.raises(StoreError, match="nothing to undo"):
        undo(path)


def test_ten_backups_are_numbered_not_sorted_as_text(path: Path) -> None:
    path.write_bytes(ARRAY)
    for name in ("orig", "orig.2", "orig.10", "orig.9", "orig.x"):
        path.with_name(f"t.json.{name}").write_bytes(name.encode())
    undo(path)
    assert path.read_bytes() == b"orig.10"


def test_mode_bits_stay(path: Path) -> None:
    path.write_bytes(ARRAY)
    path.chmod(0o640)
    file = read_external(path)
    write_in_form(file, replace(file.transcript, messages=FIRST))
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_goes_on_pointing_at_the_file(path: Path, tmp_path: Path) -> None:
    """The target is replaced and keeps the original beside it; the link stays a link. Undo too goes there."""
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "r.json").write_bytes(ARRAY)
    path.symlink_to(folder / "r.json")
    file = read_external(path)
    backup = write_in_form(file, replace(file.transcript, messages=FIRST))
    assert path.is_symlink()
    assert backup == (folder / "r.json.orig").resolve()
    assert read_external(path).transcript.messages == FIRST
    undo(path)
    assert (folder / "r.json").read_bytes() == ARRAY


def test_a_file_changed_meanwhile_is_left_alone(path: Path) -> None:
    path.write_bytes(ARRAY)
    file = read_external(path)
    path.write_bytes(JSONL)
    with pytest.raises(ConversationChanged):
        write_in_form(file, replace(file.transcript, messages=FIRST))
    assert path.read_bytes() == JSONL
    assert [each.name for each in path.parent.iterdir()] == ["t.json"]


def test_a_newer_file_is_written_only_when_forced(path: Path) -> None:
    path.write_bytes(OBJECT.replace(b'"golem":1', b'"golem":2'))
    file = read_external(path)
    with pytest.raises(NewerFormatError):
        write_in_form(file, replace(file.transcript, messages=FIRST))
    write_in_form(file, replace(file.transcript, messages=FIRST), force=True)
    assert json.loads(path.read_bytes())["golem"] == 2


def test_what_is_no_transcript_is_named(path: Path) -> None:
    path.write_bytes(b"hello")
    with pytest.raises(TranscriptError, match=r"t\.json"):
        read_external(path)


def test_a_cut_file_is_refused_with_its_name_and_salvaged_on_request(path: Path) -> None:
    path.write_bytes(ARRAY[:-10])
    with pytest.raises(CutTranscriptError, match=r"t\.json") as caught:
        read_external(path)
    assert caught.value.whole == 1
    assert read_external(path, salvage=True).transcript.messages == FIRST


def test_what_cannot_be_read_is_one_line(path: Path, tmp_path: Path) -> None:
    """Missing, a folder, a pipe that nobody writes, a link that goes in circles."""
    with pytest.raises(StoreError, match=r"cannot read .*t\.json: it does not exist"):
        read_external(path)
    with pytest.raises(StoreError, match="it is a folder"):
        read_external(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        with pytest.raises(StoreError, match="not a regular file"):
            read_external(path)


def test_a_new_file_never_replaces_one(path: Path) -> None:
    write_new(path, b"one")
    with pytest.raises(StoreError, match="exists already"):
        write_new(path, b"two")
    assert path.read_bytes() == b"one"
    with pytest.raises(StoreError, match=r"cannot write .*x\.json: there is no folder .*no; make it first"):
        write_new(path.parent / "no" / "x.json", b"two")


@pytest.mark.parametrize("taken", ["folder", "link", "dangling", "circle", "pipe"])
def test_a_new_file_replaces_and_follows_nothing_that_has_its_name(path: Path, taken: str) -> None:
    target = path.with_name("target")
    match taken:
        case "folder":
            path.mkdir()
        case "link":
            target.write_bytes(b"mine")
            path.symlink_to(target)
        case "dangling":
            path.symlink_to(target)
        case "circle":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
    before = sorted(path.parent.iterdir())
    with pytest.raises(StoreError, match="exists already"):
        write_new(path, b"new")
    assert sorted(path.parent.iterdir()) == before
    assert not target.exists() or target.read_bytes() == b"mine"


def test_a_new_file_has_the_permissions_of_the_umask(path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_new(path, b"new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


DIE_AT_FSYNC = """
import os, signal, sys
from pathlib import Path
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
from golem_cli.store.external import write_new
write_new(Path(sys.argv[1]), b"never whole")
"""


def test_a_new_file_that_was_not_finished_does_not_have_its_name(path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", DIE_AT_FSYNC, path], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not path.exists()


def test_a_name_as_long_as_names_can_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250 + ".json")
    write_new(path, b"new")
    assert path.read_bytes() == b"new"


def test_undo_brings_back_the_newest_also_after_somebody_removed_an_older_backup(path: Path) -> None:
    texts = [ARRAY.replace(b'"a"', b'"%d"' % number) for number in range(3)]
    for number, text in enumerate(texts):
        path.write_bytes(text)
        file = read_external(path)
        write_in_form(file, replace(file.transcript, messages=FIRST))
        if number == 1:
            path.with_name("t.json.orig").unlink()
    undo(path)
    assert path.read_bytes() == texts[2]


def test_a_link_or_a_folder_with_the_name_of_a_backup_is_none(path: Path) -> None:
    path.write_bytes(ARRAY)
    path.with_name("t.json.orig").symlink_to("/etc/hostname")
    path.with_name("t.json.orig.7").mkdir()
    before = sorted(path.parent.iterdir())
    with pytest.raises(StoreError, match="nothing to undo"):
        undo(path)
    assert sorted(path.parent.iterdir()) == before
    assert path.read_bytes() == ARRAY


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away"
)
def test_the_owner_stays(path: Path) -> None:
    path.write_bytes(ARRAY)
    os.chown(path, 1234, 1235)
    path.chmod(0o640)
    file = read_external(path)
    write_in_form(file, replace(file.transcript, messages=FIRST))
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 1235, 0o640)


@pytest.mark.parametrize("name", ["a\0b.json", "\ud800.json"])
def test_a_name_that_no_file_can_have_is_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for ask in (read_external, undo, lambda path: write_new(path, b"new")):
        with pytest.raises(StoreError, match="cannot be the name of a file"):
            ask(path)


def test_links_that_lead_in_a_circle_are_one_line(path: Path) -> None:
    path.symlink_to(path)
    for ask in (read_external, undo):
        with pytest.raises(StoreError, match="lead in a circle"):
            ask(path)
