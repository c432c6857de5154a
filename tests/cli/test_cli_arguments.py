"""What the person typed → what Typer parses."""

from __future__ import annotations

from pathlib import Path

import pytest

from golem_cli.cli.arguments import plain_list, resolve
from golem_cli.core.conversation import Conversation
from golem_cli.store.store import Store
from tests.support.golem_runs import golem


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / "golem")


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


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("list", (None, False)),
        ("list --json", (None, True)),
        ("list -n 20", (20, False)),
        ("list --limit 3 --json", (3, True)),
    ],
)
def test_a_list_that_is_spelled_plainly_needs_no_parser(
    typed: str, options: tuple[int | None, bool], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is what Typer makes of it."""
    assert plain_list(typed.split()) == options
    for number in range(4):
        with store.create(Conversation(title=f"t{number}")) as writer:
            writer.save()
    plain = golem(*typed.split())
    monkeypatch.setattr("golem_cli.cli.arguments.plain_list", lambda arguments: None)
    parsed = golem(*typed.split())
    assert (plain.code, plain.out, plain.err) == (0, parsed.out, "")


@pytest.mark.parametrize(
    "typed",
    [
        *("list -n 0", "list -n x", "list -n", "list -n --json 3", "list -n=3", "list -n ٣", "list --help"),
        *("list x", "lists", "show", f"list -n {'9' * 5000}", "list --json --json", "--json"),
    ],
)
def test_every_other_list_is_left_to_the_parser(typed: str) -> None:
    assert plain_list(typed.split()) is None
