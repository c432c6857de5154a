"""Every command on a terminal, with text that attacks it wherever text can come from: nothing of it acts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from golem_cli.cli import app
from tests.support.chat_replies import answer
from tests.support.escape_parser import taken_apart
from tests.support.golem_runs import GOLEM, golem
from tests.support.hostile import ATTACK, HIDDEN, messages, write_conversation
from tests.support.http_server import HttpServer, Reply
from tests.support.terminal import Terminal

ID: Final = "0193c0de-0000-7000-8000-000000000001"
DELETED: Final = "0193c0de-0000-7000-8000-000000000002"
ALLOWED: Final = {
    "CSI m",  # SGR
    "C0 0D",  # the terminal's driver sends it before each newline
}
# NUL cannot be in an argument of a program, and "/" not in a file's name.
ARGUMENT: Final = ATTACK.replace("\x00", "").replace("/", "")
FILE: Final = f"file {ARGUMENT}"[:200]
COMMANDS: Final = [
    ("list",),
    ("list", "--json"),
    ("show",),
    ("show", ID),
    ("show", ID, "3"),
    ("show", ID, "--json"),
    ("show", FILE),
    ("show", ARGUMENT),
    ("rename", ID, f"new {ARGUMENT}"),
    ("rename", ARGUMENT, "x"),
    ("delete", ID),
    ("delete", ARGUMENT),
    ("fork", ID),
    ("fork", ID, "--at", ARGUMENT),
    ("fork", FILE),
    ("resume", "--no-run", ID),
    ("resume", "--no-run", FILE),
    ("resume", "--prompt", "go on", "-m", "openai:test", ID),
    ("normalize", FILE),
    ("normalize", "--check", FILE),
    ("normalize", "--diff", FILE),
    ("normalize", "--json", FILE),
    ("normalize", "-w", FILE),
    ("normalize", ARGUMENT),
    ("sanitize", FILE),
    ("sanitize", "--diff", FILE),
    ("sanitize", "-o", f"out {ARGUMENT}"[:200], FILE),
    *(("export", ID, "--format", form) for form in ("markdown", "html", "json")),
    ("export", "--redact", FILE, "-o", "-", "--format", "markdown"),
    ("export", ID, "-o", f"out {ARGUMENT}.md"),
    ("search", "OWNED"),
    ("search", "--json", "OWNED"),
    ("search", ARGUMENT),
    ("trash",),
    ("trash", "--json"),
    ("trash", "restore", DELETED),
    ("trash", "restore", ARGUMENT),
    ("trash", "empty", "--yes"),
    ("doctor", "--offline"),
    ("doctor", "--offline", "--json"),
    ("models",),
    ("models", "--json"),
    ("models", ARGUMENT),
    ("config",),
    ("config", "--json"),
    ("ask", "-m", "openai:test", f"hello {ARGUMENT}"),
    ("ask", "-m", "openai:test", "--output-format", "json", "hello"),
    ("ask", "-m", "openai:test", "--output-format", "stream-json", "hello"),
    ("ask", "-m", f"openai:{ARGUMENT}", "-f", ARGUMENT, "hello"),
    ("ask", "-m", ARGUMENT, "hello"),
    ("ask", "-c", "-m", "openai:test", "hello"),
    ("chat", "-r", ARGUMENT),
    ("chat", ARGUMENT),
    ("--output", ARGUMENT),
    (ARGUMENT,),
]


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.fixture
def run(home: Path, tmp_path: Path, server: HttpServer) -> Callable[..., bytes]:
    """Runs golem on a terminal, in a folder with a hostile file, over a store with a hostile conversation."""
    for identifier in (ID, DELETED):
        write_conversation(home / "golem", identifier, f"openai:{ATTACK}")
    assert golem("delete", DELETED).code == 0
    (tmp_path / FILE).write_text(json.dumps(messages()), encoding="utf-8")

    def run_golem(*arguments: str) -> bytes:
        variables = {"OPENAI_BASE_URL": f"{server.url}/v1"}
        with Terminal(GOLEM, *arguments, variables=variables, folder=tmp_path, columns=200) as terminal:
            terminal.wait_end()
            return terminal.raw

    return run_golem


def acts(raw: bytes) -> set[str]:
    """What in `raw` is neither text nor allowed."""
    sent = taken_apart(raw)
    return (sent.kinds - ALLOWED) | (set(sent.text) & HIDDEN)


def test_what_acts_is_seen_in_the_attack_itself() -> None:
    assert acts(ATTACK.encode()) == HIDDEN | {
        *("OSC", "DCS", "PM", "ESC c", "CSI J", "CSI A", "CSI ?1049h", "CSI n"),
        *("C1 9B", "C1 9D", "C0 08", "C0 00", "DEL", "CSI "),
    }


def test_every_command_is_among_those_tried() -> None:
    assert set(app.COMMANDS) <= {command[0] for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: ascii(" ".join(command))[1:40])
def test_a_command_sends_colours_only(
    command: tuple[str, ...], run: Callable[..., bytes], server: HttpServer
) -> None:
    server.reply(answer(*ATTACK, ATTACK))
    raw = run(*command)
    assert raw.strip()
    assert acts(raw) == set()


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_refusal_by_a_hostile_server_sends_colours_only(
    run: Callable[..., bytes], server: HttpServer, status: int
) -> None:
    body = json.dumps({"error": {"message": ATTACK, "type": ATTACK, "code": ATTACK}}).encode()
    server.reply(Reply(status=status, headers={f"X-{status}": "x"}, body=body, framing="length"))
    raw = run("ask", "-m", "openai:test", "hello")
    assert "OWNED" in raw.decode()
    assert acts(raw) == set()


def test_hostile_settings_are_shown_as_text(run: Callable[..., bytes], home: Path) -> None:
    config = home / "golem" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"model = {json.dumps(ATTACK)}\n{json.dumps(ATTACK)} = 1\n", encoding="utf-8")
    for command in ("config", "models", "list"):
        assert acts(run(command)) == set()
