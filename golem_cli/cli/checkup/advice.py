"""Commands that help where files and folders are not as golem needs them; each works when it is pasted."""

from __future__ import annotations

import os
import shlex
import stat
from itertools import count
from pathlib import Path

from golem_cli.store.atomic import numbered
from golem_cli.store.originals import AWAY


def pasted(*words: str | Path) -> str:
    """Return a command line that a shell takes apart into `words` again.

    >>> pasted("chmod", "700", Path("my folder"))
    "chmod 700 'my folder'"
    """
    return shlex.join(str(word) for word in words)


def looked_at(path: Path) -> str:
    """Return the command that shows who owns `path`, or the nearest above it that can be looked at."""
    return pasted("ls", "-ld", nearest(path))


def moved_away(path: Path) -> str:
    """Return the command that takes from `path` what stands there; nothing is overwritten, and it is kept."""
    names = (numbered(path, AWAY, number) for number in count(1))
    return pasted("mv", path, next(name for name in names if not os.path.lexists(name)))


def permitted(path: Path, mode: str) -> str:
    """Return the command that gives `path` the permissions `mode`: where that is not ours, a look at it."""
    try:
        owner = path.stat().st_uid
    except OSError:
        return looked_at(path)
    ours = os.name == "nt" or os.geteuid() in {0, owner}
    return pasted("chmod", mode, path) if ours else looked_at(path)


def way_to_file(path: Path, mode: str, *, access: int = os.R_OK, follow: bool = True) -> str:
    """Return the command for what has a file's name and is of no use as one; "" for a sound file, or none.

    What is no file is moved away, so is a link unless we `follow` it; a file that does not let us have
    `access` gets the permissions `mode`; what cannot be seen at all is looked at.
    """
    try:
        status = path.stat(follow_symlinks=follow)
    except OSError as error:
        if os.path.islink(path):  # noqa: PTH114 (never raises)
            return moved_away(path)
        return "" if isinstance(error, FileNotFoundError) else looked_at(path)
    if not stat.S_ISREG(status.st_mode):
        return moved_away(path)
    return "" if os.access(path, access) else permitted(path, mode)


def takes_new(folder: Path) -> bool:
    """Whether golem may make files and folders in `folder`."""
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def nearest(path: Path) -> Path:
    """Return the path itself, or the nearest above it that is there and can be looked at."""
    return next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
