"""How fast golem starts, beside the least that Python and prompt-toolkit need.

    python benchmarks/startup.py [--runs 15]

Prints a Markdown table: median CPU seconds of the whole process, and its ratio to what it is measured
against, run in turn so that a machine that slows down slows both. Bytecode is cached, as it is for a user.
To the first prompt is until the prompt is on the terminal; the program is stopped there, and what golem does
behind its prompt (some 50 ms: it makes the session) is not in it.
The chat opens the embedded model, whose weights `golem models fetch` must have fetched before: no provider
key and no server of this machine is in sight. Without xllamacpp the chat cannot start.
`llm chat` (PyPI `llm`) is measured when the variable LLM names its command.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BARE_PROMPT = """
import asyncio
from prompt_toolkit import PromptSession
asyncio.run(PromptSession().prompt_async("> "))
"""
PROMPT_SIGN = b"\xe2\x80\xba"
PATIENCE = 60.0
NOBODY = "http://127.0.0.1:9/v1"
"""Where nothing listens, so that no local server is found."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A command; `until` is what its screen shows when it is ready, b"" when it ends by itself."""

    name: str
    command: Sequence[str]
    until: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A program, the one that it is compared with, and the most that the ratio may be."""

    program: Program
    beside: Program
    bound: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        environment = of_a_newcomer(home)
        print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, median of {runs} runs\n")
        print("| command | CPU s | beside | CPU s | ratio | bound |")
        print("| --- | --- | --- | --- | --- | --- |")
        for row in rows():
            print(measured(row, runs, environment))


def of_a_newcomer(home: str) -> dict[str, str]:
    """The variables without what would choose another model or start Python another way."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    chooses_a_model = ("_API_KEY", "_BASE_URL", "GOLEM_MODEL")
    return {
        **{name: value for name, value in kept.items() if not name.endswith(chooses_a_model)},
        "GOLEM_HOME": home,
        "LLM_USER_PATH": home,
        "OLLAMA_BASE_URL": NOBODY,
        "LMSTUDIO_BASE_URL": NOBODY,
        "TERM": "xterm-256color",
    }


def rows() -> list[Row]:
    """What is compared with what."""
    golem = shutil.which("golem", path=str(Path(sys.executable).parent)) or "golem"
    python = Program(name="`python -c pass`", command=[sys.executable, "-c", "pass"])
    bare = Program(name="a bare `PromptSession`", command=[sys.executable, "-c", BARE_PROMPT], until=b">")
    chat = Program(name="`golem` to the first prompt", command=[golem], until=PROMPT_SIGN)
    found = [
        Row(
            program=Program(name="`golem --version`", command=[golem, "--version"]), beside=python, bound=1.5
        ),
        Row(
            program=Program(
                name="`python -m golem_cli --version`",
                command=[sys.executable, "-m", "golem_cli", "--version"],
            ),
            beside=python,
            bound=1.5,
        ),
        Row(program=Program(name="`golem --help`", command=[golem, "--help"]), beside=python, bound=18),
        Row(program=chat, beside=bare, bound=1.3),
    ]
    if os.environ.get("LLM"):
        llm = Program(name="`llm chat` to the first prompt", command=[os.environ["LLM"], "chat"], until=b"> ")
        found.append(Row(program=chat, beside=llm, bound=0.25))
    return found


def measured(row: Row, runs: int, environment: Mapping[str, str]) -> str:
    """A line of the table."""
    for program in (row.program, row.beside):
        cpu_of(program, environment)  # warm: bytecode, disk cache
    pairs = [(cpu_of(row.program, environment), cpu_of(row.beside, environment)) for _ in range(runs)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    return (
        f"| {row.program.name} | {ours:.3f} | {row.beside.name} | {theirs:.3f} | {ratio:.2f} | {row.bound} |"
    )


def cpu_of(program: Program, environment: Mapping[str, str]) -> float:
    """CPU seconds, user and system, of one run on a terminal of its own: to its end, or to its prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.nice(10)  # whoever waits for the prompt comes first: what is done behind it is not to be measured
        os.execvpe(  # noqa: S606 (the programs of the table, no shell)
            program.command[0], list(program.command), dict(environment)
        )
    try:
        _read_until(terminal, program.until)
        if program.until:
            os.kill(pid, signal.SIGKILL)
        _, _, used = os.wait4(pid, 0)
    finally:
        os.close(terminal)
    return used.ru_utime + used.ru_stime


def _read_until(terminal: int, wanted: bytes) -> None:
    seen = b""
    end = time.monotonic() + PATIENCE
    while not wanted or wanted not in seen:
        if not select.select([terminal], [], [], max(end - time.monotonic(), 0))[0]:
            raise TimeoutError(f"no {wanted!r} within {PATIENCE} s; the screen: {seen[-500:]!r}")
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal so
            return
        if not chunk:
            return
        if b"\x1b[6n" in chunk:  # a terminal answers where its cursor is
            os.write(terminal, b"\x1b[1;1R")
        seen += chunk


if __name__ == "__main__":
    main()
