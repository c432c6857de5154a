"""A model that thinks first, on the screen: its thinking gives way to a line, and none of it is lost."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator

import pytest

from tests.support.chat_replies import chunk
from tests.support.chat_terminal import at_prompt, chat, say
from tests.support.http_server import HttpServer, Piece, Reply


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def thought(text: str) -> bytes:
    return event({"choices": [{"index": 0, "delta": {"reasoning_content": text}, "finish_reason": None}]})


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


def test_thinking_is_shown_gives_way_to_a_line_and_show_has_it_all(server: HttpServer) -> None:
    gate = threading.Event()
    usage = {"prompt_tokens": 20, "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 8}}
    pieces: list[Piece] = [thought("First this. "), thought("Then that."), gate, chunk("The answer.", "stop")]
    body = [*pieces, event({"choices": [], "usage": usage}), b"data: [DONE]\n\n"]
    server.reply(Reply(headers={"Content-Type": "text/event-stream"}, body=body))
    with chat(server, columns=100) as terminal:
        at_prompt(terminal)
        terminal.type("hello\r")
        terminal.wait_for("First this. Then that.")
        assert b"\x1b[2mFirst this." in terminal.raw, "it is dim"
        gate.set()
        terminal.wait_for("The answer.", "20 in")
        assert "First this." not in terminal.text
        rows = terminal.rows
        at = rows.index("thought for 4 words")
        assert rows[at + 1 : at + 3] == ["", "The answer."]
        foot = r"── 20 in \(8 cached\), 12 out · \d+\.\d s · openai:test ─+"
        assert re.fullmatch(foot, rows[at + 3])
        say(terminal, "/show", "First this. Then that.")
