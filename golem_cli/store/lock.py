"""One writer for each conversation: an advisory lock that dies with its process, and who holds it."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.errors import ConversationLocked
from golem_cli.store.atomic import PRIVATE_FILE, discard, make_folder, read_regular
from golem_cli.store.failures import store_errors

if TYPE_CHECKING:
    from pathlib import Path

    from filelock import BaseFileLock

if sys.platform != "win32":
    import fcntl

_PATIENCE = 0.5
"""Seconds to wait for the lock: a reader that looks whether it is held has it for a moment."""
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK})
"""How a file system says that it has no locks."""


class ConversationLock:
    """The right to write a conversation. Its file stays when it is released: removing it would race.

    On a file system without locks it is taken all the same: there the writer's revision checks alone see to
    it that nothing is lost.
    """

    def __init__(self, folder: Path, conversation_id: str, *, since: str) -> None:
        self._folder = folder
        self._id = conversation_id
        self._since = since
        self._lock: BaseFileLock | None = None
        self._taken = False

    def acquire(self) -> None:
        """Take the lock, or raise `ConversationLocked` with its holder in words. Twice is once."""
        if self._taken:
            return
        path = _lock_path(self._folder, self._id)
        with store_errors("lock", path):
            make_folder(self._folder)
            self._lock = self._locked(path)
        self._taken = True
        _write_holder(_holder_path(self._folder, self._id), self._since)

    def _locked(self, path: Path) -> BaseFileLock | None:
        """Take the operating system's lock; None where there are none."""
        from filelock import FileLock, Timeout

        lock = FileLock(path, mode=PRIVATE_FILE, thread_local=False)
        try:
            with warnings.catch_warnings(action="ignore", category=UserWarning):  # that there are no locks
                lock.acquire(timeout=_PATIENCE, poll_interval=0.01)
        except Timeout:
            holder = holder_of(self._folder, self._id)
            raise ConversationLocked(
                f"conversation {self._id} is open in {holder}; read it, fork it, or close it there",
                holder=holder,
            ) from None
        except NotImplementedError:
            return None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return None
        return lock

    def release(self) -> None:
        """Give the lock back; a second time does nothing."""
        if self._taken:
            discard(_holder_path(self._folder, self._id))
            if self._lock is not None:
                self._lock.release()
            self._lock, self._taken = None, False


def is_held(folder: Path, conversation_id: str) -> bool:
    """Whether some process, this one included, writes the conversation now. Creates and changes nothing.

    A look shares the lock with other looks, so that nobody takes one for a writer.
    """
    path = _lock_path(folder, conversation_id)
    if sys.platform == "win32":
        return _is_held_on_windows(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not make us wait
    except OSError:  # nobody ever wrote it, or we may not look
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)  # which gives the lock back
    return False


def _is_held_on_windows(path: Path) -> bool:
    if not path.is_file():
        return False
    from filelock import FileLock, Timeout

    probe = FileLock(path, timeout=0, mode=PRIVATE_FILE, thread_local=False)
    try:
        probe.acquire()
    except Timeout:
        return True
    except OSError:  # we may not even open it
        return False
    probe.release()
    return False


def holder_of(folder: Path, conversation_id: str) -> str:
    """Say who holds the lock, as far as it is known.

    The words come from a file: untrusted.
    """
    try:
        note = msgspec.json.decode(read_regular(_holder_path(folder, conversation_id)))
        return f"process {int(note['pid'])} on {note['host']!s}, since {note['since']!s}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _write_holder(path: Path, since: str) -> None:
    import socket

    note = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
    with suppress(OSError):  # a courtesy to others; the lock holds without it
        discard(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(note))


def _lock_path(folder: Path, conversation_id: str) -> Path:
    return folder / f"{conversation_id}.lock"


def _holder_path(folder: Path, conversation_id: str) -> Path:
    return folder / f"{conversation_id}.holder"
