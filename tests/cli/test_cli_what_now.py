"""`golem resume` of a run that stopped short, on a terminal: what shall become of it is asked until said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.run_status import FAILED
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.chat_terminal import ALONE, at_prompt, sent
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal

ID = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
RUN = "01936f4e-5f40-7a65-8d0c-2f6f8a6b1c13"


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running.reply(answer("rye"))


@pytest.fixture
def stopped(home: Path, server: HttpServer) -> Iterator[Terminal]:
    """A chat that asks what shall become of a run that failed."""
    run = RunRecord(run_id=RUN, status=FAILED, stage="model", prompt="which flour?", partial_text="Spelt")
    with Store(home / "golem").create(
        Conversation(conversation_id=ID, model="openai:test", runs=(run,))
    ) as writer:
        writer.save()
    variables = {**ALONE, "OPENAI_BASE_URL": f"{server.url}/v1"}
    with Terminal(GOLEM, "resume", ID, columns=120, variables=variables) as terminal:
        terminal.wait_for("r: try again", "What now?")
        yield terminal


def test_any_other_word_asks_again(stopped: Terminal, server: HttpServer) -> None:
    """A word that only begins like one of the choices is none of them."""
    for number, word in enumerate(("x", "cancel"), 2):
        stopped.type(f"{word}\r")
        stopped.wait_for_count("What now?", number)
        stopped.wait_for_count("That is none of them: r, c, d, or Enter alone.", number - 1)
    assert not server.requests
    stopped.type("r\r")
    stopped.wait_for("rye")
    at_prompt(stopped)
    assert sent(server) == ["which flour?"]


def test_enter_alone_leaves_it_for_later(stopped: Terminal, server: HttpServer) -> None:
    stopped.type("\r")
    stopped.wait_for("Later then: /retry, /resume or /undo do it.")
    at_prompt(stopped)
    assert not server.requests
