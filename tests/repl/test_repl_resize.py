"""The window changes its size in the middle of an answer: what is on the screen is there once, and whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer, Piece
from tests.support.tmux import Tmux

OPEN: Final = {
    "paragraph": ["".join(f" w{n:03}x" for n in range(first, first + 30)) for first in (0, 30, 60)],
    "list": ["".join(f"- w{n:03}x\n" for n in range(first, first + 6)) + "- and" for first in (0, 6, 12)],
    "code": ["```python\nw000x = 1\nw001x", " = 2\nw002x = 3 # a", "\nw003x = 4\n```\n"],
    "table": ["| a | b |\n|---|---|\n| w000x | w001x |\n| w002x", " | w003x |\n| w004x", " | w005x |\n"],
}


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.mark.parametrize("sizes", [[(50, 24), (80, 24)], [(40, 10), (30, 30)], [(120, 40), (60, 12)]])
@pytest.mark.parametrize("block", OPEN)
def test_each_word_is_on_the_screen_once(
    server: HttpServer, block: str, sizes: list[tuple[int, int]]
) -> None:
    gates = [threading.Event() for _ in sizes]
    first, *others = OPEN[block]
    pieces: list[str | Piece] = ["Before it.\n\n", first]
    for gate, piece in zip(gates, others, strict=True):
        pieces += [gate, piece]
    server.reply(answer(*pieces, "\n\nBehind it.\n"))
    variables = {"OPENAI_BASE_URL": f"{server.url}/v1"}
    with Tmux(GOLEM, "-m", "openai:test", variables=variables) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("hello")
        terminal.wait_for(f"{PROMPT} hello")
        terminal.type("\r")
        shown = first.rsplit(maxsplit=1)[-1]
        for size, gate, piece in zip(sizes, gates, others, strict=True):
            terminal.wait_for(shown)
            terminal.resize(*size)
            gate.set()
            shown = piece.rsplit(maxsplit=1)[-1].strip("`")
        terminal.wait_for("Behind it.", "9 in")
        text = terminal.text.replace("\n", "") if block == "code" else terminal.text
    words = {f"w{n:03}x" for n in range(100) if f"w{n:03}x" in "".join(OPEN[block])}
    assert {word: text.count(word) for word in words} == dict.fromkeys(words, 1)
    assert text.count("Before it.") == text.count("Behind it.") == 1
