"""What is typed while no prompt reads, on a real pseudo-terminal: not echoed, not lost, not joined."""

from __future__ import annotations

import json
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.chat_replies import answer, hanging
from tests.support.chat_terminal import PROMPT, at_prompt, chat, say, sent
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.fixture
def gate() -> threading.Event:
    return threading.Event()


def type_one_by_one(terminal: Terminal, keys: str) -> None:
    """Type as a person does, each key by itself: the next when the program has read the last."""
    for key in keys:
        read_before = bytes_read(terminal)
        terminal.type(key)
        wait_until_more_is_read(terminal, read_before)


def wait_until_more_is_read(terminal: Terminal, before: int) -> None:
    terminal.wait_until(lambda: bytes_read(terminal) > before, "the key to be read")


def bytes_read(terminal: Terminal) -> int:
    """How much the program has read so far, sockets apart."""
    counters = Path(f"/proc/{terminal.pid}/io").read_text(encoding="ascii")
    return int(counters.split("rchar: ")[1].split()[0])


def prompts(server: HttpServer) -> list[str]:
    """The last message of each request."""
    return [json.loads(request.body)["messages"][-1]["content"] for request in server.requests]


def draft_is(terminal: Terminal, text: str) -> None:
    terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == f"{PROMPT} {text}", text)


def ask(terminal: Terminal) -> None:
    at_prompt(terminal)
    terminal.type("hello\r")
    terminal.wait_for("begun")


def test_lines_typed_ahead_are_sent_one_by_one_and_the_rest_is_a_draft(
    server: HttpServer, gate: threading.Event
) -> None:
    server.reply(answer("begun", gate), answer("second answer"), answer("third answer"))
    with chat(server) as terminal:
        ask(terminal)
        type_one_by_one(terminal, "two\r/ids\rthree\rrest")
        gate.set()
        terminal.wait_for("second answer", "conversation ", "third answer")
        draft_is(terminal, "rest")
    assert prompts(server) == ["hello", "two", "three"]


def test_a_block_pasted_ahead_is_one_prompt(server: HttpServer, gate: threading.Event) -> None:
    server.reply(answer("begun", gate), answer("second answer"))
    with chat(server) as terminal:
        ask(terminal)
        terminal.type("\x1b[200~one\rtwo\x1b[201~")
        type_one_by_one(terminal, "\r")
        gate.set()
        terminal.wait_for("second answer")
    assert sent(server)[-1] == "one\ntwo"


def test_an_unbracketed_block_pasted_ahead_stays_a_draft(server: HttpServer, gate: threading.Event) -> None:
    server.reply(answer("begun", gate))
    with chat(server) as terminal:
        ask(terminal)
        terminal.type("one\r\ttwo")
        gate.set()
        terminal.wait_for(f"{PROMPT} one", "two")
        assert prompts(server) == ["hello"]


def test_alt_enter_typed_ahead_is_a_new_line_and_stops_nothing(
    server: HttpServer, gate: threading.Event
) -> None:
    server.reply(answer("begun", gate, " done"), answer("second answer"))
    with chat(server) as terminal:
        ask(terminal)
        type_one_by_one(terminal, "one")
        terminal.type("\x1b\r")
        type_one_by_one(terminal, "two\r")
        gate.set()
        terminal.wait_for("begun done", "second answer")
    assert sent(server)[-1] == "one\ntwo"


def test_a_line_typed_ahead_is_sent_after_a_stop(server: HttpServer) -> None:
    server.reply(hanging("begun"), answer("second answer"))
    with chat(server) as terminal:
        ask(terminal)
        type_one_by_one(terminal, "two\r")
        terminal.type("\x03")
        terminal.wait_for("Stopped in mid-answer", "second answer")
    assert sent(server)[-1] == "two"


@pytest.mark.parametrize("attempt", range(5))
def test_what_is_typed_right_behind_a_stop_is_not_echoed(server: HttpServer, attempt: int) -> None:
    server.reply(hanging("begun"))
    with chat(server) as terminal:
        ask(terminal)
        terminal.type("\x03\x1b[Cxyzzy")
        draft_is(terminal, "xyzzy")
        assert terminal.text.count("xyzzy") == 1
        assert "^[" not in terminal.text


def test_the_terminal_echoes_nothing_between_prompts_and_is_restored(server: HttpServer) -> None:
    server.reply(hanging("begun"))
    with chat(server) as terminal:
        before = termios.tcgetattr(terminal.descriptor)
        ask(terminal)
        assert not termios.tcgetattr(terminal.descriptor)[3] & termios.ECHO
        terminal.type("\x03")
        at_prompt(terminal)
        terminal.type("\x04")
        assert terminal.wait_end() == 0
        assert termios.tcgetattr(terminal.descriptor) == before


def test_a_line_typed_before_the_first_prompt_is_sent(server: HttpServer) -> None:
    server.reply(answer("an answer"))
    with chat(server) as terminal:
        terminal.type("early\r")
        terminal.wait_for("an answer")
    assert prompts(server) == ["early"]


def test_a_command_ends_at_its_enter_whatever_follows_in_the_same_burst(server: HttpServer) -> None:
    server.reply(answer("an answer"))
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("/ids\r/usage\rhello\r")
        terminal.wait_for("conversation ", "0 runs", "an answer")
    assert prompts(server) == ["hello"]


def test_an_enter_on_an_empty_line_does_not_join_the_command_behind_it(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("\r\r/ids\r")
        terminal.wait_for("conversation ")


def test_a_command_typed_ahead_never_joins_the_draft_of_undo(
    server: HttpServer, gate: threading.Event
) -> None:
    server.reply(answer("begun", gate))
    with chat(server) as terminal:
        ask(terminal)
        type_one_by_one(terminal, "/undo\r/ids\r")
        gate.set()
        terminal.wait_for("waits below", "goes first", "conversation ")
        at_prompt(terminal)
        terminal.type("\x1b[A\x1b[A")
        draft_is(terminal, "hello")


def test_ctrl_d_right_behind_a_command_leaves(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("/ids\r\x04")
        assert terminal.wait_end() == 0
        assert "conversation " in terminal.text


def test_seven_early_ctrl_c_do_not_leave(server: HttpServer) -> None:
    server.reply(hanging("begun"), answer("an answer"))
    with chat(server) as terminal:
        ask(terminal)
        terminal.type("\x03" * 7)
        terminal.wait_for("Stopped in mid-answer")
        say(terminal, "again", "an answer")
