"""An answer stops wherever it is, any number of times; every way out leaves the terminal as it was."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from golem_cli.providers.local import have_weights
from tests.support.chat_replies import answer, hanging
from tests.support.chat_terminal import PROMPT, at_prompt, chat, kept, say
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer, Reply
from tests.support.terminal import Terminal

BROKEN_LOOP: Final = """
import sys
from golem_cli.repl.loop import Loop
async def read(self):
    await type(self).first(self)
    raise RuntimeError("unforeseen")
Loop.first, Loop._read = Loop._read, read
from golem_cli.cli.process import run_in_this_process
sys.exit(run_in_this_process(["-m", "openai:test"]))
"""


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


def settings_of(terminal: Terminal) -> list[Any]:
    return termios.tcgetattr(terminal.descriptor)


@pytest.mark.parametrize("key", ["\x03", "\x1b"])
def test_a_stop_in_a_wait_for_another_try_keeps_the_prompt(server: HttpServer, home: Path, key: str) -> None:
    """The server asks for patience; nobody tries again meanwhile."""
    server.reply(Reply(status=429, headers={"Retry-After": "25"}, body=b"{}", framing="length"), answer("no"))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("anybody?\r")
        terminal.wait_until(lambda: server.requests)
        terminal.type(key)
        terminal.wait_for("Stopped before the first word; your prompt is kept.")
        at_prompt(terminal)
        terminal.type("\x04")
        terminal.wait_end()
    assert len(server.requests) == 1
    assert kept(home)["runs"][0]["status"] == "interrupted"


def test_a_dozen_stops_in_a_row_leave_a_chat_that_answers(server: HttpServer, home: Path) -> None:
    for number in range(12):
        server.reply(hanging(f"begun {number}."))
    server.reply(answer("at last"))
    with chat(server) as terminal:
        for number in range(12):
            at_prompt(terminal)
            terminal.type(f"stop {number}\r")
            terminal.wait_for(f"begun {number}.")
            terminal.type("\x03" if number % 2 else "\x1b")
            terminal.wait_for_count("Stopped in mid-answer", number + 1)
        say(terminal, "go", "at last")
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    conversation = kept(home)
    assert len(conversation["messages"]) == 26
    assert [run["status"] for run in conversation["runs"]] == ["interrupted"] * 12 + ["done"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the engine in /proc")
@pytest.mark.parametrize("key", ["\x03", "\x1b"])
def test_a_stop_while_the_embedded_model_loads_does_not_wait_for_it(weights_cache: Path, key: str) -> None:
    if not have_weights(weights_cache):
        pytest.skip("the weights are not there; golem models fetch brings them")
    with Terminal(GOLEM, "-m", "local:", variables={"GOLEM_MAX_TOKENS": "8"}) as terminal:
        engine = 0
        while not engine:
            engine = engine_of(terminal.pid)
        os.kill(engine, signal.SIGSTOP)  # it loads for as long as we like
        at_prompt(terminal)
        terminal.type("Hi\r")
        terminal.wait_for("Ctrl-C stops")
        terminal.type(key)
        terminal.wait_for("Stopped before the first word; your prompt is kept.")
        at_prompt(terminal)
        os.kill(engine, signal.SIGCONT)
        terminal.type("/retry\r")
        terminal.wait_for(", 8 out")


def engine_of(pid: int) -> int:
    """The engine among the children of a process, once it runs; 0 before."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"child.py" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    return 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_prompt_restores_the_terminal(server: HttpServer, number: signal.Signals) -> None:
    with chat(server) as terminal:
        before = settings_of(terminal)
        at_prompt(terminal)
        terminal.type("a draft")
        terminal.wait_for("a draft")
        assert settings_of(terminal) != before
        terminal.kill(number)
        assert terminal.wait_end() == 143
        assert settings_of(terminal) == before
        assert terminal.raw.rindex(b"\x1b[?2004l") > terminal.raw.rindex(b"\x1b[?2004h")


@pytest.mark.parametrize("keys", ["\x04", "/exit\r"])
def test_leaving_restores_the_terminal(server: HttpServer, keys: str) -> None:
    with chat(server) as terminal:
        before = settings_of(terminal)
        at_prompt(terminal)
        terminal.type(keys)
        assert terminal.wait_end() == 0
        assert settings_of(terminal) == before


def test_an_unforeseen_error_restores_the_terminal_and_is_one_line(server: HttpServer) -> None:
    variables = {"OPENAI_BASE_URL": f"{server.url}/v1"}
    with Terminal(sys.executable, "-c", BROKEN_LOOP, columns=120, variables=variables) as terminal:
        before = settings_of(terminal)
        at_prompt(terminal)
        terminal.type("hello\r")
        assert terminal.wait_end() == 1
        assert settings_of(terminal) == before
        (line,) = (row for row in terminal.rows if "golem:" in row)
        assert "unforeseen" in line
        assert "Traceback" not in terminal.text
        assert PROMPT in terminal.text
