"""What has a name in the store: nothing, a regular file, or what is in a file's way. No link is followed."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_KINDS: Final = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def is_there(path: Path) -> bool:
    """Whether anything has this name, be it a link that leads nowhere. Raises `OSError`."""
    return _mode_of(path) is not None


def obstacle_at(path: Path) -> str:
    """Say what stands at `path` and is no regular file; "" when one does, or nothing. Raises `OSError`.

    >>> from pathlib import Path
    >>> obstacle_at(Path("/")), obstacle_at(Path("/nothing is here"))
    ('a folder', '')
    """
    mode = _mode_of(path)
    if mode is None or stat.S_ISREG(mode):
        return ""
    return next((kind for is_one, kind in _KINDS if is_one(mode)), "a device")


def _mode_of(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
