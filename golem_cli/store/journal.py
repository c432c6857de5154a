r"""The journal: an append-only file of self-checking lines, each of them complete or ignored.

A line is `CRC LENGTH TIME KIND PAYLOAD\n`: CRC-32 (eight hex digits) and length in bytes (decimal) cover
what follows them, so that a torn or damaged line is recognised and skipped. A payload has no line break.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.errors import ConversationChanged
from golem_cli.store.atomic import PRIVATE_FILE, discard, refuse_irregular, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe in its place must not make us wait
)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the journal. `at` is RFC 3339; `kind` is a word; `payload` holds no line break."""

    kind: str
    at: str
    payload: bytes


def encode(entry: Entry) -> bytes:
    """Return the entry's line, line break included."""
    body = b"%s %s %s" % (entry.at.encode(), entry.kind.encode(), entry.payload)
    if b"\n" in body:
        raise ValueError("a journal entry is one line")
    return b"%08x %d %s\n" % (zlib.crc32(body), len(body), body)


def decode(data: bytes) -> tuple[list[Entry], int]:
    """Read a journal's bytes: the whole entries in order, and how many damaged lines were skipped.

    A last line without its line break is one that was never completed: ignored and not counted.
    """
    *lines, _torn = data.split(b"\n")
    entries = [_decode_line(line) for line in lines if line]
    whole = [entry for entry in entries if entry is not None]
    return whole, len(entries) - len(whole)


def _decode_line(line: bytes) -> Entry | None:
    crc, _, rest = line.partition(b" ")
    length, _, body = rest.partition(b" ")
    if crc != b"%08x" % zlib.crc32(body) or length != b"%d" % len(body):
        return None
    try:
        at, kind, payload = body.split(b" ", 2)
        return Entry(kind=kind.decode("ascii"), at=at.decode("ascii"), payload=payload)
    except ValueError:  # whole, but not written by any golem
        return None


class JournalFile:
    """A journal open for appending. It is created by the first `append`, which puts `prelude` before it.

    `size` is what it has to have when it is opened: 0 for one that is new. A failed append leaves no trace:
    the next one cuts off what the failed one may have written.
    """

    def __init__(self, path: Path, *, prelude: Sequence[Entry] = (), size: int = 0) -> None:
        self.path = path
        self._prelude = prelude
        self._descriptor: int | None = None
        self._end = size
        self._torn = False
        self._begun = False

    @property
    def size(self) -> int:
        """Bytes of complete entries."""
        return self._end

    def append(self, entries: Iterable[Entry], *, sync: bool = True) -> bool:
        """Append all of `entries`; on disk when this returns, unless `sync` is off.

        Return whether they will be found: not when the file is no longer where it was.
        Raises `OSError`, or `ConversationChanged` when somebody else has written the file: where the system
        has no locks, or the lock was removed.
        """
        descriptor = self._open()
        lines = b"".join(map(encode, entries))
        if not self._begun:
            # The line break ends whatever a dying process left unfinished in a journal that was there before.
            lines = (b"\n" if self._end else b"") + b"".join(map(encode, self._prelude)) + lines
        if self._torn:
            os.ftruncate(descriptor, self._end)
        self._refuse_others(descriptor)
        self._torn = True
        _write_all(descriptor, lines)
        if sync:
            os.fsync(descriptor)
        if not self._is_in_place(descriptor):
            return False
        self._torn = False
        self._end += len(lines)
        self._begun = True
        return True

    def _open(self) -> int:
        if self._descriptor is None:
            descriptor = os.open(self.path, _FLAGS, PRIVATE_FILE)
            try:
                refuse_irregular(descriptor, self.path)
                self._refuse_others(descriptor)
                sync_folder(self.path.parent)
            except BaseException:  # a Ctrl-C too leaves no descriptor open
                os.close(descriptor)
                raise
            self._descriptor = descriptor
        return self._descriptor

    def _refuse_others(self, descriptor: int) -> None:
        if os.fstat(descriptor).st_size != self._end:
            raise ConversationChanged(
                f"{self.path} was written by somebody else; nothing was added: "
                "open the conversation again to have both"
            )

    def _is_in_place(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(self.path.lstat(), os.fstat(descriptor))
        except (FileNotFoundError, NotADirectoryError):  # gone, or a file in its folder's place
            return False
        except PermissionError:  # we may not look: who closed the folder left the file in it
            return True

    def close(self) -> None:
        """Close the file and leave it where it is; never an error."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):  # what had to be on disk was synced
                os.close(descriptor)

    def drop(self) -> None:
        """Close the file and remove it, since all of it was folded; what others added to it stays.

        Never an error: one that cannot be removed is emptied, or left, its last mark naming the new file.
        """
        if self._descriptor is not None:
            with suppress(OSError):
                self._remove(self._descriptor)
        self.close()

    def _remove(self, descriptor: int) -> None:
        if not self._is_in_place(descriptor) or os.fstat(descriptor).st_size != self._end:
            return
        discard(self.path)
        if self._is_in_place(descriptor):
            os.ftruncate(descriptor, 0)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
