"""The chat while nothing can be saved: it says so, offers another place, and asks once before it gives up."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.chat_terminal import at_prompt, chat, kept, say
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "golem" / "conversations"


def lose_the_folder(terminal: Terminal, server: HttpServer, folder: Path) -> None:
    """Ask; before the first word comes the folder is gone, and a file stands in its place."""
    server.reply(answer(gate := threading.Event(), "the ", "whole answer"), answer("the second"))
    at_prompt(terminal)
    terminal.type("question\r")
    terminal.wait_until(lambda: server.requests, "the request")
    shutil.rmtree(folder)
    folder.write_bytes(b"")
    gate.set()
    terminal.wait_for("the whole answer", "goes on in memory for now", "NOT SAVED")
    terminal.wait_for("/export FILE.json keeps it in another place")


def test_an_answer_that_cannot_be_saved_is_saved_as_soon_as_it_can(
    server: HttpServer, folder: Path, home: Path
) -> None:
    with chat(server, columns=140, rows=40) as terminal:
        lose_the_folder(terminal, server, folder)
        folder.unlink()
        say(terminal, "more", "the second")
        terminal.wait_until(lambda: "NOT SAVED" not in terminal.screen, "the mark to go")
        store = Store(home / "golem")
        now = [message.content for message in store.read(store.ids()[0]).messages]
        assert now == ["question", "the whole answer", "more", "the second"]
        terminal.type("/exit\r")
        assert terminal.wait_end() == 0
    assert "Kept. golem -r" in terminal.text
    assert [message["content"] for message in kept(home)["messages"]] == now


def test_leaving_what_is_not_saved_takes_a_second_word(server: HttpServer, folder: Path, home: Path) -> None:
    """Until then it can be put in another place; nobody says that it is kept."""
    elsewhere = home / "elsewhere.json"
    with chat(server, columns=140, rows=40) as terminal:
        lose_the_folder(terminal, server, folder)
        say(terminal, "more", "Nothing was sent", "Your prompt was not taken; Up brings it back.")
        say(terminal, "/exit", "leaving again gives it up")
        say(terminal, f"/export {elsewhere}", "Written:")
        terminal.type("/exit\r")
        assert terminal.wait_end() == 1
    assert "Kept." not in terminal.text
    assert "The newest was not kept." in terminal.text
    assert [each["content"] for each in json.loads(elsewhere.read_bytes())["messages"]] == [
        "question",
        "the whole answer",
    ]
    assert Store(home / "golem").conversations.read_bytes() == b""
