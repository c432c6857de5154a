"""Runs `golem` for the tests of the command line: within this process, and as the real program."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from golem_cli.cli.environment import Environment
from golem_cli.cli.program import program

GOLEM: Final = Path(sys.executable).with_name("golem")
_FULL: Final = Path("/dev/full")
NEEDS_FULL_DEVICE: Final = pytest.mark.skipif(
    not _FULL.exists(), reason="a device of Linux that is always full"
)


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a run of the program ended and what it wrote."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.raw.decode("utf-8")

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.raw)

    @property
    def error_line(self) -> str:
        """The one line on stderr; fails when there are more, or it is not ours."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("golem: "), self.err
        return lines[0]


def environment_for_tests(
    *, stdin: bytes = b"", terminal: bool = False, in_terminal: bool = True
) -> tuple[Environment, Callable[[], Finished]]:
    """Return an environment over memory, and what tells what was written to it so far (with the code 0)."""
    out, err = io.BytesIO(), io.BytesIO()
    environment = Environment(
        stdin=io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8", errors="surrogateescape"),
        stdout=io.TextIOWrapper(out, encoding="utf-8", errors="replace"),
        stderr=io.TextIOWrapper(err, encoding="utf-8", errors="replace"),
        variables=os.environ,
        stdin_is_terminal=in_terminal,
        stdout_is_terminal=terminal,
        stderr_is_terminal=terminal,
    )

    def written() -> Finished:
        environment.stdout.flush()
        environment.stderr.flush()
        return Finished(code=0, raw=out.getvalue(), err=err.getvalue().decode("utf-8"))

    return environment, written


def golem(
    *arguments: str | Path, stdin: bytes = b"", terminal: bool = False, in_terminal: bool = True
) -> Finished:
    """Run `golem` in this process; `terminal` says whether stdout is one, `in_terminal` whether stdin is."""
    environment, written = environment_for_tests(stdin=stdin, terminal=terminal, in_terminal=in_terminal)
    code = program([str(argument) for argument in arguments], environment)
    return replace(written(), code=code)


def golem_process(
    *arguments: str | Path, stdin: bytes = b"", variables: dict[str, str] | None = None
) -> Finished:
    """Run the installed `golem` as a process of its own, between pipes."""
    done = subprocess.run(
        [GOLEM, *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **(variables or {})},
        check=False,
        timeout=60,
    )
    return Finished(code=done.returncode, raw=done.stdout, err=done.stderr.decode("utf-8"))


def golem_in_shell(words: str, *, before: str = "", unbuffered: str = "") -> Finished:
    """Run the installed `golem` as a line of a shell, with its redirections; `before` comes in front."""
    done = subprocess.run(
        ["sh", "-c", f'{before}"{GOLEM}" {words}'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        check=False,
        timeout=60,
    )
    return Finished(code=done.returncode, raw=done.stdout, err=done.stderr.decode("utf-8"))


def golem_into_full(*arguments: str | Path, unbuffered: str = "") -> Finished:
    """Run the installed `golem` with a full disk behind its stdout; the value is for PYTHONUNBUFFERED."""
    with _FULL.open("wb") as full:
        done = subprocess.run(
            [GOLEM, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
            timeout=60,
        )
    return Finished(code=done.returncode, raw=b"", err=done.stderr.decode("utf-8"))
