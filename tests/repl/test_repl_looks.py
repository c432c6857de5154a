"""How answers look on terminals of all kinds: themes, few colours, none, and names that few know."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.chat_replies import answer
from tests.support.chat_terminal import at_prompt, chat, say
from tests.support.http_server import HttpServer


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running.reply(answer("Look:\n\n", "```python\nreturn 1\n```\n\nEnd."))


def test_the_theme_setting_colours_code(server: HttpServer) -> None:
    variables = {"GOLEM_THEME": "monokai", "COLORTERM": "truecolor"}
    keyword = b"\x1b[38;2;102;217;239mreturn"  # Monokai's #66d9ef
    with chat(server, variables=variables) as terminal:
        for answers in range(1, 20):  # an answer does not wait for a lexer that is not there yet
            say(terminal, "hello")
            terminal.wait_for_count("End.", answers)
            if keyword in terminal.raw:
                break
        assert keyword in terminal.raw


def test_an_unknown_theme_is_refused_in_one_line(server: HttpServer) -> None:
    with chat(server, variables={"GOLEM_THEME": "monokay"}) as terminal:
        assert terminal.wait_end() == 2
        assert terminal.text.strip() == "golem: there is no theme monokay; did you mean monokai?"


@pytest.mark.parametrize("name", ["linux", "screen", "screen-256color", "tmux-256color", "vt100", "xterm"])
def test_a_terminal_of_any_name_shows_the_answer_whole(server: HttpServer, name: str) -> None:
    with chat(server, variables={"TERM": name}) as terminal:
        at_prompt(terminal)
        terminal.type("hello\r")
        terminal.wait_for("End.", "9 in")
        terminal.wait_until(  # what the system has handed over so far may end in the middle of a repainting
            lambda: "\nLook:\n\nreturn 1\n\nEnd.\n" in "\n".join(terminal.rows)
        )


def test_the_foot_has_tokens_time_and_model(server: HttpServer) -> None:
    with chat(server) as terminal:
        say(terminal, "hello", "End.")
        assert re.search(r"^── 9 in, 4 out · \d+\.\d s · openai:test ─+$", terminal.text, flags=re.MULTILINE)
