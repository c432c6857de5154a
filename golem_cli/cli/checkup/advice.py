"""Commands that help where files and folders are not as golem needs them; each works when it is pasted."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


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
    target, number = path.with_name(f"{path.name}.away"), 1
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.name}.away.{number}")
    return pasted("mv", path, target)


def permitted(path: Path, mode: str) -> str:
    """Return the command that gives `path` the permissions `mode`: where that is not ours, a look at it."""
    try:
        owner = path.stat().st_uid
    except OSError:
        return looked_at(path)
    ours = os.name == "nt" or os.geteuid() in {0, owner}
    return pasted("chmod", mode, path) if ours else looked_at(path)


def nearest(path: Path) -> Path:
    """Return the path itself, or the nearest above it that is there and can be looked at."""
    return next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
