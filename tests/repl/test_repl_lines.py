"""What the lines of the chat say: true in each reading, whole in a narrow terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.repl.bottom import fitted
from golem_cli.repl.command_table import COMMANDS
from golem_cli.repl.room import whole_number
from tests.support.chat_replies import answer, hanging
from tests.support.chat_terminal import at_prompt, chat, say
from tests.support.http_server import HttpServer

FACTS = {"model": "openai:test", "title": "Bread", "messages": "last: 2 sent / 4 kept", "tokens": "26 tokens"}


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (80, "openai:test · Bread · last: 2 sent / 4 kept · 26 tokens"),
        (50, "openai:test · Bread · last: 2 sent / 4 kept"),
        (40, "openai:test · last: 2 sent / 4 kept"),
        (30, "Bread · last: 2 sent / 4 kept"),
        (19, "openai:test · Bread"),
        (4, "openai:test"),  # nothing fits whole, so this is cut
    ],
)
def test_the_bottom_line_has_whole_facts_the_important_ones_first(width: int, line: str) -> None:
    assert fitted(FACTS, width) == line


def test_what_is_not_saved_gives_way_to_nothing() -> None:
    assert fitted({**FACTS, "unsaved": "NOT SAVED"}, 12) == "NOT SAVED"


def test_the_bottom_line_says_of_the_last_request_what_it_sent(server: HttpServer) -> None:
    """A trim changes the next request, of which the line says nothing."""
    server.reply(answer("one"), answer("two"))
    with chat(server) as terminal:
        say(terminal, "first", "one")
        say(terminal, "second", "two")
        say(terminal, "/trim 1", "The newest message is sent.")
        assert "last: 2 sent / 4 kept" in terminal.rows[-1]
        say(
            terminal,
            "/context",
            "The next request sends 1 message and your prompt; 3 of 4 kept messages stay",
        )


def test_usage_says_of_how_many_runs_the_tokens_are_not_known(server: HttpServer) -> None:
    """The first answer reported 9 and 4; the second was stopped before its service told any."""
    server.reply(answer("one"), hanging("begun"))
    with chat(server, columns=120) as terminal:
        say(terminal, "first", "one")
        say(terminal, "/usage", "This conversation: 1 run, 1 request, 9 in, 4 out\n")
        terminal.type("second\r")
        terminal.wait_for("begun")
        terminal.type("\x1b")
        terminal.wait_for("Stopped in mid-answer")
        say(terminal, "/usage", "2 runs, 2 requests, 9 in, 4 out; of 1 run the tokens are not known")


def test_without_saving_nothing_is_promised_to_stay(server: HttpServer) -> None:
    server.reply(answer("one"), answer("two"))
    with chat(server, "--no-save", columns=200) as terminal:
        say(terminal, "first", "one")
        say(terminal, "/retry", "what is left behind stays as", ", until golem ends: nothing is saved", "two")
        at_prompt(terminal)
        terminal.type("/exit\r")
        assert terminal.wait_end() == 0
    assert "Kept." not in terminal.text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("2 3", "'2 3' is more than one number; give one from 1 to 4"),
        ("x", "'x' is no number; give one from 1 to 4"),
        ("x 3", "'x 3' is no number; give one from 1 to 4"),
        ("-1", "-1 is out of range; give a number from 1 to 4"),
        ("5", "5 is out of range; give a number from 1 to 4"),
    ],
)
def test_a_wrong_number_is_told_for_what_it_is(typed: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        whole_number(typed, low=1, high=4)
    assert str(caught.value) == said


def test_a_slash_alone_is_not_taken_for_a_name() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^the name of a command stands right behind /; /help lists"
    ):
        COMMANDS.find("")
