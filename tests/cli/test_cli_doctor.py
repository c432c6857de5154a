"""`golem doctor`: finds what is wrong, says what to do, shows no key, and writes nothing."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from golem_cli.cli.checkup import services
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message, ToolCall
from golem_cli.core.run_status import RUNNING
from golem_cli.store.store import Store
from tests.support.golem_runs import GOLEM, Finished, golem
from tests.support.http_server import HttpServer, Reply, free_port
from tests.support.obstacles import OBSTACLES

IDENTITY: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c{:02d}"
KEY: Final = "not-a-real-key-0123456789"
HOSTILE: Final = "a\x1b]0;owned\x07\u202eb"
AUDITED: Final = """
import os, sys
from golem_cli.cli.process import run_in_this_process
root = sys.argv.pop(1)
ALLOWED = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_DIRECTORY
WRITES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown",
          "os.truncate", "os.utime", "shutil.rmtree", "shutil.move", "tempfile.mkstemp", "tempfile.mkdtemp"}
def watch(event, arguments):
    if event in WRITES:
        print("WROTE", event, arguments, file=sys.stderr)
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(root):
        if arguments[2] & ~ALLOWED:
            print("WROTE open", arguments, file=sys.stderr)
sys.addaudithook(watch)
sys.dont_write_bytecode = True
raise SystemExit(run_in_this_process(sys.argv[1:]))
"""


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / "golem")


def keep(store: Store, number: int, **changes: Any) -> Path:
    conversation = Conversation(conversation_id=IDENTITY.format(number), **changes)
    with store.create(conversation) as writer:
        writer.save()
    return store.path_of(conversation.conversation_id)


def mess(store: Store) -> None:
    """A store with one of everything that may be wrong."""
    keep(store, 1, title="healthy", messages=(Message(role="user", content="hi"),))
    keep(store, 2).write_bytes(b'{"golem":1,"messages":[{"role":"user","content":"cut')
    call = ToolCall(id="c1", name="ls", args="{}")
    keep(store, 3, messages=(Message(role="user"), Message(role="assistant", tool_calls=(call,))))
    keep(store, 4, runs=(RunRecord(run_id=IDENTITY.format(90), status=RUNNING, prompt="And?"),))
    keep(store, 5)
    journaled = store.open(IDENTITY.format(5))
    journaled.begin_run(RunRecord(run_id=IDENTITY.format(91), prompt="Kept?"))
    journal = store.path_of(IDENTITY.format(5)).with_suffix(".journal")
    whole = journal.read_bytes()
    journaled.close()
    store.path_of(IDENTITY.format(5)).unlink()
    journal.write_bytes(whole + b"00000000 3 bad\n" + whole[:20])
    journal.chmod(0o600)
    for number in (6, 6, 7):
        store.delete(keep(store, number).stem)
    keep(store, 7)
    (store.conversations / f".golem-{HOSTILE}.tmp").write_bytes(b"half")
    golem("list")  # makes the index


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Every file and folder below: what it is, when it changed, and what is in it."""
    found: dict[str, tuple[object, ...]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (
            status.st_mode,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            digest,
        )
    return found


def checks(done: Finished, family: str, level: str = "") -> list[str]:
    return [
        check["text"]
        for check in done.json["checks"]
        if check["family"] == family and (not level or check["level"] == level)
    ]


def doctor() -> Finished:
    return golem("doctor", "--json", "--offline")


# What it does not do


@pytest.mark.parametrize("read_only", [False, True])
def test_it_writes_nothing(store: Store, home: Path, read_only: bool) -> None:
    """Neither does what is on disk change, nor is anything opened for writing."""
    mess(store)
    folders = [path for path in home.rglob("*") if path.is_dir()]
    for folder in folders if read_only else ():
        folder.chmod(0o500)
    before = snapshot(home)
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, home, "doctor", "--offline"], capture_output=True, check=False
    )
    assert snapshot(home) == before
    assert b"WROTE" not in done.stderr
    assert done.returncode == 1
    for folder in folders:
        folder.chmod(0o700)


def test_where_nothing_is_it_makes_nothing(home: Path) -> None:
    done = doctor()
    assert (done.code, done.json["problems"]) == (0, 0)
    assert not (home / "golem").exists()


def test_nothing_foreign_acts_on_the_terminal(store: Store, home: Path) -> None:
    mess(store)
    (home / "golem" / "config.toml").write_text('"x\\u001b]0;owned\\u0007" = 1', encoding="utf-8")
    for arguments in (("doctor",), ("doctor", "--json")):
        done = golem(*arguments, "--offline", terminal=True)
        assert not {"\x1b", "\x07", "\u202e"} & set(done.out + done.err)
        assert done.code == 1


# The store


def test_every_file_of_the_store_is_looked_at(store: Store) -> None:
    mess(store)
    found = golem("doctor", "--json", "--offline").json["checks"]
    said = [
        (c["level"], c["text"].replace(str(store.conversations), "…"))
        for c in found
        if c["family"] == "conversations"
    ]
    named = [
        (level, text.partition("01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c")[2][:2], text) for level, text in said
    ]
    assert [(level, number) for level, number, _ in named] == [
        ("problem", "02"),
        ("note", "03"),
        ("note", "04"),
        ("problem", "05"),
        ("note", "05"),
        ("note", "05"),
        ("note", "05"),
        ("ok", ""),
        ("note", ""),
    ]
    texts = [text for _, _, text in named]
    for text, words in zip(
        texts,
        (
            "cannot be read",
            "repair would change 1 message",
            "golem ended before its last run did",
            "1 journal line cannot be used",
            "lost its file: what its journal has is there (1 message), what came before is not",
            "the last step was not completed",
            "golem ended before its last run did",
            "5 conversations can be read",
            "is no conversation",
        ),
        strict=True,
    ):
        assert words in text


def test_copies_in_the_trash_are_told(store: Store) -> None:
    mess(store)
    first, second, third = checks(doctor(), "trash")
    assert first == "3 conversations in the trash"
    assert second.endswith(f"is a further copy of {IDENTITY.format(6)}")
    assert third == f"{IDENTITY.format(7)} in the trash is kept as a conversation, too"


def test_who_writes_a_conversation_is_told(store: Store) -> None:
    keep(store, 1)
    with store.open(IDENTITY.format(1)):
        (held,) = checks(doctor(), "conversations", "note")
    assert held.startswith(f"{IDENTITY.format(1)} is open in process {os.getpid()} on ")
    assert checks(doctor(), "conversations", "note") == []


def test_a_note_of_a_process_that_is_gone_is_told(store: Store, home: Path) -> None:
    keep(store, 1)
    note = home / "golem" / "locks" / f"{IDENTITY.format(1)}.holder"
    note.write_text("{}", encoding="utf-8")
    (told,) = checks(doctor(), "conversations", "note")
    assert told == f"1 note in {note.parent} names a process that is gone; such notes do no harm"
    for number in range(2, 5):
        note.with_name(f"{IDENTITY.format(number)}.holder").write_text("{}", encoding="utf-8")
    (told,) = checks(doctor(), "conversations", "note")
    assert told == f"4 notes in {note.parent} name processes that are gone; such notes do no harm"


def test_a_damaged_index_is_a_note(store: Store, home: Path) -> None:
    keep(store, 1)
    golem("list")
    assert checks(doctor(), "index", "ok") == [f"{home / 'golem' / 'index.sqlite3'} is sound"]
    (home / "golem" / "index.sqlite3").write_bytes(b"no database, and longer than a header of SQLite" * 9)
    assert "is damaged" in checks(doctor(), "index", "note")[0]


def advice(done: Finished, name: str) -> list[str]:
    (words,) = [shlex.split(each["advice"]) for each in done.json["checks"] if each["name"] == name]
    return words


def test_the_command_for_a_damaged_conversation_works_when_pasted(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = keep(
        store, 1, messages=(Message(role="user", content="hi"), Message(role="assistant", content="ho"))
    )
    cut = path.read_bytes().partition(b'"ho')[0]
    path.write_bytes(cut)
    (command,) = [each["advice"] for each in doctor().json["checks"] if each["name"] == "conversation"]
    monkeypatch.setenv("PATH", str(GOLEM.parent), prepend=os.pathsep)
    subprocess.run(command, shell=True, capture_output=True, check=True)  # noqa: S602 (as a person pastes it)
    assert [message.content for message in store.read(path.stem).messages] == ["hi"]
    assert path.with_name(f"{path.name}.orig").read_bytes() == cut


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_what_others_can_read_is_a_problem_that_its_command_mends(store: Store, home: Path) -> None:
    path = keep(store, 1)
    path.chmod(0o644)
    store.conversations.chmod(0o755)
    done = doctor()
    assert (done.code, done.json["problems"]) == (1, 2)
    for name in ("folder.conversations", "file.permissions"):
        subprocess.run(advice(done, name), check=True)
    assert (doctor().code, path.stat().st_mode & 0o777) == (0, 0o600)


def test_a_file_where_a_folder_is_needed_is_a_problem(home: Path) -> None:
    (home / "golem").mkdir(mode=0o700)
    (home / "golem" / "conversations").write_text("", encoding="utf-8")
    done = doctor()
    assert done.code == 1
    assert any("is no folder" in text for text in checks(done, "folders", "problem"))


def test_a_home_that_cannot_be_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("GOLEM_HOME", str(tmp_path / "file"))
    assert any("is no folder" in text for text in checks(doctor(), "folders", "problem"))
    monkeypatch.setenv("GOLEM_HOME", str(tmp_path / "file" / "below"))
    done = doctor()
    assert (done.code, done.err) == (1, "")
    assert any("cannot be made in" in text for text in checks(done, "folders", "problem"))


# Configuration and weights


def test_settings_that_cannot_be_read_are_a_problem(home: Path) -> None:
    (home / "golem").mkdir(mode=0o700)
    (home / "golem" / "config.toml").write_text("trimm = 4", encoding="utf-8")
    done = doctor()
    assert done.code == 1
    assert "did you mean 'trim'?" in checks(done, "configuration", "problem")[0]


def test_where_settings_come_from_and_what_means_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "golem").mkdir(mode=0o700)
    file = home / "golem" / "config.toml"
    file.write_text('model = "opnai:x"\n[providers.opnai]\nbase_url = "http://127.0.0.1:1"', encoding="utf-8")
    monkeypatch.setenv("GOLEM_TRIM", "4")
    monkeypatch.setenv("GOLEM_TRIMM", "4")
    done = doctor()
    assert (
        f"set: model from {file}, trim from environment GOLEM_TRIM" in checks(done, "configuration", "ok")[1]
    )
    variable, provider = checks(done, "configuration", "note")
    assert variable == "GOLEM_TRIMM is set and means nothing; did you mean GOLEM_TRIM?"
    assert "did you mean openai?" in provider
    assert "did you mean openai?" in checks(done, "configuration", "problem")[0]


def test_weights_that_are_not_the_right_ones_are_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_CACHE", str(tmp_path))
    assert any("fetched on first use" in text for text in checks(doctor(), "installation", "note"))
    from golem_cli.providers.local.weights import weights_path

    weights_path(tmp_path).write_bytes(b"GGUF")
    assert any("is not the file of" in text for text in checks(doctor(), "installation", "problem"))
    assert [path.name for path in tmp_path.iterdir()] == [weights_path(tmp_path).name]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes")
@pytest.mark.parametrize("kind", ["a folder", "a link to a folder", "a pipe"])
def test_what_stands_in_the_weights_place_is_moved_by_its_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    from golem_cli.providers.local.weights import weights_path

    monkeypatch.setenv("GOLEM_CACHE", str(tmp_path))
    OBSTACLES[kind](weights_path(tmp_path))
    assert any("is no file, and golem needs one there" in each for each in checks(doctor(), "installation"))
    subprocess.run(advice(doctor(), "weights"), check=True)
    assert any("fetched on first use" in text for text in checks(doctor(), "installation", "note"))


def test_a_wrong_variable_is_no_reason_to_look_at_the_settings_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLEM_TRIM", "many")
    (told,) = [each for each in doctor().json["checks"] if each["name"] == "settings"]
    assert "GOLEM_TRIM" in told["text"]
    assert "advice" not in told


# Keys and services


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    """A server at OpenAI's base URL, for which there is a key."""
    with HttpServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


@pytest.mark.parametrize(
    ("reply", "level", "words"),
    [
        (Reply(body=b'{"data": []}'), "ok", "OpenAI answers at 127.0.0.1:"),
        (Reply(status=404), "ok", "OpenAI answers, and lists no models"),
        (
            Reply(status=401, body=f"no: {KEY} {HOSTILE}".encode()),
            "problem",
            "refuses the key from OPENAI_API_KEY",
        ),
        (Reply(status=500), "problem", "OpenAI: 127.0.0.1:"),
        (Reply(silent=True), "problem", "does not answer within 0.2 s"),
    ],
)
def test_a_service_that_is_set_up_is_asked_and_its_key_never_shown(
    server: HttpServer, reply: Reply, level: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "SECONDS", 0.2 if reply.silent else 30.0)
    server.reply(reply)
    done = golem("doctor", "--json")
    assert done.code == (level == "problem")
    assert any(words in text for text in checks(done, "providers", level))
    (request,) = server.requests
    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY[:8] not in done.out
    assert "OpenAI: the key comes from OPENAI_API_KEY" in checks(done, "providers", "ok")


def test_offline_no_service_is_asked(server: HttpServer) -> None:
    server.reply(Reply())
    done = doctor()
    assert done.code == 0
    assert server.connections == 0
    assert "no service is asked (--offline)" in checks(done, "providers")


def test_anthropic_is_asked_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpServer([Reply(body=b"{}")]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        assert golem("doctor", "--json").code == 0
        (request,) = server.requests
    assert (request.path, request.headers["x-api-key"]) == ("/v1/models", KEY)


def test_a_server_that_is_gone_and_a_key_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    monkeypatch.setenv("GROQ_API_KEY", "two words")
    done = golem("doctor", "--json")
    first, second = checks(done, "providers", "problem")
    assert "the API key holds a character that no key has" in first
    assert "cannot be reached" in second
    assert "two words" not in done.out


def test_a_command_that_prints_a_key_is_not_run(home: Path, tmp_path: Path) -> None:
    (home / "golem").mkdir(mode=0o700)
    trace = tmp_path / "ran"
    with HttpServer([Reply(status=401)]) as server:
        (home / "golem" / "config.toml").write_text(
            f'[providers.openai]\nbase_url = "{server.url}/v1"\napi_key_command = ["touch", "{trace}"]',
            encoding="utf-8",
        )
        done = golem("doctor", "--json")
    assert done.code == 0
    assert not trace.exists()
    assert "OpenAI: the key comes from the command touch, which is not run here" in checks(done, "providers")
    assert "was not tried" in checks(done, "providers", "note")[0]


# What it says


def test_the_report_names_families_and_counts() -> None:
    lines = golem("doctor", "--offline").out.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [
        *("installation", "configuration", "providers", "folders", "conversations", "trash", "index"),
        lines[-1],
    ]
    assert lines[-1].startswith("0 problems, ")
