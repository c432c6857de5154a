"""Every slash command on a real pseudo-terminal, over a conversation that attacks it: nothing of it acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from golem_cli.repl.command_table import COMMANDS
from tests.support.chat_replies import answer
from tests.support.chat_terminal import at_prompt, chat
from tests.support.escape_parser import taken_apart
from tests.support.hostile import ATTACK, HIDDEN, write_conversation
from tests.support.http_server import HttpServer, Reply
from tests.support.terminal import Terminal

ID: Final = "0193c0de-0000-7000-8000-000000000001"
OTHER: Final = "0193c0de-0000-7000-8000-000000000002"
ALLOWED: Final = {
    *("C0 0D", "C0 08"),  # back to the row's start, one cell back
    "CSI m",  # SGR
    *("CSI A", "CSI B", "CSI C", "CSI D"),  # the cursor up, down, right, left
    *("CSI J", "CSI K"),  # erase below, erase the row's rest
    *("CSI ?2004h", "CSI ?2004l"),  # bracketed paste
    *("CSI ?2026h", "CSI ?2026l"),  # a synchronised update
    # What prompt-toolkit sends to show its prompt: it asks where the cursor is, hides and shows it, turns the
    # terminal's own wrapping and the application's cursor keys on and off.
    *("CSI n", "CSI ?25h", "CSI ?25l", "CSI ?12l", "CSI ?7h", "CSI ?7l", "CSI ?1l"),
}
# Two strings of golem's own, each when asked for: the notice at an answer's end; the clipboard's base64.
NOTICE: Final = re.compile(rb"\x1b\]9;golem: the answer (is there|failed)\x07")
CLIPBOARD: Final = re.compile(rb"\x1b\]52;c;[A-Za-z0-9+/=]*\x07")
PASTED: Final = ATTACK.replace("\r", "")
NUMBERED: Final = {"show", "raw", "copy", "edit", "rewind", "fork"}


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running


@pytest.fixture
def hostile_store(home: Path) -> None:
    for identifier in (ID, OTHER):
        write_conversation(home / "golem", identifier, "openai:test")


def acts(raw: bytes) -> set[str]:
    """What in `raw` is neither text nor allowed."""
    sent = taken_apart(raw)
    return (sent.kinds - ALLOWED) | (set(sent.text) & HIDDEN)


def enter(terminal: Terminal, line: str) -> None:
    """Paste a line at the prompt and enter it; return at the next prompt, without the draft that it left."""
    prompts = terminal.raw.count(b"\x1b[?2004h")
    terminal.type(f"\x1b[200~{line}\x1b[201~\r")
    if line != "/exit":
        terminal.wait_until(lambda: terminal.raw.count(b"\x1b[?2004h") > prompts, "the next prompt")
        terminal.type("|")
        terminal.wait_until(lambda: terminal.rows[terminal.cursor_row].endswith("|"), "a draft")
        terminal.type("\x03")  # which would leave at a prompt without one
        at_prompt(terminal)


def lines_of(name: str) -> list[str]:
    """A command alone, with an attack behind it, and with the numbers of messages."""
    lines = [f"/{name} {PASTED}", f"/{name}"]
    if name in NUMBERED:
        lines += [f"/{name} {number}" for number in (2, 3, 7)]
    return lines


@pytest.mark.usefixtures("hostile_store")
@pytest.mark.parametrize("name", [command.name for command in COMMANDS.all])
def test_a_command_sends_only_what_is_listed(server: HttpServer, name: str, tmp_path: Path) -> None:
    """Its lines in one chat, each on the conversation that the chat opened with."""
    server.reply(answer(*ATTACK, ATTACK))
    lines = lines_of(name)
    with chat(server, "-r", ID, columns=100, folder=tmp_path) as terminal:
        at_prompt(terminal)
        for line in lines:
            enter(terminal, f"/open {ID}")
            enter(terminal, line)
        if name != "exit":
            terminal.type("\x04")
        terminal.wait_end()
        raw = terminal.raw
    if name == "copy":  # it writes the clipboard: in an OSC 52 of golem's own
        raw = CLIPBOARD.sub(b"", raw)
    assert acts(raw) == set(), lines


@pytest.mark.usefixtures("hostile_store")
def test_an_answer_a_refusal_and_a_menu_send_only_what_is_listed(server: HttpServer, tmp_path: Path) -> None:
    (tmp_path / f"file {ATTACK}".replace("/", "").replace("\0", "")).touch()
    server.reply(answer(*ATTACK, ATTACK), Reply(status=500, body=ATTACK.encode(), framing="length"))
    variables = {"GOLEM_NOTIFY": "osc9", "GOLEM_NOTIFY_AFTER": "0"}
    with chat(server, folder=tmp_path, variables=variables) as terminal:
        for _ in range(2):
            at_prompt(terminal)
            terminal.type(f"\x1b[200~hello {ATTACK}\x1b[201~\r")
            terminal.wait_for("9 in") if not _ else terminal.wait_for("500")
        at_prompt(terminal)
        terminal.type("/export ")
        terminal.wait_for("file ")
        assert len(NOTICE.findall(terminal.raw)) == 2
        assert acts(NOTICE.sub(b"", terminal.raw)) == set()
