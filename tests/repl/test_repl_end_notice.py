"""The notice at the end of a long answer: which bytes it is, when it is given, and no foreign text in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.chat_replies import answer, hanging
from tests.support.chat_terminal import at_prompt, chat, say
from tests.support.http_server import HttpServer, Reply

DONE: Final = b"\x1b]9;golem: the answer is there\x07"
AT_ONCE: Final = {"GOLEM_NOTIFY_AFTER": "0"}


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.mark.parametrize(
    ("variables", "notice"),
    [
        ({"GOLEM_NOTIFY": "bell"}, b"\x07"),
        ({"GOLEM_NOTIFY": "osc9"}, DONE),
        ({"GOLEM_NOTIFY": "osc9", "TMUX": "x"}, b"\x1bPtmux;\x1b" + DONE + b"\x1b\\"),
        ({"GOLEM_NOTIFY": "osc9", "STY": "x"}, b"\x1bP" + DONE + b"\x1b\\"),
    ],
)
def test_a_long_answer_ends_with_one_notice(
    server: HttpServer, variables: dict[str, str], notice: bytes
) -> None:
    server.reply(answer("\a\x1b]9;hostile\a"))
    with chat(server, variables={**AT_ONCE, **variables}) as terminal:
        at_prompt(terminal)
        terminal.type("hello\r")  # pyte knows no DCS: what it shows behind one is not looked at
        terminal.wait_until(lambda: terminal.raw.partition(notice)[2].count(b"\x1b[?2004h"), "a prompt")
        assert terminal.raw.count(notice) == 1
        assert terminal.raw.count(b"\x07") == 1, "the model's own are marked"
        assert terminal.raw.index(b"9 in") < terminal.raw.index(notice), "it comes when all is shown"


@pytest.mark.parametrize(
    "variables",
    [{}, {"GOLEM_NOTIFY": "off"}, {"GOLEM_NOTIFY": "bell", "GOLEM_NOTIFY_AFTER": "3600"}],
)
def test_there_is_none_by_default_and_none_for_a_short_answer(
    server: HttpServer, variables: dict[str, str]
) -> None:
    server.reply(answer("short"))
    with chat(server, variables={**AT_ONCE, **variables}) as terminal:
        say(terminal, "hello", "9 in")
        assert b"\x07" not in terminal.raw


def test_a_failure_is_told_and_a_stop_is_not(server: HttpServer) -> None:
    server.reply(hanging("begun"), Reply(status=400, body=b"{}", framing="length"))
    with chat(server, variables={**AT_ONCE, "GOLEM_NOTIFY": "osc9"}) as terminal:
        at_prompt(terminal)
        terminal.type("one\r")
        terminal.wait_for("begun")
        terminal.type("\x03")
        terminal.wait_for("Stopped in mid-answer")
        at_prompt(terminal)
        assert b"\x1b]9" not in terminal.raw
        say(terminal, "two", "The run failed")
        assert terminal.raw.count(b"\x1b]9;golem: the answer failed\x07") == 1


def test_a_plain_terminal_gets_the_bell_for_a_message(server: HttpServer) -> None:
    server.reply(answer("there"))
    variables = {**AT_ONCE, "GOLEM_NOTIFY": "osc9"}
    with chat(server, "--plain", variables=variables) as terminal:
        terminal.wait_for(chr(0x203A))
        terminal.type("hello\r")
        terminal.wait_until(lambda: b"\x07" in terminal.raw, "a bell")
        assert b"\x1b]" not in terminal.raw


def test_another_word_is_refused_in_one_line(server: HttpServer) -> None:
    with chat(server, columns=120, variables={"GOLEM_NOTIFY": "loud"}) as terminal:
        assert terminal.wait_end() == 2
        assert terminal.text.strip() == "golem: GOLEM_NOTIFY must be off, bell or osc9, not 'loud'"
