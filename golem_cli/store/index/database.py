"""The index as an SQLite file: what is asked of it, in SQL. None of its failures is a failure of golem's.

It is a rollback-journal database: one file, which works on network file systems and in folders that may only
be read. Words have no text beside them (a contentless table), so those of a conversation that changed stay
behind under a number that nobody has any more, until there are too many.
"""

from __future__ import annotations

import os
import unicodedata
import zlib
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from golem_cli.store.atomic import create_new, discard
from golem_cli.store.index.stamps import Stamp
from golem_cli.store.obstacles import obstacle_at
from golem_cli.store.summary import Summary

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

VERSION: Final = f"5, Unicode {unicodedata.unidata_version}"
"""The tables below, and what a word is, which changes with Unicode."""

_PATIENCE: Final = 1.0
"""Seconds to wait for another process that writes the index."""
_MOST_KEYS: Final = 50
"""Words of a query that narrow it down; SQLite refuses expressions of some 250."""
_SPARE: Final = 1000
"""Rows of words without a conversation that are let be."""

_CREATE: Final = (
    "CREATE TABLE about (version TEXT, stamps BLOB, words_checksum INTEGER)",
    (
        "CREATE TABLE conversation (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE,"
        " title TEXT, created_at TEXT, updated_at TEXT, message_count INTEGER, model TEXT, status TEXT,"
        " forked_from TEXT, imported_from TEXT, checksum INTEGER)"
    ),
    "CREATE INDEX newest ON conversation (updated_at, id)",
    "CREATE VIRTUAL TABLE words USING fts5 (text, content='', detail=none, columnsize=0, tokenize=ascii)",
)
_FIELDS: Final = (
    *("title", "created_at", "updated_at", "message_count", "model", "status"),
    *("forked_from", "imported_from"),
)
"""The columns between id and checksum, which are fields of a `Summary`."""
_INSERT: Final = "INSERT OR REPLACE INTO conversation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE: Final = "DELETE FROM conversation WHERE id = ?"
_NEWEST: Final = "SELECT * FROM conversation ORDER BY updated_at DESC, id DESC"
_HAVING: Final = (
    "SELECT * FROM conversation WHERE number IN (SELECT rowid FROM words WHERE words MATCH ?)"
    " AND (updated_at, id) < (?, ?) ORDER BY updated_at DESC, id DESC LIMIT ?"
)

_encode: Final = msgspec.msgpack.encode
_decode: Final = msgspec.msgpack.Decoder(dict[str, Stamp]).decode

_WRONG: Final = "it does not say what was written"
_WORDS: Final = ("SELECT id, block FROM words_data", "SELECT segid, term, pgno FROM words_idx")
"""What FTS5 keeps, in which it notices little of what is wrong."""

_NAMES: Final = ("", "-journal", "-wal", "-shm")
"""How the names of the files end that SQLite opens, the index's own first."""

_LAST: Final = chr(0x10FFFF)
"""What no time and no id comes after."""


class IndexUnusable(Exception):  # noqa: N818 (reads as what happened)
    """The index cannot be had now: somebody holds it, it cannot be written, or SQLite lacks something."""


class IndexDamaged(IndexUnusable):
    """The file is no index of this version."""


def obstacle_to(file: Path) -> tuple[Path, str] | None:
    """Return what is no regular file and has a name of the index at `file`, and what it is; None for nothing.

    SQLite would wait for the other end of a pipe, and write where a link leads. Raises `OSError`.
    """
    paths = (file.with_name(f"{file.name}{end}") for end in _NAMES)
    return next(((path, kind) for path in paths if (kind := obstacle_at(path))), None)


def _refuse_obstacles(file: Path) -> None:
    try:
        found = obstacle_to(file)
    except OSError as error:
        raise IndexUnusable(str(error)) from error
    if found is not None:
        raise IndexUnusable(f"{found[0]} is {found[1]}")


@contextmanager
def opened(file: Path, conversations: Path) -> Iterator[Database]:
    """Open the index at `file`, a new one when there is none, for its owner only.

    Raises `IndexUnusable` or `IndexDamaged`.
    """
    _refuse_obstacles(file)
    try:
        import sqlite3

        with suppress(FileExistsError):
            os.close(create_new(file))
    except (ImportError, OSError) as error:
        raise IndexUnusable(str(error)) from error
    with _sqlite_errors():
        connection = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
    with closing(connection):
        database = Database(connection, conversations)
        database.prepare()
        yield database


def damage_to(file: Path) -> str:
    """Say what is wrong with an index, looked at as a whole in a copy in memory; "" when nothing is.

    The file is opened as one that nobody changes: no other is made beside it.
    """
    try:
        import sqlite3
    except ImportError:
        return ""  # then there is no index in use either
    try:
        with (
            _sqlite_errors(),
            closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as source,
            closing(sqlite3.connect(":memory:", isolation_level=None)) as copy,
        ):
            source.backup(copy)
            (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                return " ".join(str(found).split())
            if copy.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                return ""  # it was only begun
            database = Database(copy, file.parent)
            if database.is_of_this_version():  # of another it is made anew
                copy.execute("INSERT INTO words (words) VALUES ('integrity-check')")
                database.check_words()
                for _ in database.newest():
                    pass  # each row is checked as it is read
    except IndexUnusable as error:
        return str(error)
    return ""


def remove(file: Path) -> None:
    """Remove an index, damaged or not, unless somebody works with it: then `IndexUnusable`.

    With the lock in hand nobody is in the middle of a change, and who has the file open finds out: SQLite
    refuses to write to a file that was removed. What is no file is somebody's, and stays.
    """
    _refuse_obstacles(file)
    import sqlite3

    with _sqlite_errors():
        connection = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
    with closing(connection):
        with suppress(IndexDamaged), _sqlite_errors():
            connection.execute("BEGIN EXCLUSIVE")
        if os.name == "nt":
            connection.close()  # Windows removes no file that is open
        discard(file)
        discard(file.with_name(f"{file.name}-journal"))


class Database:
    """An open index. Every method raises `IndexUnusable` or `IndexDamaged`; what was committed stays."""

    def __init__(self, connection: sqlite3.Connection, conversations: Path) -> None:
        self._connection = connection
        self._conversations = conversations

    def prepare(self) -> None:
        """Make the tables of a new index; of an old one check the version."""
        self._run("PRAGMA cache_size = -16000")
        self._run("PRAGMA synchronous = NORMAL")
        if self._run("SELECT count(*) FROM sqlite_master") == [(0,)]:
            with self.transaction():
                self._create()
        if not self.is_of_this_version():
            raise IndexDamaged("it is of another version")

    def is_of_this_version(self) -> bool:
        """Whether its tables are those that we know. Raises `IndexDamaged` where it has none at all."""
        return self._run("SELECT version FROM about") == [(VERSION,)]

    def _create(self) -> None:
        if self._run("SELECT count(*) FROM sqlite_master") != [(0,)]:
            return  # somebody else did while we waited
        try:
            for statement in _CREATE:
                self._run(statement)
        except IndexDamaged as error:
            raise IndexUnusable("this SQLite has no FTS5") from error
        self._run("INSERT INTO about VALUES (?, ?, ?)", VERSION, _encode({}), self._checksum_of_words())

    def knows_just(self, stamps: Mapping[str, Stamp]) -> bool:
        """Whether conversations were read under just these stamps, given in the order of their ids.

        Raises `IndexDamaged` when there is not a row for each.
        """
        if self._run("SELECT 1 FROM about WHERE stamps = ?", _encode(stamps)) != [(1,)]:
            return False
        if self._run("SELECT count(*) FROM conversation") != [(len(stamps),)]:
            raise IndexDamaged("conversations are gone")
        return True

    def stamps(self) -> dict[str, Stamp]:
        """Return the stamps under which conversations were read."""
        try:
            ((stamps,),) = self._run("SELECT stamps FROM about")
            return _decode(stamps)
        except (ValueError, TypeError, msgspec.MsgspecError) as error:
            raise IndexDamaged("its stamps cannot be read") from error

    def _remember(self, stamps: Mapping[str, Stamp]) -> None:
        """Keep all stamps in one value: it is compared in a moment, and read faster than one in each row."""
        self._run("UPDATE about SET stamps = ?", _encode(dict(sorted(stamps.items()))))

    def newest(self) -> Iterator[Summary]:
        """Yield all conversations, the one changed last first."""
        with _sqlite_errors():
            for row in self._connection.execute(_NEWEST):
                yield self._summary(*row)

    def having(self, keys: Sequence[tuple[str, bool]], limit: int, after: Summary | None) -> list[Summary]:
        """Return `limit` conversations with all of these words, newest first, those that follow `after`.

        A key is a word; True with it means that it is only the beginning of one.
        """
        last = (after.updated_at, after.conversation_id) if after else (_LAST, _LAST)
        terms = " AND ".join(f'"{word}"{"*" if prefix else ""}' for word, prefix in keys[:_MOST_KEYS])
        return [self._summary(*row) for row in self._run(_HAVING, terms, *last, limit)]

    def check_words(self) -> None:
        """Raise `IndexDamaged` when the words are not those that were written."""
        if self._run("SELECT words_checksum FROM about") != [(self._checksum_of_words(),)]:
            raise IndexDamaged(_WRONG)

    def _remember_words(self) -> None:
        self._run("SAVEPOINT flushed")  # at which FTS5 writes what it holds back until the end
        self._run("RELEASE flushed")
        self._run("UPDATE about SET words_checksum = ?", self._checksum_of_words())

    def _checksum_of_words(self) -> int:
        checksum = 0
        with _sqlite_errors():
            for statement in _WORDS:
                for row in self._connection.execute(statement):
                    checksum = zlib.crc32(_encode(row), checksum)
        return checksum

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that happens in the block, or nothing of it."""
        with self._until_its_end("BEGIN IMMEDIATE"):
            yield
            self._run("COMMIT")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything in the block as it is at one moment; nobody else can write meanwhile."""
        with self._until_its_end("BEGIN"):
            yield

    @contextmanager
    def _until_its_end(self, begin: str) -> Iterator[None]:
        self._run(begin)
        try:
            yield
        finally:
            with suppress(IndexUnusable):
                if self._connection.in_transaction:
                    self._run("ROLLBACK")

    def forget(self, ids: Collection[str]) -> None:
        """Remove conversations."""
        for each in ids:
            self._run(_DELETE, each)
        self._remember({each: stamp for each, stamp in self.stamps().items() if each not in ids})

    def clear_if_stale(self) -> None:
        """Remove everything when most words are nobody's any more."""
        ((live,),) = self._run("SELECT count(*) FROM conversation")
        if self._last_number() - live <= live + _SPARE:
            return
        self._run("DELETE FROM conversation")
        self._run("DELETE FROM sqlite_sequence")
        self._run("INSERT INTO words (words) VALUES ('delete-all')")
        self._remember_words()
        self._remember({})

    def keep(self, conversations: Iterable[tuple[Summary, Stamp, str]]) -> None:
        """Keep what conversations are, and the words of their `indexed` text.

        It takes the place of what is known of them. Nothing is kept of one that SQLite cannot hold.
        """
        stamps = self.stamps()
        number = self._last_number()
        for summary, stamp, text in conversations:
            number += 1
            row = [number, summary.conversation_id, *(getattr(summary, field) for field in _FIELDS)]
            try:
                self._run(_INSERT, *row, _checksum(row))
            except UnicodeEncodeError:  # a lone surrogate, in a title perhaps
                self._run(_DELETE, summary.conversation_id)
                stamps.pop(summary.conversation_id, None)
                continue
            self._run("INSERT INTO words (rowid, text) VALUES (?, ?)", number, text)
            stamps[summary.conversation_id] = stamp
        self._remember_words()
        self._remember(stamps)

    def _last_number(self) -> int:
        """Return the highest number that a conversation ever had."""
        return sum(last for (last,) in self._run("SELECT seq FROM sqlite_sequence"))

    def _summary(self, *row: Any) -> Summary:
        """Return what a row says. Raises `IndexDamaged` for one that says something else than was written."""
        *written, checksum = row
        if checksum != _checksum(written):
            raise IndexDamaged(_WRONG)
        _, conversation_id, *fields = written
        known = dict(zip(_FIELDS, fields, strict=True))
        return Summary(conversation_id=conversation_id, folder=self._conversations, **known)

    def _run(self, statement: str, *values: object) -> list[Any]:
        with _sqlite_errors():
            return self._connection.execute(statement, values).fetchall()


@contextmanager
def _sqlite_errors() -> Iterator[None]:
    """Tell damage from what passes, by SQLite's primary error code.

    What is damaged may also ask for endless memory, or give words that are no text, SQLite's own among them.
    """
    import sqlite3

    damage = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
        raise (IndexDamaged if code in damage else IndexUnusable)(str(error)) from error
    except (UnicodeDecodeError, MemoryError) as error:
        raise IndexDamaged(_WRONG) from error


def _checksum(row: Sequence[object]) -> int:
    return zlib.crc32(_encode(row))
