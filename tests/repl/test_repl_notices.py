"""What golem says of its own in the chat: where it stands, how often, and whose words it quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.core.run_status import FAILED
from golem_cli.store.store import Store
from tests.support import strict_anthropic
from tests.support.chat_replies import answer, dropped
from tests.support.chat_terminal import PROMPT, chat, say
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.left_journal import leave_journal

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


@pytest.mark.parametrize("command", ["/undo", "/edit 1", "/rewind 1"])
def test_a_cut_says_how_to_go_back_to_what_it_cut_off(server: HttpServer, home: Path, command: str) -> None:
    server.reply(answer("the old"))
    with chat(server, columns=120, rows=40) as terminal:
        say(terminal, "question", "the old")
        terminal.type(f"{command}\r")
        terminal.wait_for(" goes back to it")
        (way_back,) = re.findall(r"/open [0-9a-f-]{36}", terminal.text)
        terminal.type(f"\x03{way_back}\r")  # without the draft that was offered, if there is one
        terminal.wait_for(" · 2 messages · ")
        terminal.type("\x04")
        terminal.wait_end()
    assert len(Store(home / "golem").ids()) == 2


def test_an_undo_of_a_failed_turn_says_where_it_is_kept(server: HttpServer) -> None:
    server.reply(dropped("half a wo"))
    with chat(server, columns=120, rows=40) as terminal:
        say(terminal, "question", "The run failed in mid-answer")
        terminal.type("/undo\r")
        terminal.wait_for("the turn stays beside the conversation: /history shows it")
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row] == f"{PROMPT} question")
        terminal.type("\x03")
        say(
            terminal,
            "/history",
            "(left out: dropped) question",
            "(left out: dropped) (interrupted) half a wo",
        )


def test_resume_refuses_to_send_continue_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server counts the characters of the messages' JSON: with any history more than the budget."""

    def respond(request: Request) -> Reply:
        if request.path != "/v1/messages":
            return strict_anthropic.respond(request)
        begun = strict_anthropic.streamed("claude-haiku-5-5").partition(b'"lo"')[0].rpartition(b"event: ")[0]
        return Reply(headers={"Content-Type": "text/event-stream"}, body=begun, end="cut")

    with HttpServer(respond=respond) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with chat(server, "-m", "anthropic:claude-haiku-5-5", "--budget", "50", columns=120) as terminal:
            say(terminal, "question", "The run failed")
            asked = [request.path for request in server.requests].count("/v1/messages")
            say(terminal, "/resume", "nothing of what it would go on from fits into the budget of 50 tokens")
            assert [request.path for request in server.requests].count("/v1/messages") == asked
            assert terminal.text.count("The run failed in mid-answer") == 1, "one line of advice is enough"
            say(terminal, "/history", "1  user       question")


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


def test_what_of_a_conversation_is_gone_is_told_when_it_opens(server: HttpServer, home: Path) -> None:
    writer = Store(home / "golem").create(Conversation(conversation_id=FIRST, title="Rye"))
    writer.begin_run(RunRecord(run_id="r", prompt="q"))
    writer.note_partial("r", "half")
    leave_journal(writer)
    writer.path.unlink()
    with chat(server, columns=200) as terminal:
        say(
            terminal,
            "/open Rye",
            "its file is gone: only what its journal has is here; the journal is kept as",
        )
