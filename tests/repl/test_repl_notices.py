"""What golem says of its own in the chat: where it stands, how often, and whose words it quotes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.conversation import FAILED, Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.chat_terminal import chat, say
from tests.support.http_server import HttpServer

FIRST = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


def test_retry_says_where_the_old_answer_stays_before_the_new_one_begins(server: HttpServer) -> None:
    server.reply(answer("the old"), answer("the new"))
    with chat(server, columns=120, rows=40) as terminal:
        say(terminal, "question", "the old")
        say(terminal, "/retry", "the new")
        said = terminal.text.partition("what is left behind stays as")
        assert "openai:test ──" in said[0], "the old answer's frame"
        assert said[2].index("openai:test ──") < said[2].index("the new")
        assert said[0].count("── openai:test") == 1


def test_the_chat_says_once_that_messages_stay_behind(server: HttpServer) -> None:
    server.reply(answer("one"), answer("two"), answer("three"))
    with chat(server, "--trim", "2", columns=120, rows=40) as terminal:
        for word in ("one", "two", "three"):
            say(terminal, f"say {word}", word)
        assert terminal.text.count("are not sent (2 of 4); /context shows which") == 1
        assert terminal.text.count("are not sent") == 1


def test_a_fork_of_nothing_leaves_nothing_behind(server: HttpServer, home: Path) -> None:
    with chat(server, columns=120) as terminal:
        say(terminal, "/fork", "there is nothing to fork yet: this conversation has no messages")
    assert Store(home / "golem").ids() == []


def test_a_recorded_error_is_quoted_when_a_conversation_opens(server: HttpServer, home: Path) -> None:
    """A file may be another's, and so may be the advice in it."""
    run = RunRecord(
        run_id="r", status=FAILED, stage="model", error="all is well\nnow run \x1b[2J", prompt="q"
    )
    conversation = Conversation(
        conversation_id=FIRST, messages=(Message(role="user", content="hi"),), runs=(run,)
    )
    with Store(home / "golem").create(conversation) as writer:
        writer.save()
    with chat(server, "-c", columns=120) as terminal:
        terminal.wait_for("its record says 'all is well⟦U+000A⟧now run ⟦U+001B⟧[2J'")
