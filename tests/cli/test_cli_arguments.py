"""What the person typed → what Typer parses."""

from __future__ import annotations

import pytest

from golem_cli.cli.arguments import resolve


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("", "chat"),
        ("-m local:", "chat -m local:"),
        ("-c", "chat -c"),
        ("-r", "chat --resume="),
        ("-r 0193", "chat --resume=0193"),
        ("--resume --plain", "chat --resume= --plain"),
        ("chat -r", "chat --resume="),
        ("-p hello", "ask hello"),
        ("-m x -p hello", "ask -m x hello"),
        ("-p hello -r 0193", "ask hello --resume=0193"),
        ("ask hello -c", "ask hello -c"),
        ("--help", "--help"),
        ("--version", "--version"),
        ("list --json", "list --json"),
        ("fork -r", "fork -r"),
    ],
)
def test_on_a_terminal(typed: str, meant: str) -> None:
    """`golem` is `golem chat`, `-p` makes it `ask`, and `-r` may stand without its value."""
    assert resolve(typed.split(), stdin_is_terminal=True).arguments == tuple(meant.split())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("", "ask"), ("-m local:", "ask -m local:"), ("-", "ask -"), ("chat", "chat"), ("list", "list")],
)
def test_without_a_terminal_on_stdin(typed: str, meant: str) -> None:
    """Without a terminal on stdin `golem` is `golem ask`; a command that is named stays."""
    assert resolve(typed.split(), stdin_is_terminal=False).arguments == tuple(meant.split())


def test_debug_may_stand_anywhere() -> None:
    """`--debug` is golem's own flag wherever it stands before `--`."""
    invocation = resolve(["show", "--debug", "x"], stdin_is_terminal=True)
    assert invocation.debug
    assert invocation.arguments == ("show", "x")


def test_after_a_double_dash_everything_is_text() -> None:
    """What follows `--` is never an option of ours."""
    invocation = resolve(["ask", "--", "--debug", "-p", "-r"], stdin_is_terminal=True)
    assert not invocation.debug
    assert invocation.arguments == ("ask", "--", "--debug", "-p", "-r")


def test_a_double_dash_alone_opens_a_prompt() -> None:
    """`golem -p -- -5` asks about minus five."""
    assert resolve(["-p", "--", "-5"], stdin_is_terminal=True).arguments == ("ask", "--", "-5")
