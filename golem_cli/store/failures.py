"""Operating system errors → one line of what, where and what to do. The only seam where the store does it."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from golem_cli.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WORDS = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.EROFS: "it is on a read-only file system",
    errno.EACCES: "permission denied; check who owns it",
    errno.EPERM: "the system does not permit it; check who owns it",
    errno.ENOENT: "it does not exist",
    errno.ENOTDIR: "a file stands where a folder is needed",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a symbolic link, and those are not followed here",
    errno.ENXIO: "it is not a regular file",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open on this machine",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EBADF: "it is closed",
    errno.EIO: "the disk reports an error",
}
if hasattr(errno, "EDQUOT"):  # not on every platform
    _WORDS[errno.EDQUOT] = "your disk quota is used up; free some space and try again"


@contextmanager
def store_errors(action: str, path: Path) -> Iterator[None]:
    """Raise a `StoreError` that says `cannot ACTION PATH: why` for an `OSError` in the block."""
    try:
        yield
    except OSError as error:
        reason = reason_of(error)
        if error.errno == errno.ENOENT and not path.parent.exists():
            reason = f"there is no folder {path.parent}; make it first"
        raise StoreError(f"cannot {action} {path}: {reason}") from error


def reason_of(error: OSError) -> str:
    """Say in words why the operating system refused.

    >>> reason_of(OSError(errno.ENOSPC, "x"))
    'the disk is full; free some space and try again'
    """
    if error.errno in _WORDS:
        return _WORDS[error.errno]
    return error.strerror or str(error) or type(error).__name__
