"""What a run of the program sees of the world: its streams, whether they are terminals, and the variables.

One object stands for all of it, so that whole sessions are tested within one process. (The idea is HTTPie's.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple, TextIO

STANDARD_OUTPUT: Final = "standard output"
"""What the errors of that stream call it."""
STANDARD_STREAM: Final = "-"
"""The name of standard input (or output) where a file is asked for."""

_BEYOND_ASCII: Final = r"[^\n\x20-\x7e]"  # compiled when it is needed: every command loads this module


class Environment(NamedTuple):
    """The world of one `program` run.

    The streams are text over bytes (`.buffer`), in UTF-8. `variables` are the environment variables.
    `debug` shows the traceback of an error; `raw_output` leaves foreign text on standard output as it is.
    """

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    variables: Mapping[str, str]
    stdin_is_terminal: bool = False
    stdout_is_terminal: bool = False
    stderr_is_terminal: bool = False
    debug: bool = False
    raw_output: bool = False

    @property
    def columns(self) -> int:
        """The width of the screen in cells: `COLUMNS` when it is set, else the terminal's, else 80."""
        if self.variables.get("COLUMNS", "").isdecimal():
            return int(self.variables["COLUMNS"]) or 80
        try:
            return os.get_terminal_size(self.stdout.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def read_input(self) -> bytes:
        """Read all of standard input, as bytes."""
        with _named_in_errors("standard input"):
            return self.stdin.buffer.read()

    def say(self, text: str) -> None:
        """Write `text` and a line end to standard output, with nothing in it that could move a cursor.

        With `raw_output` it is written as it is.
        """
        from golem_cli.render.neutralize import neutralize

        self.write(f"{text if self.raw_output else neutralize(text)}\n")

    def say_json(self, value: object) -> None:
        """Write `value` as JSON: two spaces, keys as they come, every character beyond ASCII escaped."""
        import json

        self.write(f"{json.dumps(value, indent=2)}\n")

    def write(self, text: str) -> None:
        """Write `text` to standard output as it is."""
        with _named_in_errors(STANDARD_OUTPUT):
            self.stdout.write(text)

    def flush(self) -> None:
        """Let standard output have what was written: its errors come now, not at the program's end."""
        with _named_in_errors(STANDARD_OUTPUT):
            self.stdout.flush()

    def say_done(self, text: str) -> None:
        """Say what was done; on standard error when standard output cannot be written."""
        with self.told(text):
            self.say(text)

    @contextmanager
    def told(self, done: str) -> Iterator[None]:
        """Have standard error say what was `done` when the block cannot tell it on standard output.

        What nobody was told can neither be gone on with nor undone. "" is for nothing done.
        """
        try:
            yield
            self.flush()
        except OSError:
            if done:
                self.complain(f"golem: {done}")
            raise

    def write_transcript(self, data: bytes) -> None:
        """Write JSON as it is; on a terminal with everything beyond ASCII escaped, which says the same."""
        if self.stdout_is_terminal:
            data = re.sub(_BEYOND_ASCII, _escape, data.decode("utf-8")).encode("ascii")
        with _named_in_errors(STANDARD_OUTPUT):
            self.stdout.flush()
            self.stdout.buffer.write(data)
            self.stdout.buffer.flush()

    def complain(self, text: str) -> None:
        """Write `text` and a line end to standard error, neutralized like `say`."""
        from golem_cli.render.neutralize import neutralize

        self.stderr.write(f"{neutralize(text)}\n")
        self.stderr.flush()


class NamedOutput:
    """Standard output for those who write to `sys.stdout` themselves: its errors have its name."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write `text`."""
        with _named_in_errors(STANDARD_OUTPUT):
            return self._stream.write(text)

    def flush(self) -> None:
        """Write out what waits."""
        with _named_in_errors(STANDARD_OUTPUT):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


@contextmanager
def _named_in_errors(stream: str) -> Iterator[None]:
    """Give an error of the operating system in this block the stream's name, as a file's errors have it."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or stream
        raise


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
