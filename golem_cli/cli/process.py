"""The running process as an `Environment`: UTF-8 streams whatever the locale, and how the process ends."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Final, TextIO

from golem_cli.cli.environment import STANDARD_OUTPUT, Environment
from golem_cli.cli.exit_codes import BROKEN_PIPE, INTERRUPTED

COLLECT_AFTER: Final = 50_000
"""New objects after which the garbage collector looks for cycles. Imports make many that never die: with
Python's own number (700 in 3.11) it would search them scores of times before the first prompt."""


def run_in_this_process(arguments: Sequence[str]) -> int:
    """Run `golem` on this process's streams, and end the process with its exit code, or return that."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        environment = environment_of_this_process()
        from golem_cli.cli.program import program

        code = program(arguments, environment)
        environment.stdout.flush()
        environment.stderr.flush()
        _end_at_once(code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_the_readers()
        return BROKEN_PIPE
    except OSError as error:  # a full disk behind `> file`, a closed stream
        code = _report_lost_output(error)
        _forget_the_readers()
    return code


def _end_at_once(code: int) -> None:
    """End the process as it is. Python's own end would free each object by itself: 20 ms, and no use.

    Nothing of golem's waits for that end: no handler, and no thread that is not a daemon. Whoever traces or
    profiles the process does, and gets it.
    """
    if sys.gettrace() is None and sys.getprofile() is None:
        os._exit(code)


def environment_of_this_process() -> Environment:
    """Return the streams and variables of this process.

    Closed standard input is an empty one, and nobody reads what goes to closed standard error. Closed
    standard output cannot be written: an answer that is lost is a failure.
    """
    stdin, stderr = _utf8(sys.stdin, "r"), _utf8(sys.stderr, "w")
    stdout = _utf8(sys.stdout, "w") if sys.stdout is not None else _unwritable()
    return Environment(
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        variables=os.environ,
        stdin_is_terminal=stdin.isatty(),
        stdout_is_terminal=stdout.isatty(),
        stderr_is_terminal=stderr.isatty(),
    )


def _utf8(stream: TextIO | None, mode: str) -> TextIO:
    if stream is None:  # started with the stream closed, as in `golem >&-`
        empty: IO[str] = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123 (lives as long as we)
        return empty  # type: ignore[return-value]  # text streams of `open` are TextIO in all but name
    if isinstance(stream, io.TextIOWrapper):
        if isinstance(stream.buffer, io.RawIOBase):
            return _buffered(stream)
        stream.reconfigure(encoding="utf-8", errors="surrogateescape" if mode == "r" else "replace")
    return stream


def _buffered(stream: TextIO) -> TextIO:
    """Return another stream to where an unbuffered one leads (`PYTHONUNBUFFERED`, `python -u`).

    Python's own loses what the system does not take at once, of a large output on a nearly full disk or to
    a reader that is slow, and says nothing. golem flushes where something is to be seen.
    """
    buffer = io.BufferedWriter(io.FileIO(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="replace", line_buffering=stream.isatty())


def _unwritable() -> TextIO:
    """A stream that takes nothing: what is written fails as it does for every program (`EBADF`)."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    return os.fdopen(descriptor, "w", encoding="utf-8")


def _forget_the_readers() -> None:
    """Point the output streams at nothing, so that the interpreter's own last flush stays silent."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            os.dup2(nothing, stream.fileno())
    os.close(nothing)


def _report_lost_output(error: OSError) -> int:
    from golem_cli.cli.exit_codes import FAILED
    from golem_cli.cli.failures import line_of

    error.filename = error.filename or STANDARD_OUTPUT
    if sys.stderr is not None:
        with suppress(OSError):  # it may lead to the same full disk
            sys.stderr.write(f"{line_of(error)}\n")
            sys.stderr.flush()
    return FAILED
