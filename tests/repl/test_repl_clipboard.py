"""The clipboard: what reaches it, by which way, and that no more is said than is known."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.render.code_blocks import CodeBlock, code_blocks
from golem_cli.repl.clipboard import LARGEST_OSC52
from golem_cli.repl.passthrough import to_outer_terminal
from tests.support.chat_replies import answer
from tests.support.chat_terminal import PROMPT, at_prompt, chat, say
from tests.support.http_server import HttpServer

ANSWER: Final = "First:\n\n```sh\nls -l\n```\n\n- then\n\n  ```python\n  if x:\n      y()\n  ```\n\nEnd."


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer() as running:
        yield running.reply(answer(ANSWER))


def copied(raw: bytes) -> list[str]:
    """What the OSC 52 sequences in `raw` put into the clipboard."""
    return [
        base64.b64decode(found, validate=True).decode()
        for found in re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", raw)
    ]


def write_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o700)


def test_the_terminal_is_handed_the_answer_or_one_of_its_code_blocks(server: HttpServer) -> None:
    with chat(server, columns=120) as terminal:
        say(terminal, "hello", "End.")
        handed = "handed to the terminal, which does not say whether it took them"
        say(terminal, "/copy", f"{len(ANSWER)} characters {handed}")
        say(terminal, "/copy code", f"13 characters {handed}")
        say(terminal, "/copy code 1", f"5 characters {handed}")
        say(terminal, "/copy 1", f"5 characters {handed}")
        say(terminal, "/copy code 3", "3 is out of range; give a number from 1 to 2")
        assert copied(terminal.raw) == [ANSWER, "if x:\n    y()", "ls -l", "hello"]


def test_the_menu_offers_the_code_blocks(server: HttpServer) -> None:
    with chat(server) as terminal:
        say(terminal, "hello", "End.")
        terminal.type("/copy ")
        terminal.wait_for("the last code block", "code 1", "sh ls -l", "code 2", "python if x:")


def test_an_answer_without_code_has_none_to_copy(server: HttpServer) -> None:
    with HttpServer() as other, chat(other.reply(answer("No code."))) as terminal:
        say(terminal, "hello", "No code.")
        say(terminal, "/copy code", "the last answer has no code block")
        assert copied(terminal.raw) == []


def test_hidden_characters_in_what_is_copied_are_told(server: HttpServer) -> None:
    with HttpServer() as other, chat(other.reply(answer("a\x1b[201~\u200b"))) as terminal:
        say(terminal, "hello", "9 in")
        say(terminal, "/copy", "8 characters handed", "2 characters would not be seen")
        assert copied(terminal.raw) == ["a\x1b[201~\u200b"]


def test_a_text_beyond_the_terminals_limit_is_refused_whole(server: HttpServer) -> None:
    largest = "ä" * (LARGEST_OSC52 // 2)
    with HttpServer() as other:
        other.reply(answer(largest), answer(f"{largest}."))
        with chat(other, columns=120) as terminal:
            say(terminal, "one", "9 in")
            say(terminal, "/copy", f"{len(largest):,} characters handed")
            say(terminal, "two", "9 in")
            say(terminal, "/copy", "takes 74,994 bytes, and this has 74,995")
            assert copied(terminal.raw) == [largest]


@pytest.mark.parametrize(
    ("arguments", "variables"), [(["--plain"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": "linux"})]
)
def test_a_terminal_without_a_clipboard_gets_no_sequence(
    server: HttpServer, arguments: list[str], variables: dict[str, str]
) -> None:
    with chat(server, *arguments, variables=variables) as terminal:
        terminal.wait_for(PROMPT)
        terminal.wait_until(lambda: not termios.tcgetattr(terminal.descriptor)[3] & termios.ICANON, "keys")
        terminal.type("hello\r")
        terminal.wait_for("9 in")
        terminal.type("/copy\r")
        terminal.wait_for("no clipboard can be reached from here")
        assert b"\x1b]" not in terminal.raw


@pytest.mark.parametrize(
    ("variable", "program"), [("WAYLAND_DISPLAY", "wl-copy"), ("DISPLAY", "xclip"), ("DISPLAY", "xsel")]
)
def test_a_program_of_the_desktop_is_used_where_there_is_a_display(
    server: HttpServer, tmp_path: Path, variable: str, program: str
) -> None:
    write_program(tmp_path, program, f"exec cat > {tmp_path}/copied")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    with chat(server, variables={"PATH": path}) as terminal:
        say(terminal, "hello", "End.")
        say(terminal, "/copy", "handed to the terminal")
        assert not (tmp_path / "copied").exists()
    with chat(server, "-c", variables={"PATH": path, variable: ":9"}) as terminal:
        say(terminal, "/copy", f"copied with {program}.")
        assert (tmp_path / "copied").read_text(encoding="utf-8") == ANSWER
        assert copied(terminal.raw) == []


def test_a_program_that_fails_is_not_said_to_have_copied(server: HttpServer, tmp_path: Path) -> None:
    write_program(tmp_path, "xclip", "exit 1")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    with chat(server, variables={"PATH": path, "DISPLAY": ":9"}) as terminal:
        say(terminal, "hello", "End.")
        say(terminal, "/copy", "handed to the terminal")
        assert copied(terminal.raw) == [ANSWER]


def test_over_ssh_the_other_machines_clipboard_is_left_alone(server: HttpServer, tmp_path: Path) -> None:
    write_program(tmp_path, "pbcopy", f"exec cat > {tmp_path}/copied")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    remote = {"PATH": path, "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}
    with chat(server, variables=remote) as terminal:
        say(terminal, "hello", "End.")
        say(terminal, "/copy", "handed to the terminal")
        assert not (tmp_path / "copied").exists()
    with chat(server, "-c", variables={**remote, "SSH_CONNECTION": ""}) as terminal:
        say(terminal, "/copy", "copied with pbcopy.")
        assert (tmp_path / "copied").read_text(encoding="utf-8") == ANSWER


def test_in_tmux_its_buffer_has_what_was_copied(server: HttpServer, tmp_path: Path) -> None:
    def tmux(*words: str, check: bool = True) -> str:
        done = subprocess.run(["tmux", "-S", socket, *words], capture_output=True, text=True, check=check)
        return done.stdout

    socket = str(tmp_path / "s")
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "sh")
    try:
        place = tmux("display-message", "-p", "#{socket_path},#{pid},0").strip()
        with chat(server, columns=120, variables={"TMUX": place}) as terminal:
            say(terminal, "hello", "End.")
            say(terminal, "/copy", "copied into tmux's buffer")
            assert tmux("show-buffer") == ANSWER
    finally:
        tmux("kill-server", check=False)


@given(st.binary(max_size=2000))
def test_screen_hands_on_what_was_wrapped_in_short_strings(data: bytes) -> None:
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\a"
    wrapped = to_outer_terminal(sequence, {"STY": "1.x"})
    strings = re.findall(r"\x1bP(.*?)\x1b\\", wrapped, flags=re.DOTALL)
    assert "".join(strings) == sequence
    assert max(map(len, strings)) < 256, "the least buffer of screen"
    assert len(wrapped) == len(sequence) + 4 * len(strings), "nothing is outside of them"


@given(st.binary(max_size=300))
def test_tmux_hands_on_what_was_wrapped_with_each_esc_doubled(data: bytes) -> None:
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\a"
    wrapped = to_outer_terminal(sequence, {"TMUX": "x"})
    assert wrapped.startswith("\x1bPtmux;")
    assert wrapped.endswith("\a\x1b\\")
    assert wrapped[7:-2].replace("\x1b\x1b", "\x1b") == sequence


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no code", []),
        ("`inline`", []),
        ("```\n\n```", []),
        ("~~~ py x=1\na\n\nb\n~~~", [("py", "a\n\nb")]),
        ("    indented\n      more\n", [("", "indented\n  more")]),
        ("> ```js\n> f()\n> ```", [("js", "f()")]),
        ("```sh\nnever closed", [("sh", "never closed")]),
        ("1. a\n   ```c\n   x\n   ```\n\n```\n\ty\n```", [("c", "x"), ("", "\ty")]),
        ("| a |\n|---|\n| `b` |\n\n```\nz\n```", [("", "z")]),
    ],
)
def test_code_blocks_are_those_of_commonmark(text: str, found: list[tuple[str, str]]) -> None:
    assert code_blocks(text) == [CodeBlock(language, code) for language, code in found]


def test_copying_before_an_answer_is_refused(server: HttpServer) -> None:
    with chat(server) as terminal:
        say(terminal, "/copy code", "there is no answer yet")
        at_prompt(terminal)
