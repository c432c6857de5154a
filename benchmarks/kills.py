"""More than 500 kills (SIGKILL) at random moments of real chats; what is left is checked, and goes on.

    python -m benchmarks.kills [--sessions 440] [--commands 80] [--chats 30] [--embedded 20]

Sessions with tools in a process of their own, `golem ask` in a chain, the chat on a pseudo-terminal, and
`golem ask` with the embedded model (`golem models fetch` first); all but the last talk to a scripted server
on loopback. The rules are in `tests/support/kills.py`. Ends with an error when a single word is missing.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from golem_cli.core.conversation import Conversation
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.kills import MOMENTS, Killer
from tests.support.terminal import Terminal

PATIENCE: Final = 120
PIECES: Final = [f"word{number} " for number in range(20)]

Found = Counter[tuple[str, str]]
"""Kills by where they struck: what was killed, and where the store says that it stopped."""


def main() -> None:
    """Kill, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    counts = {"sessions": 440, "commands": 80, "chats": 30, "embedded": 20}
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    wanted = vars(parser.parse_args())
    jobs = [
        (name, range(start, min(start + 20, count)))
        for name, count in wanted.items()
        for start in range(0, count, 20)
    ]
    found: Found = Counter()
    started = time.monotonic()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for part in pool.map(work, *zip(*jobs, strict=True)):
            found += part
            print(f"<!-- {found.total()} kills -->", flush=True)
    print(f"{found.total()} kills in {time.monotonic() - started:.0f} s; nothing was missing.\n")
    print("| killed | the store says that it stopped | kills |\n| --- | --- | ---: |")
    for (what, where), count in sorted((+found).items()):
        print(f"| {what} | {where} | {count} |")


def work(name: str, seeds: range) -> Found:
    """Do the kills of one kind with these seeds."""
    with tempfile.TemporaryDirectory() as folder:
        return KINDS[name](Path(folder), seeds)


# -- sessions ----------------------------------------------------------------------------------------------


def kill_sessions(folder: Path, seeds: range) -> Found:
    """Sessions of the library, with tools."""
    found: Found = Counter()
    with Killer(folder) as killer:
        for seed in seeds:
            moment = list(MOMENTS)[seed % len(MOMENTS)]
            kill = killer.kill(moment, chance_of("sessions", seed))
            found[
                f"a session, at a {moment}", f"{kill.found}{', in a fold' if '.tmp' in kill.left else ''}"
            ] += 1
    return found


# -- the program -------------------------------------------------------------------------------------------


class Program:
    """A home folder for the real program, and a server whose requests are the witness."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[str] = []
        self.server = HttpServer(respond=self._respond)
        self.variables = {
            **{name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
            "GOLEM_HOME": str(folder),
            "OPENAI_BASE_URL": f"{self.server.url}/v1",
            "GOLEM_MODEL": "openai:test",
        }
        self.store = Store(folder)

    def _respond(self, request: Request) -> Reply:
        try:
            messages = json.loads(request.body)["messages"]
        except ValueError:  # killed while it was sending
            return Reply(silent=True)
        self.seen += [str(message["content"]) for message in messages]
        return answer(*(part for piece in PIECES for part in (piece, 0.02)))

    def golem(self, *arguments: str) -> None:
        """Run a command that has to succeed."""
        done = subprocess.run(
            [GOLEM, *arguments], env=self.variables, capture_output=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr

    def check(self) -> str:
        """Hold the newest conversation against what was seen, go on with it, and say where it had stopped."""
        if not (ids := self.store.ids()):
            assert not self.seen
            return "before anything was kept"
        kept = self.store.read(ids[0])
        contents = [message.content for message in kept.messages]
        held = {*contents, *(text for run in kept.runs for text in (run.prompt, run.partial_text))}
        missing = {text for text in self.seen if text not in held}
        assert not missing, missing
        self.golem("resume", ids[0], "--prompt", "continue")
        after = self.store.read(ids[0])
        assert [message.content for message in after.messages][: len(contents)] == contents
        assert after.runs[-1].status == "done"
        assert {path.suffix for path in self.store.conversations.iterdir()} == {".json"}
        return _where(kept)


def _where(kept: Conversation) -> str:
    from golem_cli.core.recovery import last_stop

    stop = last_stop(kept)
    return stop.where if stop else "between two runs"


def kill_commands(folder: Path, seeds: range) -> Found:
    """`golem ask`, on and on with one conversation, each killed within the time that the first one took."""
    found: Found = Counter()
    program = Program(folder)
    started = time.monotonic()
    program.golem("ask", "the first, undisturbed")
    whole = time.monotonic() - started
    for seed in seeds:
        process = subprocess.Popen(
            [GOLEM, "ask", "-c", f"prompt {seed}"],
            env=program.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(whole * chance_of("commands", seed).uniform(0.3, 1.1))
        process.kill()
        struck = process.wait() == -signal.SIGKILL
        found["`golem ask`", program.check()] += struck  # one that had ended by itself was not killed
    return found


def kill_chats(folder: Path, seeds: range) -> Found:
    """The chat on a terminal, killed after a prompt was entered."""
    found: Found = Counter()
    for seed in seeds:
        program = Program(folder / str(seed))
        with Terminal(GOLEM, variables=program.variables) as terminal:
            terminal.wait_for("/help")
            terminal.type(f"prompt {seed}\r")
            wait = threading.Timer(
                chance_of("chats", seed).uniform(0.1, 1.6), terminal.kill, [signal.SIGKILL]
            )
            wait.start()
            assert terminal.wait_end() == -signal.SIGKILL
            wait.join()
        found["`golem` on a terminal", program.check()] += 1
    return found


def kill_embedded(folder: Path, seeds: range) -> Found:
    """`golem ask` with the embedded model; what it wrote is the witness."""
    found: Found = Counter()
    for seed in seeds:
        program = Program(folder / str(seed))
        program.variables |= {"GOLEM_MODEL": "local:", "GOLEM_MAX_TOKENS": "24"}
        process = subprocess.Popen(
            [GOLEM, "ask", "--output-format", "stream-json", "Tell me a story."],
            env=program.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance_of("embedded", seed).uniform(0.8, 2.5))
        process.kill()
        told, _ = process.communicate()
        lines = [json.loads(line) for line in told.splitlines() if line.endswith(b"}")]
        if any(line["type"] == "model_start" for line in lines):
            program.seen.append("Tell me a story.")
        if any(line["type"] == "delta" for line in lines):
            run = program.store.read(program.store.ids()[0]).runs[-1]
            assert run.partial_text or run.status == "done", "of an answer that was seen nothing is kept"
        found["`golem ask`, embedded model", program.check()] += process.returncode == -signal.SIGKILL
    return found


def chance_of(kind: str, seed: int) -> random.Random:
    """The chance of one kill, the same each time."""
    return random.Random(f"{kind} {seed}")  # noqa: S311 (a seed, no secret)


KINDS: Final[dict[str, Callable[[Path, range], Found]]] = {
    "sessions": kill_sessions,
    "commands": kill_commands,
    "chats": kill_chats,
    "embedded": kill_embedded,
}

if __name__ == "__main__":
    main()
