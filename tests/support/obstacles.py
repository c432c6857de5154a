"""What may stand where golem wants a file, and is none; and what frees and tells who waits for a pipe."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PATIENCE: Final = 20.0
"""Seconds after which somebody waits: a machine, however busy, is done long before."""


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "mine").write_text("somebody's", encoding="utf-8")


OBSTACLES: Final[dict[str, Callable[[Path], None]]] = {
    "a folder": _folder,
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a link loop": lambda path: path.symlink_to(path.name),
    "a link to a folder": lambda path: path.symlink_to("/", target_is_directory=True),
}
if sys.platform != "win32":
    OBSTACLES["a pipe"] = os.mkfifo


def what(path: Path) -> tuple[int, int, str, list[str]]:
    """What stands at `path`: its number and kind, where a link leads, what a folder holds."""
    status = path.lstat()
    leads = str(path.readlink()) if path.is_symlink() else ""
    holds = sorted(os.listdir(path)) if path.is_dir() and not leads else []  # noqa: PTH208 (names alone)
    return status.st_ino, status.st_mode, leads, holds


@contextmanager
def nobody_waits(path: Path) -> Iterator[None]:
    """Fail when the block waits for the other end of the pipe at `path`, if it is one; who waits is freed."""
    waited, over = threading.Event(), threading.Event()

    def free() -> None:
        while not over.wait(PATIENCE):
            waited.set()
            with suppress(FileNotFoundError):  # it was moved, so it is free
                if sys.platform != "win32" and stat.S_ISFIFO(path.lstat().st_mode):
                    os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))

    thread = threading.Thread(target=free)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not waited.is_set(), "it waits for the other end of a pipe"
