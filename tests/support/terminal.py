r"""A program on a real pseudo-terminal, with a terminal emulator behind it: type, wait for what shows, look.

    with Terminal("golem", "-m", "openai:test") as terminal:
        terminal.wait_for("/help")
        terminal.type("Hi\r")
        terminal.wait_for("Hello")

No wait takes a fixed time: each ends as soon as the screen shows what is waited for.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

import pexpect
import pyte

from tests.support.emulator import Emulator

PATIENCE: Final = 120.0
"""Seconds after which a wait fails; reached only by what is broken."""


class _Emulator(Emulator):
    """A screen with its scrollback; what a terminal answers (its cursor's place) goes to `answer`."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], object]) -> None:
        super().__init__(columns, rows)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        self._answer(data)


class Terminal:
    """Runs a program on a pty of `columns` by `rows`; `raw` is every byte that it wrote."""

    def __init__(
        self,
        program: str | Path,
        *arguments: str | Path,
        columns: int = 80,
        rows: int = 24,
        variables: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.raw = b""
        self._hung_up = False
        self._emulator = _Emulator(columns, rows, self._answer)
        self._stream = pyte.ByteStream(self._emulator)
        self._process = pexpect.spawn(
            str(program),
            [str(argument) for argument in arguments],
            dimensions=(rows, columns),
            env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "", **(variables or {})},
            cwd=None if folder is None else str(folder),
            timeout=PATIENCE,
        )
        self._process.delaybeforesend = None
        self._process.ptyproc.delayafterclose = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._hung_up:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        else:
            self._process.ptyproc.fileobj.close()  # first: where its output is not read it may not end
            if self._process.isalive():
                self.kill(signal.SIGKILL)
                self._process.wait()
            self._process.close()

    def _answer(self, data: str) -> None:
        self._process.send(data)

    # -- looking -----------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        return self._emulator.rows

    @property
    def screen(self) -> str:
        """The screen as one text."""
        return "\n".join(self.rows)

    @property
    def cursor_row(self) -> int:
        """The row of the screen in which the cursor is, from 0."""
        return int(self._emulator.cursor.y)

    @property
    def scrollback(self) -> list[str]:
        """The rows that left the screen at its top, and then those on it."""
        return [*self._emulator.above, *self.rows]

    @property
    def text(self) -> str:
        """Everything that can be seen by scrolling back."""
        return "\n".join(self.scrollback)

    @property
    def pid(self) -> int:
        """The program's process."""
        return int(self._process.pid)

    @property
    def descriptor(self) -> int:
        """Our end of the pty."""
        return int(self._process.child_fd)

    # -- doing -------------------------------------------------------------------------------------------

    def type(self, keys: str) -> None:
        """Send key presses."""
        self._process.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Change the terminal's size; the program gets SIGWINCH."""
        self._emulator.resize(rows, columns)
        self._process.setwinsize(rows, columns)

    def kill(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        """Close the terminal, as when its window is closed."""
        self._process.ptyproc.fileobj.close()
        self._hung_up = True

    # -- waiting -----------------------------------------------------------------------------------------

    def wait_for(self, *texts: str) -> None:
        """Wait until all `texts` stand in the screen or the scrollback."""
        self.wait_until(lambda: all(text in self.text for text in texts), f"{texts} to show")

    def wait_for_count(self, text: str, count: int) -> None:
        """Wait until `text` stands `count` times in the screen and the scrollback."""
        self.wait_until(lambda: self.text.count(text) == count, f"{text!r} to show {count} times")

    def wait_until(self, condition: Callable[[], Any], what: str = "the condition") -> None:
        """Read what the program writes until `condition` holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; the screen:\n{self.text}")
            if not self._read() and not condition():
                raise AssertionError(f"the program ended before {what}; the screen:\n{self.text}")

    def wait_end(self) -> int:
        """Wait until the program has ended; return its exit code, or minus the signal that ended it."""
        if self._hung_up:
            return os.waitstatus_to_exitcode(self._wait_gone())
        self._read_to_end()
        self._process.wait()
        if self._process.signalstatus is not None:
            return -int(self._process.signalstatus)
        return int(self._process.exitstatus)

    def _read_to_end(self) -> None:
        end = time.monotonic() + PATIENCE
        while self._read():
            if time.monotonic() > end:
                raise AssertionError(f"the program does not end; the screen:\n{self.text}")

    def _wait_gone(self) -> int:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            gone, status = os.waitpid(self.pid, os.WNOHANG)
            if gone:
                return status
            time.sleep(0.02)
        raise AssertionError("the program lives on without its terminal")

    def _read(self) -> bool:
        """Take what the program wrote; False at its end."""
        try:
            data = self._process.read_nonblocking(65536, timeout=0.05)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True
