"""The first prompt is there before the session is: what is typed meanwhile, and what may fail."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT, kept, sent
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal

# The real program, but the session is made only when the file that the first argument names is there.
SLOW = """
import os, sys, time
import golem_cli.cli.opening as opening

make_session = opening.make_session
sign = sys.argv.pop(1)

def when_told(*arguments):
    while not os.path.exists(sign):
        time.sleep(0.01)
    return make_session(*arguments)

opening.make_session = when_told
"""
# … or cannot be made at all.
BROKEN = """
import sys
import golem_cli.cli.opening as opening
from golem_cli.core.errors import StoreError

def refuse(*arguments):
    raise StoreError("the disk is gone")

opening.make_session = refuse
"""
RUN = """
from golem_cli.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.fixture
def go(tmp_path: Path) -> Path:
    return tmp_path / "go"


def start(program: str, server: HttpServer, *arguments: str | Path) -> Terminal:
    variables = {"OPENAI_BASE_URL": f"{server.url}/v1", "PYTHONPATH": str(Path(__file__).parents[2])}
    return Terminal(sys.executable, "-c", program + RUN, *arguments, "-m", "openai:test", variables=variables)


def test_what_is_typed_before_the_session_is_there_is_sent_to_it(
    server: HttpServer, home: Path, go: Path
) -> None:
    server.reply(answer("well met"))
    with start(SLOW, server, go) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("hello there\r")
        go.touch()
        terminal.wait_for("well met")
        terminal.type("\x04")
        assert terminal.wait_end() == 0
    assert sent(server) == ["hello there"]
    assert [message["content"] for message in kept(home)["messages"]] == ["hello there", "well met"]


def test_leaving_before_the_session_is_there_is_in_order(server: HttpServer, go: Path) -> None:
    with start(SLOW, server, go) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("\x04")
        go.touch()
        assert terminal.wait_end() == 0
        assert "Kept" not in terminal.text


def test_a_session_that_cannot_be_made_is_one_line_in_place_of_the_prompt(server: HttpServer) -> None:
    with start(BROKEN, server) as terminal:
        assert terminal.wait_end() == 1
        assert PROMPT.encode() in terminal.raw
        greeting, *rest = [row for row in terminal.rows if row]
        assert greeting.startswith("openai:test (asked for by --model).")
        assert rest[-1] == "golem: the disk is gone"
        assert PROMPT not in terminal.text
