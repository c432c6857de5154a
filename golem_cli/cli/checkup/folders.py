"""The folders: who may read them, whether golem may write there, and how much room is left."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from golem_cli.cli.checkup.advice import (
    looked_at,
    moved_away,
    nearest,
    pasted,
    permitted,
    takes_new,
    way_to_file,
)
from golem_cli.cli.checkup.check import Check, Scope, guarded, note, ok, problem

SCARCE: Final = 50_000_000
"""Free bytes below which saving may soon fail."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def folders(scope: Scope) -> Iterator[Check]:
    """Check folders, permissions and free space."""
    paths = scope.paths
    yield from _folder("data", paths.data, private=False)
    for name in ("conversations", "trash", "locks"):
        yield from _folder(name, paths.data / name, private=True)
    if paths.config != paths.data:
        yield from _folder("configuration", paths.config, private=False)
    yield from _folder("state", paths.state, private=True)
    yield from guarded("prompts", _prompt_history(paths.prompt_history))
    yield from _files(paths.prompt_history, *sorted(paths.data.glob("index.sqlite3*")))
    yield from guarded("space", _room(paths.data))


def _folder(name: str, path: Path, *, private: bool) -> Iterator[Check]:
    check = f"folder.{name}"
    try:
        status = path.stat()
    except OSError as error:
        yield from _unseen(check, path, error, private=private)
        return
    if not stat.S_ISDIR(status.st_mode):
        way = moved_away(path) if private else looked_at(path)
        yield problem(check, f"{path} is no folder, and golem needs one there", way)
    elif _on_read_only_file_system(path):
        text = f"golem may not write in {path}: its file system is read-only, and no permission changes that"
        yield problem(check, text, pasted("df", path))
    elif not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield problem(check, f"golem may not write in {path}", permitted(path, "u+rwx"))
    elif private and _open_to_others(status.st_mode):
        text = f"others can look into {path} (mode {stat.S_IMODE(status.st_mode):04o})"
        yield problem(check, text, permitted(path, "700"))
    elif not private and _open_to_others(status.st_mode):
        yield note(check, f"others can see what is in {path}, though not the conversations below it")
    else:
        yield ok(check, f"{path} is for its owner only")


def _unseen(check: str, path: Path, error: OSError, *, private: bool) -> Iterator[Check]:
    """Say why a folder cannot be seen; nothing of one that is made when it is needed."""
    if os.path.islink(path):  # noqa: PTH114 (never raises)
        text = f"{path} is a link that leads nowhere, and golem needs a folder there"
        yield problem(check, text, moved_away(path))
    elif not isinstance(error, FileNotFoundError | NotADirectoryError):
        yield problem(check, f"{path} cannot be looked at: {error.strerror}", looked_at(path))
    elif not private:
        yield _not_there(check, path)


def _on_read_only_file_system(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _not_there(check: str, path: Path) -> Check:
    above = nearest(path)
    if takes_new(above):
        return ok(check, f"{path} is not there yet; it is made when it is needed")
    return problem(check, f"{path} is not there and cannot be made in {above}", looked_at(above))


def _prompt_history(path: Path) -> Iterator[Check]:
    """Yield a note when earlier prompts cannot be kept: the chat says nothing, since it goes on without."""
    if way := way_to_file(path, "600", access=os.R_OK | os.W_OK):
        text = f"{path} cannot be used: the prompts of earlier chats do not come back"
        yield note("prompts", text, way)


def _files(*paths: Path) -> Iterator[Check]:
    for path in paths:
        yield from file_permissions(path)


def file_permissions(path: Path) -> Iterator[Check]:
    """Yield a problem when others may read or write the file at `path`; nothing when it is not there."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if stat.S_ISREG(mode) and _open_to_others(mode):
        text = f"others can read {path} (mode {stat.S_IMODE(mode):04o})"
        yield problem("file.permissions", text, permitted(path, "600"))


def _open_to_others(mode: int) -> bool:
    return os.name != "nt" and bool(mode & _OTHERS)


def _room(path: Path) -> Iterator[Check]:
    import shutil

    try:
        free = shutil.disk_usage(nearest(path)).free
    except OSError as error:
        yield note("space", f"how much room is left for {path} cannot be told: {error.strerror}")
        return
    text = f"{free / 1e6:,.0f} MB are free for {path}"
    yield problem("space", f"only {text}: saving may soon fail") if free < SCARCE else ok("space", text)
