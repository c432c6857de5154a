"""The list that `golem resume` and `golem -r` pick from, on a real pseudo-terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import ASSISTANT, USER, Message
from golem_cli.core.run_status import DONE
from golem_cli.store.store import Store
from tests.support.chat_terminal import ALONE, at_prompt
from tests.support.golem_runs import GOLEM
from tests.support.terminal import Terminal

IDENTITY = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
QUESTION = "Which one? [1 to 1, Enter for 1, Esc for none]"
CANCELED = 130


@pytest.fixture(autouse=True)
def store(home: Path) -> Store:
    store = Store(home / "golem")
    messages = (Message(role=USER, content="Hi"), Message(role=ASSISTANT, content="Rye bread."))
    record = RunRecord(run_id="r", status=DONE)
    with store.create(
        Conversation(conversation_id=IDENTITY, title="Bread", messages=messages, runs=(record,))
    ) as writer:
        writer.save()
    return store


@pytest.fixture(params=["xterm-256color", "dumb"])
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    variables = {**ALONE, "TERM": request.param}
    with Terminal(GOLEM, "resume", "--no-run", columns=120, variables=variables) as terminal:
        terminal.wait_for("Bread", QUESTION)
        yield terminal


@pytest.mark.parametrize("typed", ["\r", "1\r", " 1 \r", "2\x7f1\r"])
def test_a_number_of_the_list_picks_and_enter_alone_the_first(terminal: Terminal, typed: str) -> None:
    terminal.type(typed)
    assert terminal.wait_end() == 0
    assert IDENTITY in terminal.text


def test_what_is_no_number_of_the_list_is_asked_for_again(terminal: Terminal) -> None:
    terminal.type("9\r")
    terminal.wait_for("'9' is not on the list.")
    terminal.wait_for_count(QUESTION, 2)
    terminal.type("bread\r")
    terminal.wait_for("'bread' is not on the list.")
    terminal.wait_for_count(QUESTION, 3)
    terminal.type("1\r")
    assert terminal.wait_end() == 0
    assert IDENTITY in terminal.text


@pytest.mark.parametrize("key", ["\x1b", "\x04", "1\x1b"], ids=["esc", "ctrl-d", "esc behind a number"])
def test_esc_and_ctrl_d_pick_none_at_once(terminal: Terminal, key: str) -> None:
    terminal.type(key)
    assert terminal.wait_end() == 2
    assert "golem: no conversation was picked" in terminal.text
    assert "^[" not in terminal.text


def test_ctrl_c_ends_golem(terminal: Terminal) -> None:
    terminal.type("\x03")
    assert terminal.wait_end() == CANCELED


def test_an_arrow_is_no_esc_and_nothing_of_it_shows(terminal: Terminal) -> None:
    terminal.type("\x1b[A\x1b[D1\r")
    assert terminal.wait_end() == 0
    assert "[A" not in terminal.text


def test_the_chat_opens_in_what_was_picked() -> None:
    variables = {**ALONE, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    with Terminal(GOLEM, "-r", "-m", "openai:test", columns=120, variables=variables) as terminal:
        terminal.wait_for(QUESTION)
        terminal.type("1\r")
        terminal.wait_for("Rye bread.")
        at_prompt(terminal)
        terminal.type("\x04")
        assert terminal.wait_end() == 0
