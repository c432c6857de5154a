"""A program in tmux: a real terminal that lays its rows out again when its size changes."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

PATIENCE: Final = 60.0
"""Seconds after which a wait fails; reached only by what is broken."""


class Tmux:
    """Runs a program in a tmux server of its own."""

    def __init__(
        self, *command: str | Path, columns: int = 80, rows: int = 24, variables: Mapping[str, str]
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="golem-tmux-")
        self._socket = str(Path(self._folder.name) / "socket")
        self._environment = {**os.environ, **variables, "TERM": "xterm-256color", "TMUX": ""}
        self._tmux(
            *("-f", os.devnull, "new-session", "-d", "-x", str(columns), "-y", str(rows)),
            shlex.join(str(word) for word in command),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], check=False, capture_output=True)
        self._folder.cleanup()

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments],
            env=self._environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout

    @property
    def text(self) -> str:
        """The scrollback and the screen."""
        return self._tmux("capture-pane", "-p", "-S", "-")

    def type(self, text: str) -> None:
        """Send keys as they are."""
        self._tmux("send-keys", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size; returns when the program finds it, which is a little later."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))
        self.wait_until(lambda: self._size_told == (columns, rows), "the program to be told its size")

    def wait_for(self, *texts: str) -> None:
        """Wait until all `texts` show."""
        self.wait_until(lambda: all(text in self.text for text in texts), f"{texts} to show")

    def wait_until(self, condition: Callable[[], Any], what: str) -> None:
        """Wait until `condition` holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; the screen:\n{self.text}")
            time.sleep(0.02)

    @property
    def _size_told(self) -> tuple[int, int]:
        """The columns and rows that the program finds."""
        with Path(self._tmux("display-message", "-p", "#{pane_tty}").strip()).open("rb") as pane:
            found = os.get_terminal_size(pane.fileno())
        return found.columns, found.lines
