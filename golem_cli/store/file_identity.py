"""What changes when a file is replaced or written: cheap to look at, and enough to know it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from pathlib import Path

Identity = tuple[int, int, int, int] | None
"""Number, size in bytes, and the times of the last writing and the last change, in nanoseconds."""


def identity_of(path: Path) -> Identity:
    """Return the identity of the file at `path`; None when there is none."""
    try:
        return identity_from(path.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def identity_from(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return the identity of a file with this status."""
    # ctime: an editor may set the mtime back, and some file systems count it in seconds
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
