"""The chat on a terminal that cannot move its cursor: each prompt stands once, answers break at spaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from golem_cli.repl.line_echo import echo_of
from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT, chat, sent
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal

DUMB: Final = {"TERM": "dumb"}


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


def prompted(terminal: Terminal, draft: str = "") -> None:
    row = f"{PROMPT} {draft}".rstrip()
    terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == row, "a prompt")


def test_a_prompt_is_shown_once_as_it_is_typed_and_an_answer_breaks_at_spaces(server: HttpServer) -> None:
    server.reply(answer("twelve cells and not a wo", "rd cut in two pieces\n\n- kept"))
    with chat(server, variables=DUMB, columns=30) as terminal:
        prompted(terminal)
        for key in "Hellp":
            terminal.type(key)
        prompted(terminal, "Hellp")
        terminal.type("\x7f")
        prompted(terminal, "Hell")
        terminal.type("o")
        prompted(terminal, "Hello")
        terminal.type("\r")
        terminal.wait_for("9 in")
        prompted(terminal)
        terminal.type("/exit\r")
        assert terminal.wait_end() == 0
    shown = terminal.text
    assert f"{PROMPT} Hello\n-- openai:test" in shown
    assert shown.count("Hello") == 1
    assert "\ntwelve cells and not a word\ncut in two pieces\n\n- kept\n--" in shown
    assert sent(server) == ["Hello"]
    assert b"\x1b" not in terminal.raw


def test_a_draft_that_is_offered_or_cleared_shows_and_is_what_is_sent(server: HttpServer) -> None:
    server.reply(answer("one"), answer("two"))
    with chat(server, variables=DUMB) as terminal:
        prompted(terminal)
        terminal.type("first\r")
        terminal.wait_for("9 in")
        prompted(terminal)
        terminal.type("/undo\r")
        prompted(terminal, "first")
        terminal.type(" again\x0ain two lines")
        terminal.wait_for(f"{PROMPT} first again\n  in two lines")
        terminal.type("\r")
        terminal.wait_for("two\n--")
        prompted(terminal)
        terminal.type("wrong")
        prompted(terminal, "wrong")
        terminal.type("\x03")
        prompted(terminal)
    assert sent(server) == ["first again\nin two lines"]


def test_a_change_that_cannot_be_taken_back_shows_the_draft_again() -> None:
    assert echo_of("> a\n  b", "> a", 80) == "\n> a"  # the row above is out of reach
    assert echo_of("> abcdefgh", "> abcdefg", 10) == "\n> abcdefg"  # so is a row that the terminal wrapped
    assert echo_of("> 漢", "> ", 80) == "\b\b  \b\b"
    assert echo_of("> old", "> new", 80) == "\n> new"
