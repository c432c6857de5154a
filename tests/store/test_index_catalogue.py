"""The index: the same answers with and without it, whatever happens to the files or to the index."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from golem_cli.core.conversation import RunRecord
from golem_cli.core.message import Message
from golem_cli.store.index import database, refresh, stamps
from golem_cli.store.index.query import parse_query
from golem_cli.store.store import Store

IDS = [f"01890000-0000-7000-8000-{number:012x}" for number in range(12)]


@pytest.fixture(autouse=True)
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as at rest at once: the clock of the tests' file system ticks in nanoseconds."""
    monkeypatch.setattr(stamps, "_CLOCK_TICK", 0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def put(store: Store, number: int, *texts: str, **fields: Any) -> Path:
    messages = [{"role": "user", "content": text} for text in texts]
    moment = f"2026-01-01T00:00:{number:02}.000Z"
    value = {"golem": 1, "conversationId": IDS[number], "updatedAt": moment, "messages": messages, "runs": []}
    store.conversations.mkdir(parents=True, exist_ok=True)
    path = store.path_of(IDS[number])
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(value | fields))
    fresh.replace(path)
    return path


def index_of(store: Store) -> Path:
    return store.conversations.parent / "index.sqlite3"


def known(store: Store) -> set[str]:
    """The ids that the index holds."""
    with closing(sqlite3.connect(index_of(store))) as connection:
        return {row[0] for row in connection.execute("SELECT id FROM conversation")}


def found(store: Store, *words: str, limit: int | None = None) -> list[int]:
    return [IDS.index(hit.summary.conversation_id) for hit in store.search(parse_query(words), limit).hits]


def assert_same_without_index(store: Store, *queries: str) -> None:
    """Compare every answer with that of a store at the same folder whose index cannot be."""
    bare = Store(store.conversations.parent)
    bare._index = store.conversations.parent / "nowhere" / "index.sqlite3"
    assert store.summaries() == bare.summaries()
    assert store.summaries(2) == bare.summaries()[:2]
    assert store.newest() == bare.newest()
    for query in queries:
        assert store.search(parse_query([query])) == bare.search(parse_query([query]))


def test_an_empty_store_gets_no_index(store: Store) -> None:
    assert (store.summaries(), store.newest(), found(store, "x")) == ([], None, [])
    assert not index_of(store).exists()


def test_the_index_is_for_its_owner_only(store: Store) -> None:
    put(store, 1, "boat")
    before = os.umask(0)
    try:
        assert found(store, "boat") == [1]
    finally:
        os.umask(before)
    assert stat.S_IMODE(index_of(store).stat().st_mode) == 0o600


def test_the_index_has_no_sentence_of_a_conversation(store: Store) -> None:
    put(store, 1, "zebra yacht apple boat")
    assert found(store, "yacht apple") == [1]
    data = index_of(store).read_bytes()
    assert b"yacht apple" not in data
    assert b"apple" in data


def test_a_warm_index_answers_without_reading_a_conversation(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        put(store, number, f"boat {number}", title=f"title {number}")
    expected = store.summaries()

    def refuse(*_: object) -> None:
        raise AssertionError("a conversation was read")

    monkeypatch.setattr(refresh, "Outline", refuse)
    monkeypatch.setattr("golem_cli.store.outline.summarize", refuse)
    assert store.summaries() == expected
    assert store.summaries(2) == expected[:2]
    assert store.newest() == IDS[4]
    assert store.resolve("Title 3") == IDS[3]


def test_results_are_newest_first_and_as_many_as_asked_for(store: Store) -> None:
    for number in (3, 1, 2):
        put(store, number, "boat")
    assert found(store, "boat") == [3, 2, 1]
    assert found(store, "boat", limit=2) == [3, 2]


def test_a_limit_may_be_any_number(store: Store) -> None:
    put(store, 1, "boat")
    assert found(store, "boat", limit=10**30) == [1]
    assert len(store.summaries(10**30)) == 1


def test_more_results_than_a_page_come_all_and_once(store: Store) -> None:
    """Equal times too: then the id decides."""
    store.conversations.mkdir(parents=True)
    ids = [f"01890000-0000-7000-9000-{number:012x}" for number in range(300)]
    for number, each in enumerate(ids):
        moment = f"2026-01-01T00:00:{number % 3:02}.000Z"
        messages = [{"role": "user", "content": "boat"}]
        document = {"golem": 1, "updatedAt": moment, "messages": messages, "runs": []}
        store.path_of(each).write_text(json.dumps(document))
    hits = store.search(parse_query(["boat"])).hits
    order = [(hit.summary.updated_at, hit.summary.conversation_id) for hit in hits]
    assert order == sorted(order, reverse=True)
    assert {each for _, each in order} == set(ids)
    assert len(order) == 300


def test_what_changed_is_read_again_and_what_is_gone_is_forgotten(store: Store) -> None:
    for number in range(3):
        put(store, number, "boat")
    assert found(store, "boat") == [2, 1, 0]
    put(store, 1, "ship")
    store.path_of(IDS[0]).unlink()
    assert found(store, "boat") == [2]
    assert found(store, "ship") == [1]
    assert known(store) == {IDS[1], IDS[2]}


def test_an_edit_in_place_that_keeps_size_and_time_is_seen(store: Store) -> None:
    path = put(store, 1, "boat")
    assert found(store, "boat") == [1]
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"boat", b"ship"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (found(store, "boat"), found(store, "ship")) == ([], [1])


def test_a_file_that_changed_just_now_is_read_each_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system whose clock stands still, a second change might not show."""
    monkeypatch.setattr(stamps, "_CLOCK_TICK", 3_600_000_000_000)
    put(store, 1, "boat")
    assert found(store, "boat") == [1]
    assert known(store) == set()
    monkeypatch.setattr(stamps, "_CLOCK_TICK", 0)
    assert found(store, "boat") == [1]
    assert known(store) == {IDS[1]}


def test_an_open_conversation_is_found_by_what_its_journal_holds(store: Store) -> None:
    with store.create() as writer:
        writer.begin_run(RunRecord(run_id="r", prompt="about kingfishers"))
        assert [hit.summary.status for hit in store.search(parse_query(["kingfishers"])).hits] == ["running"]
        writer.note_partial("r", "they are blu")
        assert len(store.search(parse_query(["blu"])).hits) == 1
        writer.add_message(Message(role="assistant", content="They are blue.", run_id="r"))
        assert store.search(parse_query(["blu"])).hits == []
        assert len(store.search(parse_query(["blue"])).hits) == 1
        assert_same_without_index(store, "blue")


def test_damage_is_told_each_time_and_is_no_part_of_the_index(store: Store) -> None:
    put(store, 1, "boat")
    put(store, 2).write_text("nonsense about a boat")
    put(store, 3, messages=[{"role": "user", "content": 7}])
    for _ in range(2):
        result = store.search(parse_query(["boat"]))
        assert [hit.summary.conversation_id for hit in result.hits] == [IDS[1]]
        assert {each.conversation_id for each in result.damaged} == {IDS[2], IDS[3]}
    assert known(store) == {IDS[1]}
    assert store.newest() == IDS[3]  # its header is whole
    assert_same_without_index(store, "boat")


def test_a_title_that_no_database_holds_is_read_each_time(store: Store) -> None:
    put(store, 1, "boat", title="\ud800 odd")
    for _ in range(2):
        assert found(store, "boat") == [1]
        assert store.summaries()[0].title == "\ud800 odd"
    assert known(store) == set()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no database at all, and long enough for a header" * 40),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        lambda path: path.write_bytes(path.read_bytes()[:4096] + os.urandom(len(path.read_bytes()) - 4096)),
        lambda path: alter(path, "DROP TABLE words"),
        lambda path: alter(path, "DROP TABLE conversation"),
        lambda path: alter(path, "UPDATE about SET version = '0'"),
        lambda path: alter(path, "DELETE FROM about"),
    ],
    ids=["empty", "text", "torn", "overwritten", "no words", "no conversations", "another version", "none"],
)
def test_a_damaged_index_is_made_anew(store: Store, damage: Any) -> None:
    for number in range(3):
        put(store, number, "boat " * (number + 1), title=f"t{number}")
    expected = store.summaries()
    damage(index_of(store))
    assert found(store, "boat") == [2, 1, 0]
    assert store.summaries() == expected
    assert known(store) == set(IDS[:3])


@pytest.mark.parametrize("seed", range(4))
def test_whatever_bytes_of_an_index_are_wrong_the_answers_are_those_of_the_files(
    store: Store, seed: int
) -> None:
    """A byte, three, thirty, three hundred, the end, a page: it opens or it does not, and nobody notices."""
    random = Random(seed)  # noqa: S311 (the same each time)
    for number in range(12):
        words = " ".join(f"w{number}x{each}" for each in range(400))
        put(store, number, f"boat {words}", title=f"title {number}")
    assert found(store, "boat") == list(range(11, -1, -1))
    sound = index_of(store).read_bytes()
    for _ in range(40):
        data = bytearray(sound)
        kind = random.choice(["bytes", "bytes", "bytes", "cut", "page"])
        if kind == "bytes":
            for _ in range(random.choice([1, 3, 30, 300])):
                data[random.randrange(len(data))] = random.randrange(256)
        elif kind == "cut":
            del data[random.randrange(len(data)) :]
        else:
            start = random.randrange(0, len(data), 4096)
            data[start : start + 4096] = bytes(4096)
        index_of(store).write_bytes(data)
        database.damage_to(index_of(store))  # fails at none
        assert_same_without_index(store, "boat", "w3x77", "w1*")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE words_data SET block = zeroblob(length(block))",
        "UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE words_data SET block = x'ffff'",
        "DELETE FROM words_data",
        "INSERT INTO words (words) VALUES ('delete-all')",
    ],
)
def test_words_that_are_lost_in_an_index_that_sqlite_takes_for_sound_are_found_again(
    store: Store, statement: str
) -> None:
    for number in range(3):
        put(store, number, "boat " * (number + 1))
    assert found(store, "boat") == [2, 1, 0]
    assert database.damage_to(index_of(store)) == ""
    alter(index_of(store), statement)
    with closing(sqlite3.connect(index_of(store))) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert database.damage_to(index_of(store))
    assert found(store, "boat") == [2, 1, 0]
    assert database.damage_to(index_of(store)) == ""


def test_an_index_that_was_only_begun_is_no_damage(store: Store) -> None:
    put(store, 1, "boat")
    index_of(store).touch()
    assert database.damage_to(index_of(store)) == ""
    assert found(store, "boat") == [1]


def alter(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_folder_in_the_way_of_the_index_is_let_be(store: Store) -> None:
    put(store, 1, "boat")
    index_of(store).mkdir()
    assert found(store, "boat") == [1]
    assert_same_without_index(store, "boat")
    assert index_of(store).is_dir()


@contextmanager
def held(path: Path, lock: str) -> Iterator[None]:
    """Hold the index as another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"BEGIN {lock}")
        yield
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_an_index_that_another_process_holds_is_done_without(
    store: Store, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changed meanwhile is told all the same, and old rows are not."""
    monkeypatch.setattr(database, "_PATIENCE", 0.05)
    for number in range(4):
        put(store, number, "boat")
    assert found(store, "boat") == [3, 2, 1, 0]
    put(store, 3, "ship")
    store.path_of(IDS[2]).unlink()
    with held(index_of(store), lock):
        assert found(store, "boat") == [1, 0]
        assert found(store, "ship") == [3]
        assert_same_without_index(store, "boat", "ship")
    assert known(store) == set(IDS[:4])
    assert found(store, "boat") == [1, 0]
    assert known(store) == {IDS[0], IDS[1], IDS[3]}


def test_a_damaged_index_that_somebody_writes_is_not_removed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_PATIENCE", 0.05)
    put(store, 1, "boat")
    store.summaries()
    alter(index_of(store), "UPDATE about SET version = '0'")
    with held(index_of(store), "IMMEDIATE"):
        inode = index_of(store).stat().st_ino
        assert found(store, "boat") == [1]
        assert index_of(store).stat().st_ino == inode
    assert found(store, "boat") == [1]
    assert known(store) == {IDS[1]}


def test_a_python_without_sqlite_reads_the_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, 1, "boat")
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert found(store, "boat") == [1]
    assert [each.conversation_id for each in store.summaries()] == [IDS[1]]
    assert not index_of(store).exists()


def test_an_sqlite_without_fts5_reads_the_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, 1, "boat")
    missing = [statement.replace("fts5", "fts9") for statement in database._CREATE]
    monkeypatch.setattr(database, "_CREATE", missing)
    assert found(store, "boat") == [1]
    assert_same_without_index(store, "boat")


def test_words_of_nobody_are_thrown_out_when_there_are_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_SPARE", 5)
    put(store, 0, "anchor")
    for number in range(30):
        put(store, 1, f"boat{number}")
        assert found(store, f"boat{number}") == [1]
    with closing(sqlite3.connect(index_of(store))) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM words WHERE words MATCH 'boat*'").fetchone()
    assert rows < 12
    assert found(store, "anchor") == [0]


def test_a_conversation_that_sqlite_cannot_hold_any_more_is_not_known_as_it_was(store: Store) -> None:
    """A lone surrogate came into its title; the others stay known."""
    for number in range(3):
        put(store, number, "boat")
    assert found(store, "boat") == [2, 1, 0]
    put(store, 1, "boat", title="\ud800")
    assert found(store, "boat") == [2, 1, 0]
    assert known(store) == {IDS[0], IDS[2]}
    assert_same_without_index(store, "boat")


def test_a_moved_store_takes_its_index_along(store: Store, tmp_path: Path) -> None:
    """Paths are those of where it is now."""
    old = tmp_path / "old"
    first = Store(old)
    put(first, 1, "boat")
    assert found(first, "boat") == [1]
    moved = Store(old.rename(tmp_path / "new"))
    assert [each.path for each in moved.summaries()] == [moved.path_of(IDS[1])]
    assert store.summaries() == []


def test_a_copied_store_is_read_anew(tmp_path: Path) -> None:
    """A copy's files have other inodes, and the copy of the index knows none of them."""
    first = Store(tmp_path / "old")
    put(first, 1, "boat")
    assert found(first, "boat") == [1]
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    copy = Store(tmp_path / "new")
    put(copy, 1, "ship")
    assert (found(copy, "ship"), found(copy, "boat"), found(first, "boat")) == ([1], [], [1])


def test_emptying_the_trash_leaves_no_word_behind(store: Store) -> None:
    put(store, 1, "boat")
    put(store, 2, "zebra")
    assert found(store, "zebra") == [2]
    store.delete(IDS[2])
    assert found(store, "zebra") == []
    assert store.empty_trash() == 1
    assert found(store, "boat") == [1]
    assert b"zebra" not in index_of(store).read_bytes()


WORKER = """
import json, sys
from pathlib import Path
from golem_cli.store.store import Store
from golem_cli.store.index import stamps
from golem_cli.store.index.query import parse_query
stamps._CLOCK_TICK = 0
store, name = Store(Path(sys.argv[1])), sys.argv[2]
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    identifier = f"0189{name}-0000-7000-8000-{number:012x}"
    document = {"golem": 1, "messages": [{"role": "user", "content": f"boat w{number}of{name}"}], "runs": []}
    fresh = store.path_of(identifier).with_suffix(".new")
    fresh.write_text(json.dumps(document))
    fresh.replace(store.path_of(identifier))
    hits = store.search(parse_query([f"w{number}of{name}"])).hits
    assert [hit.summary.conversation_id for hit in hits] == [identifier], hits
    assert len(store.summaries()) > number
"""


def worker(store: Store, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(store.conversations.parent), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_many_processes_write_one_index(store: Store) -> None:
    """Each finds its own conversation the moment it is there; afterwards the index is right."""
    store.conversations.mkdir(parents=True)
    workers = [worker(store, f"{number:04x}", 15) for number in range(4)]
    for each in workers:
        _, errors = each.communicate(timeout=120)
        assert (each.returncode, errors) == (0, "")
    assert len(store.search(parse_query(["boat"])).hits) == 60
    assert len(known(store)) == 60
    assert_same_without_index(store, "boat", "w7of0002")


def test_a_process_that_is_killed_leaves_an_index_that_is_right(store: Store) -> None:
    """At ten moments; whatever it was in the middle of is undone or done."""
    store.conversations.mkdir(parents=True)
    for round_ in range(10):
        process = worker(store, f"{round_:04x}", 10_000)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + 0.037 * round_)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert_same_without_index(store, "boat", f"w0of{round_:04x}")


FULL = """
import resource, sys
from pathlib import Path
from golem_cli.store.index import stamps
from golem_cli.store.index.query import parse_query
from golem_cli.store.store import Store

stamps._CLOCK_TICK = 0
store = Store(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
print(len(store.search(parse_query(["boat"])).hits), len(store.summaries()), store.newest())
"""


@pytest.mark.parametrize("room", [0, 1000, 5000, 20_000, 60_000, 200_000])
def test_a_full_disk_is_no_failure(store: Store, room: int) -> None:
    """Files may grow to so many bytes; what was committed before stays right."""
    for number in range(12):
        put(store, number, "boat", " ".join(f"w{number}x{word}" for word in range(2000)))
    command = [sys.executable, "-c", FULL, str(store.conversations.parent), str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"12 12 {IDS[11]}\n", "")
    assert_same_without_index(store, "boat", "w3x77")
    assert len(known(store)) == 12


class Changes(RuleBasedStateMachine):
    """Any order of writes, edits, damage and deletion, of conversations and of the index."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.mkdtemp()
        self.store = Store(Path(self.folder))
        self.store.conversations.mkdir(parents=True)

    def teardown(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder)

    numbers = st.integers(0, 3)
    words = st.sampled_from(["boat", "Boats", "漢字", "blue boat", "\ud800"])

    @rule(number=numbers, text=words, title=words)
    def write(self, number: int, text: str, title: str) -> None:
        """A conversation is written, by whoever."""
        put(self.store, number, text, title=title)

    @rule(number=numbers, text=words)
    def converse(self, number: int, text: str) -> None:
        """A run adds to one; a list is asked for in the middle."""
        put(self.store, number)
        with self.store.open(IDS[number]) as writer:
            writer.begin_run(RunRecord(run_id="r", prompt="blue"))
            writer.note_partial("r", "boat")
            self.the_answers_are_the_same()
            writer.add_message(Message(role="user", content=text.replace("\ud800", ""), run_id="r"))

    @rule(number=numbers)
    def damage(self, number: int) -> None:
        """A file becomes something else."""
        put(self.store, number).write_bytes(b"\x00 boat")

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        """A file goes away."""
        self.store.path_of(IDS[number]).unlink(missing_ok=True)

    @rule()
    def lose_the_index(self) -> None:
        """Somebody removes the index."""
        index_of(self.store).unlink(missing_ok=True)

    @rule()
    def damage_the_index(self) -> None:
        """Somebody overwrites the index."""
        index_of(self.store).write_bytes(b"boat" * 2000)

    @invariant()
    def the_answers_are_the_same(self) -> None:
        """With the index and without it."""
        assert_same_without_index(self.store, "boat", "blue boat", "漢", "bo*")


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=20, stateful_step_count=12, deadline=None)
