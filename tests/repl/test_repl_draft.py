"""The draft on a real pseudo-terminal: it is what will be sent, and nothing raw reaches the screen."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.repl.commands import prompt_line, prompt_text, split
from golem_cli.repl.marks import Places
from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT, at_prompt, chat, say, sent
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal

# One of each kind: bidi control, zero-width space, tag character, C1, soft hyphen, and the mark of each.
HOSTILE = {
    "\u202e": "U+202E",
    "\u200b": "U+200B",
    "\U000e0041": "U+E0041",
    "\x9b": "U+009B",
    "\u00ad": "U+00AD",
}


def mark(code: str) -> str:
    return f"\u27e6{code}\u27e7"


def assert_nothing_raw(terminal: Terminal) -> None:
    for char in HOSTILE:
        assert char.encode() not in terminal.raw, hex(ord(char))


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running.reply(answer("an answer"))


def draft_is(terminal: Terminal, text: str) -> None:
    terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == f"{PROMPT} {text}", text)


@pytest.mark.parametrize("command", ["/undo", "/rewind", "/edit", "/edit 1"])
def test_a_prompt_that_begins_with_a_slash_comes_back_as_it_is_typed(
    server: HttpServer, command: str
) -> None:
    with chat(server) as terminal:
        say(terminal, "//etc/hosts", "an answer")
        terminal.type(f"{command}\r")
        draft_is(terminal, "//etc/hosts")
        terminal.type("\r")
        terminal.wait_for_count("an answer", 2)
    assert sent(server) == ["/etc/hosts"]


@pytest.mark.parametrize("command", ["/undo", "/edit"])
def test_a_prompt_with_hidden_characters_comes_back_marked_and_is_sent_as_it_was(
    server: HttpServer, command: str
) -> None:
    prompt = f"one\x1b]0;x\x07{''.join(HOSTILE)}two"
    with chat(server, columns=100) as terminal:
        say(terminal, f"\x1b[200~{prompt}\x1b[201~", "an answer")
        at_prompt(terminal)
        terminal.type(f"{command}\r")
        marks = "".join(map(mark, HOSTILE.values()))
        draft_is(terminal, f"one{mark('U+001B')}]0;x{mark('U+0007')}{marks}two")
        terminal.type("\r")
        terminal.wait_for_count("an answer", 2)
        assert_nothing_raw(terminal)
        assert b"\x1b]0;" not in terminal.raw
    assert sent(server) == [prompt]


def test_a_pasted_hidden_character_shows_as_a_mark_in_draft_and_echo_and_is_sent(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type(f"\x1b[200~a{''.join(HOSTILE)}b\x1b[201~")
        shown = f"a{''.join(map(mark, HOSTILE.values()))}b"
        draft_is(terminal, shown)
        terminal.type("\r")
        terminal.wait_for("an answer", f"{PROMPT} {shown}")
        assert_nothing_raw(terminal)
    assert sent(server) == [f"a{''.join(HOSTILE)}b"]


def test_the_cursor_moves_over_a_mark_as_over_one_character(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("\x1b[200~a\u202eb\x1b[201~")
        draft_is(terminal, f"a{mark('U+202E')}b")
        terminal.type("\x1b[D\x1b[D")  # before the mark
        terminal.type("x")
        draft_is(terminal, f"ax{mark('U+202E')}b")
        terminal.type("\x04")  # deletes the character under the mark
        draft_is(terminal, "axb")


def test_what_is_pasted_into_a_history_search_shows_as_marks(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("\x12")
        terminal.wait_for("search")
        terminal.type("\x1b[200~q\u202ew\x1b[201~")
        terminal.wait_for(f"q{mark('U+202E')}w")
        assert_nothing_raw(terminal)


def test_enter_takes_what_a_history_search_found(server: HttpServer) -> None:
    with chat(server) as terminal:
        say(terminal, "/ids", "conversation ")
        say(terminal, "/usage", "0 in")
        terminal.type("\x12")
        terminal.wait_for("search")
        terminal.type("id")
        terminal.wait_until(lambda: f"{PROMPT} /ids" in terminal.rows[6:], "what the search found")
        terminal.type("\r")
        draft_is(terminal, "/ids")


def test_the_menu_shows_a_hostile_file_name_with_marks(server: HttpServer, tmp_path: Path) -> None:
    (tmp_path / "notes\u202etxt.md").touch()
    with chat(server, folder=tmp_path) as terminal:
        at_prompt(terminal)
        terminal.type("/export no")
        terminal.wait_for(f"notes{mark('U+202E')}txt.md")
        assert_nothing_raw(terminal)


def test_a_tab_stays_a_tab_in_a_paste_and_completes_in_a_command(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("def f():\r\treturn 1\tand\t2\r")
        terminal.wait_for("an answer")
        assert sent(server) == ["def f():\n\treturn 1\tand\t2"]
        at_prompt(terminal)
        terminal.type("/sess")
        terminal.wait_for("list the conversations")
        terminal.type("\t")
        draft_is(terminal, "/sessions")


def test_an_interrupt_from_outside_clears_the_draft_into_the_history(server: HttpServer) -> None:
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("a draft")
        draft_is(terminal, "a draft")
        terminal.kill(signal.SIGINT)
        at_prompt(terminal)
        terminal.type("\x1b[A")
        draft_is(terminal, "a draft")


def test_a_history_that_cannot_be_kept_costs_no_prompt(server: HttpServer, home: Path) -> None:
    (home / "golem" / "state" / "history").mkdir(parents=True)  # a folder in its place
    with chat(server) as terminal:
        say(terminal, "question", "an answer")
        terminal.type("\x1b[A")
        draft_is(terminal, "question")
        assert "internal error" not in terminal.text


def test_a_refused_prompt_is_one_up_away_and_a_command_works_at_once(server: HttpServer, home: Path) -> None:
    with chat(server) as terminal:
        say(terminal, "first", "an answer")
        conversations = home / "golem" / "conversations"
        for journal in conversations.iterdir():
            if journal.suffix != ".json":
                journal.unlink()
        conversations.rename(home / "golem" / "away")
        conversations.touch()  # a file in the folder's place: nothing can be kept there
        terminal.type("second\r")
        terminal.wait_for("Up brings it back")
        say(terminal, "/usage", "1 run,")
        terminal.type("\x1b[A\x1b[A")
        draft_is(terminal, "second")


@pytest.mark.parametrize("text", ["", "/", "//", "/help", "//x", "plain", " /x", "/a\nb"])
def test_the_line_of_a_prompt_stands_for_that_prompt(text: str) -> None:
    assert split(prompt_line(text)) is None
    assert prompt_text(prompt_line(text)) == text


@given(st.text())
def test_every_prompt_has_a_line_that_sends_it(text: str) -> None:
    assert split(prompt_line(text)) is None
    assert prompt_text(prompt_line(text)) == text


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=12))
def test_places_agree_with_counting(line: list[tuple[bool, int]]) -> None:
    shown = [(index, "m" * size) for index, (marked, size) in enumerate(line) if marked]
    widths = [size if marked else 1 for marked, size in line]
    places = Places(shown)
    for position in range(len(line) + 1):
        assert places.to_display(position) == sum(widths[:position])
    owners = [index for index, width in enumerate(widths) for _ in range(width)]
    assert [places.to_source(place) for place in range(len(owners))] == owners
    assert places.to_source(len(owners)) == len(line)


def test_an_esc_at_the_prompt_does_not_swallow_the_slash_of_a_command(server: HttpServer) -> None:
    """Esc stops an answer; one that is pressed too late must not make `/ids` the prompt `ids`."""
    with chat(server) as terminal:
        at_prompt(terminal)
        terminal.type("\x1b")
        time.sleep(0.3)  # as a person does; the wait for an Alt is far shorter
        terminal.type("/ids\r")
        terminal.wait_for("conversation  ")
    assert not server.requests


@pytest.mark.parametrize("command", ["/undo", "/edit", "/rewind"])
def test_a_command_behind_an_untouched_draft_goes_alone_and_the_draft_into_the_history(
    server: HttpServer, command: str
) -> None:
    with chat(server, columns=120, rows=40) as terminal:
        say(terminal, "first question", "an answer")
        say(terminal, "second question", "an answer")
        at_prompt(terminal)
        terminal.type(f"{command}\r")
        draft_is(terminal, "second question")
        terminal.type(f"{command}\r")
        draft_is(terminal, "first question")
        terminal.wait_for("the draft is in the history (Up)")
        terminal.type("\x1b[A\x1b[A")  # past the command
        draft_is(terminal, "second question")
    assert len(server.requests) == 2


@pytest.mark.parametrize("typed", [" and lib/ids", "/repl"], ids=["changed before its slash", "no command"])
def test_a_draft_with_a_slash_that_is_no_command_right_behind_it_is_a_prompt(
    server: HttpServer, typed: str
) -> None:
    with chat(server) as terminal:
        say(terminal, "look at src", "an answer")
        at_prompt(terminal)
        terminal.type("/undo\r")
        draft_is(terminal, "look at src")
        terminal.type(f"{typed}\r")
        terminal.wait_for_count("an answer", 2)
    assert sent(server) == [f"look at src{typed}"]
