"""Whole files, read and written so that nobody sees a half: write aside, fsync, rename, fsync the folder."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_RECOGNISED = 48
"""Characters of a name that its temporary files bear: all of a conversation's, at most 192 bytes of any."""
_OPEN_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


def revision_of(data: bytes) -> str:
    """Return what identifies the content of a file; equal for equal bytes, never empty."""
    import hashlib

    return hashlib.sha256(data).hexdigest()[:32]


def read_regular(path: Path, *, follow: bool = False) -> bytes:
    """Read a regular file. A folder, pipe or device raises `OSError`, so does a symlink unless `follow`."""
    flags = os.O_RDONLY | _OPEN_FLAGS | getattr(os, "O_NONBLOCK", 0)  # a pipe must not make us wait
    if not follow and not _NO_FOLLOW and path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    descriptor = os.open(path, flags if follow else flags | _NO_FOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        refuse_irregular(descriptor, path)
        return file.read()


def refuse_irregular(descriptor: int, path: Path) -> None:
    """Raise `OSError` when what was opened at `path` is a folder, a pipe or a device."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def make_folder(path: Path) -> None:
    """Create the folder and its missing parents, each for its owner only. An existing one keeps its mode."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    except FileNotFoundError:  # its parent is there: it is one, like /proc, that lets nobody make folders
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path)) from None
    sync_folder(path.parent)


def write_aside(
    path: Path, data: bytes, *, mode: int = PRIVATE_FILE, like: os.stat_result | None = None
) -> Path:
    """Write `data` to a new file beside `path`, on disk and read back when this returns; return its path.

    It is created with `mode`, as far as the umask lets it. With the status of another file in `like` it gets
    that one's permissions, and its owner where the system permits. On an error nothing is left behind. The
    caller renames it. Its name says whose it is, and stays short where `path` is as long as names can be.
    """
    import secrets

    temporary = path.with_name(f"{_beginning(path)}{secrets.token_hex(6)}.tmp")
    with discarded_on_error(temporary):
        descriptor = create_new(temporary, mode=mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _make_alike(descriptor, like)
            os.fsync(descriptor)
        if read_regular(temporary) != data:
            raise OSError(errno.EIO, "it does not read back as it was written", str(temporary))
    return temporary


def discard_leftovers(path: Path) -> None:
    """Remove what died in `write_aside` for `path`; never an error. Only for its writer, once it is whole."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(_beginning(path)) and entry.name.endswith(".tmp"):
                discard(Path(entry.path))


def _beginning(path: Path) -> str:
    return f".{path.name[:_RECOGNISED]}."


def _make_alike(descriptor: int, like: os.stat_result) -> None:
    """Give a file of ours the owner and the permissions of another; Windows has neither in this form."""
    if hasattr(os, "fchown"):
        with suppress(OSError):  # only the superuser may give files away
            os.fchown(descriptor, like.st_uid, like.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename `temporary` over `path`; on an error `temporary` is removed."""
    with discarded_on_error(temporary):
        temporary.replace(path)
    sync_folder(path.parent)


def create_new(path: Path, *, mode: int = PRIVATE_FILE) -> int:
    """Open a new file for writing and return its descriptor; `FileExistsError` when the name is taken."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _OPEN_FLAGS, mode)


def sync_folder(path: Path) -> None:
    """Bring the folder's names to disk, where the system lets folders be synced (Windows does not)."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # some network file systems
            raise
    finally:
        os.close(descriptor)


def keep_original(path: Path, *, suffix: str, copied: bool = False, journal: Path | None = None) -> Path:
    """Give the file at `path` a second name, such as `name.orig`, `name.orig.2`, …; none is ever replaced.

    The second name is the untouched file itself: a later rename over `path` leaves it alone. Its number is
    above all others, also when lower ones were removed, so that the highest is always the newest. A file that
    is written on in place has to be `copied`; so is its `journal`, under the same number.
    """
    both = [path] if journal is None else [path, journal]
    number = max((number for each in both for number, _ in backups(each, suffix)), default=0) + 1
    while True:
        backup = numbered(path, suffix, number)
        try:
            (copy_new if copied else second_name)(path, backup)
            if journal is not None:
                with discarded_on_error(backup):
                    copy_new(journal, numbered(journal, suffix, number))
        except FileExistsError:
            number += 1
        else:
            sync_folder(path.parent)
            return backup


def numbered(path: Path, suffix: str, number: int) -> Path:
    """Return the name of the `number`th backup of `path`, counted from 1.

    >>> numbered(Path("a.json"), ".orig", 1).name, numbered(Path("a.json"), ".orig", 2).name
    ('a.json.orig', 'a.json.orig.2')
    """
    return path.with_name(f"{path.name}{suffix}" + (f".{number}" if number > 1 else ""))


def backups(path: Path, suffix: str) -> Iterator[tuple[int, Path]]:
    """Yield the number and path of everything beside `path` that has the name of a backup of it."""
    first = numbered(path, suffix, 1).name
    for entry in path.parent.iterdir():
        tail = entry.name.removeprefix(first)
        if entry.name == first:
            yield 1, entry
        elif entry.name != tail and tail[:1] == "." and tail[1:].isdecimal():
            yield int(tail[1:]), entry


def second_name(path: Path, backup: Path) -> None:
    """Let `backup` name the file at `path` too. `FileExistsError` when that name is taken, by whatever."""
    try:
        backup.hardlink_to(path)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without hard links: an exclusive copy
        copy_new(path, backup)


def copy_new(path: Path, backup: Path) -> None:
    """Make `backup` a copy of the file at `path`. `FileExistsError` when that name is taken, by whatever."""
    data = path.read_bytes()
    descriptor = create_new(backup, mode=stat.S_IMODE(path.stat().st_mode))
    with discarded_on_error(backup), os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


@contextmanager
def discarded_on_error(path: Path) -> Iterator[None]:
    """Remove `path`, a file of ours, when the block ends in an error."""
    try:
        yield
    except BaseException:  # a Ctrl-C too leaves no file behind
        discard(path)
        raise


def discard(path: Path) -> None:
    """Remove a file of ours that nobody needs, if it is there; never an error."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
