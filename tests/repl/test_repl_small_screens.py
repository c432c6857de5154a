"""The prompt on small screens: from how many rows and columns on it can be used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT, chat
from tests.support.http_server import HttpServer


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running.reply(answer("yes"))


@pytest.mark.parametrize(("columns", "rows"), [(80, 8), (80, 3), (8, 5), (20, 2), (80, 1), (4, 4)])
def test_the_prompt_works(server: HttpServer, columns: int, rows: int) -> None:
    with chat(server, columns=columns, rows=rows) as terminal:
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == PROMPT, "a prompt")
        terminal.type("h")
        terminal.wait_until(lambda: "h" in terminal.rows[terminal.cursor_row], "the draft")
        terminal.type("\r")
        terminal.wait_for("yes")
        assert "small" not in terminal.text.replace("\n", "")


def test_a_search_fits_on_three_rows(server: HttpServer) -> None:
    with chat(server, columns=80, rows=3) as terminal:
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == PROMPT, "a prompt")
        terminal.type("\x12")
        terminal.wait_for("search")
        assert "too small" not in terminal.text


def test_a_screen_that_shrinks_to_nothing_and_grows_again_keeps_the_draft(server: HttpServer) -> None:
    with chat(server) as terminal:
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == PROMPT, "a prompt")
        terminal.type("draft")
        terminal.wait_for("draft")
        for columns, rows in ((8, 5), (2, 2), (1, 1), (80, 24)):
            terminal.resize(columns, rows)
            terminal.type("x")
        terminal.wait_for("draftxxxx")
        assert "small" not in terminal.text
