"""The chat on a real pseudo-terminal, talking to a server on loopback: open it, enter lines, look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer
from tests.support.terminal import Terminal

PROMPT: Final = chr(0x203A)
ALONE: Final = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "TMUX": "", "STY": ""}
"""A terminal without a desktop or a multiplexer: a test must not copy into the clipboard of its person."""


def chat(server: HttpServer, *arguments: str, **options: Any) -> Terminal:
    variables = {**ALONE, "OPENAI_BASE_URL": f"{server.url}/v1", **options.pop("variables", {})}
    return Terminal(GOLEM, "-m", "openai:test", *arguments, variables=variables, **options)


def at_prompt(terminal: Terminal) -> None:
    """Wait for an empty prompt with its bottom line."""
    terminal.wait_until(
        lambda: terminal.rows[terminal.cursor_row] == PROMPT and bool(terminal.rows[-1]), "a prompt"
    )


def say(terminal: Terminal, line: str, *shown: str) -> None:
    """Enter a line at an empty prompt and wait for what it shows, anew, and for the next prompt."""
    at_prompt(terminal)
    before = {text: terminal.text.count(text) for text in shown}
    terminal.type(f"{line}\r")
    terminal.wait_until(
        lambda: all(terminal.text.count(text) > count for text, count in before.items()), f"{shown} to show"
    )
    at_prompt(terminal)


def kept(home: Path) -> dict[str, Any]:
    """The only conversation of the store, as its file has it."""
    (path,) = (home / "golem" / "conversations").glob("*.json")
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


def sent(server: HttpServer) -> list[str]:
    """The contents of the messages of the last request."""
    return [message["content"] for message in json.loads(server.requests[-1].body)["messages"]]
