"""How soon a key stops an answer, and how soon the next one begins.

    python -m benchmarks.stopping [--runs 9] [--only WORD]

In the chat on a pseudo-terminal: from the key (Ctrl-C and Esc in turn) until it says that the answer has
stopped, whatever the answer was doing. An Esc waits 30 ms, since an arrow key begins with the same byte. With
the embedded model (`golem models fetch` first) also from the key until the next answer's first word is on the
screen, the next prompt being typed right behind the key. The chat has no tools yet: one is stopped in the
library. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

from golem_cli.core.run import Agent
from golem_cli.testing import ScriptedModel, ScriptedTool, call
from tests.support.chat_replies import hanging
from tests.support.chat_terminal import PROMPT, at_prompt, chat
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer, Reply
from tests.support.terminal import Terminal

KEYS: Final = ("\x03", "\x1b")
STOPPED: Final = b"Stopped"
BOUND_MS: Final = 100
NEXT_BOUND_MS: Final = 2000
LONG: Final = "word " * 7400
"""With the words around it some 7,500 tokens of the embedded model, whose window has 8,192."""


class Stop(NamedTuple):
    """One stop: seconds until it was said, and until the next answer began (0 where nobody asked)."""

    said: float
    next_answer: float = 0.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="", metavar="WORD", help="situations with this in their name")
    wanted = parser.parse_args()
    print("| stopped while | median, ms | longest, ms | next answer begins, median, ms | longest, ms |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, measure in SITUATIONS.items():
        if wanted.only not in name:
            continue
        with tempfile.TemporaryDirectory() as home:
            os.environ["GOLEM_HOME"] = home
            print(row(name, list(measure(wanted.runs))), flush=True)


def row(name: str, stops: list[Stop]) -> str:
    """A line of the table; a bound that is missed is marked."""
    said = [stop.said * 1000 for stop in stops]
    begun = [stop.next_answer * 1000 for stop in stops if stop.next_answer]
    cells = [*_cells(said, BOUND_MS), *(_cells(begun, NEXT_BOUND_MS) if begun else ("", ""))]
    return f"| {name} | {' | '.join(cells)} |"


def _cells(figures: list[float], bound: float) -> tuple[str, str]:
    longest = max(figures)
    return f"{statistics.median(figures):.0f}", f"{longest:.0f}{' (missed)' if longest > bound else ''}"


def stop(terminal: Terminal, key: str, *, then: str = "") -> float:
    """Press the key, type `then` right behind it, and return the seconds until the stop is said."""
    seen = len(terminal.raw)
    pressed = time.perf_counter()
    terminal.type(key)
    if then:
        time.sleep(0.05)  # else the Esc would be the beginning of another key
        terminal.type(then)
    terminal.wait_until(lambda: STOPPED in terminal.raw[seen:], "the stop")
    return time.perf_counter() - pressed


# -- a server that answers as is wanted --------------------------------------------------------------------


def stops_of(reply: Reply, reached: Callable[[Terminal, HttpServer, int], bool]) -> Iterator[Stop]:
    """Prompts that all get `reply`, each stopped when `reached` says so."""
    with HttpServer([reply]) as server, chat(server) as terminal:
        for number in count(1):
            at_prompt(terminal)
            terminal.type(f"prompt {number}\r")
            terminal.wait_until(partial(reached, terminal, server, number), "the moment")
            time.sleep(0.3)
            yield Stop(stop(terminal, KEYS[number % 2]))


def taken(stops: Iterator[Stop], runs: int) -> list[Stop]:
    """The first of them, without the very first, which imports what the others have."""
    return [next(stops) for _ in range(runs + 1)][1:]


def in_mid_answer(runs: int) -> list[Stop]:
    """Some text is there."""
    return taken(stops_of(hanging("begun"), lambda t, _, n: t.raw.count(b"begun") >= n), runs)


def before_the_first_fragment(runs: int) -> list[Stop]:
    """The server has the request and is silent."""
    return taken(stops_of(Reply(silent=True), lambda _, s, n: len(s.requests) >= n), runs)


def in_a_retry_wait(runs: int) -> list[Stop]:
    """The server asked to come back in half a minute."""
    busy = Reply(status=429, headers={"Retry-After": "30"}, body=b"{}", framing="length")
    return taken(stops_of(busy, lambda _, s, n: len(s.requests) >= n), runs)


# -- a tool ------------------------------------------------------------------------------------------------


def in_a_tool(runs: int) -> list[Stop]:
    """In the library: from the cancellation until the run has ended."""
    return [Stop(asyncio.run(_stop_in_a_tool())) for _ in range(runs)]


async def _stop_in_a_tool() -> float:
    reached = asyncio.Event()

    async def wait(*_: object) -> str:
        reached.set()
        await asyncio.Event().wait()
        return "never"

    model = ScriptedModel().respond(tool_calls=[call("1", "wait")])
    run = asyncio.create_task(Agent(model, tools=[ScriptedTool("wait", wait).tool]).run("go"))
    await reached.wait()
    begun = time.perf_counter()
    run.cancel()
    with suppress(asyncio.CancelledError):
        await run
    return time.perf_counter() - begun


# -- the embedded model ------------------------------------------------------------------------------------


@contextmanager
def embedded(*arguments: str | Path) -> Iterator[Terminal]:
    """A chat with it."""
    shorter = {"GOLEM_MAX_TOKENS": "400"}  # what is kept free for an answer is no room for a prompt
    with Terminal(GOLEM, *arguments, "-m", "local:", columns=100, variables=shorter) as terminal:
        yield terminal


def engine_of(terminal: Terminal) -> int:
    """The process of the engine, as soon as it runs (Linux); golem itself waits until it does."""
    while True:
        for task in Path(f"/proc/{terminal.pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                if b"child.py" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        time.sleep(0.001)


def while_it_loads(runs: int) -> list[Stop]:
    """The engine is held at its beginning, so that it loads for as long as is needed."""
    return [_stop_while_it_loads(KEYS[number % 2]) for number in range(runs)]


def _stop_while_it_loads(key: str) -> Stop:
    with embedded() as terminal:
        engine = engine_of(terminal)
        os.kill(engine, signal.SIGSTOP)
        at_prompt(terminal)
        terminal.type("Hi\r")
        terminal.wait_for("Ctrl-C stops")
        time.sleep(0.5)
        said = stop(terminal, key)
        os.kill(engine, signal.SIGCONT)
        return Stop(said)


def in_mid_story(runs: int) -> list[Stop]:
    """Tokens flow; the next prompt has a conversation of its own."""
    with embedded() as terminal:
        return [_stop_in_the_story(terminal, KEYS[number % 2]) for number in range(runs)]


def _stop_in_the_story(terminal: Terminal, key: str) -> Stop:
    at_prompt(terminal)
    answers = _answers(terminal)
    terminal.type("Tell me a very long story about a dragon.\r")
    terminal.wait_until(lambda: _answers(terminal) > answers, "an answer")
    time.sleep(1)
    return _stop_and_ask(terminal, key)


def in_prompt_evaluation(runs: int) -> list[Stop]:
    """The prompt has 7,500 tokens, of which the engine has evaluated a part."""
    history = [{"role": "user", "content": LONG}, {"role": "assistant", "content": "Yes."}]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.json"
        path.write_text(json.dumps(history), encoding="utf-8")
        return [_stop_in_evaluation(path, KEYS[number % 2]) for number in range(runs)]


def _stop_in_evaluation(path: Path, key: str) -> Stop:
    with embedded("-r", path) as terminal:
        at_prompt(terminal)
        terminal.type("Go on.\r")
        terminal.wait_for("Ctrl-C stops")
        time.sleep(5)  # the model is loaded, its tokens are counted, and it evaluates for much longer
        stopped = _stop_and_ask(terminal, key)
        assert "Stopped before the first word" in terminal.text
        assert "are not sent" not in terminal.text, "the history was too long for the model"
        return stopped


def _stop_and_ask(terminal: Terminal, key: str) -> Stop:
    """Stop, and ask at once in a new conversation."""
    answers = _answers(terminal)
    begun = time.perf_counter()
    said = stop(terminal, key, then="/new\rHi\r")
    terminal.wait_until(lambda: _answers(terminal) > answers, "the next answer")
    next_answer = time.perf_counter() - begun
    terminal.type("\x03")
    terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == PROMPT, "a prompt")
    return Stop(said, next_answer)


def _answers(terminal: Terminal) -> int:
    """How many answers have begun: each opens its panel with the model's name, at its first fragment."""
    return terminal.raw.count("\x1b[2m── local:".encode())


SITUATIONS: Final[dict[str, Callable[[int], list[Stop]]]] = {
    "text arrives": in_mid_answer,
    "the first fragment is awaited": before_the_first_fragment,
    "a retry is awaited": in_a_retry_wait,
    "a tool runs (library)": in_a_tool,
    "the embedded model loads": while_it_loads,
    "the embedded model answers": in_mid_story,
    "the embedded model evaluates a prompt of 7,500 tokens": in_prompt_evaluation,
}


if __name__ == "__main__":
    main()
