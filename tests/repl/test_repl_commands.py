"""The table of slash commands: how a line is taken apart, and what a command refuses from the start."""

from __future__ import annotations

from typing import Any, cast

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.repl.command_table import COMMANDS
from golem_cli.repl.commands import Command, Commands, split

NOWHERE = cast("Any", object())  # a room that every handler would fail in

WITHOUT = [each for each in COMMANDS.all if not each.argument]


@pytest.mark.parametrize("command", WITHOUT, ids=lambda command: command.name)
def test_a_command_without_an_argument_refuses_words_and_does_nothing(command: Command) -> None:
    with pytest.raises(ConfigurationError, match=f"/{command.name} takes nothing behind it"):
        command.run(NOWHERE, "X")


def test_the_commands_without_an_argument_are_those_of_the_table() -> None:
    named = {"new", "retry", "sessions", "ids", "normalize", "exit", "help", "parent", "history", "context"}
    assert named <= {each.name for each in WITHOUT}


def test_a_command_with_an_argument_gets_the_words() -> None:
    got: list[str] = []
    command = Command(name="x", summary="", argument="[N]", handler=lambda _, words: got.append(words))
    command.run(NOWHERE, "3 4")
    assert got == ["3 4"]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("/show 3", ("show", "3")),
        ("/SHOW\t3 ", ("show", "3")),
        ("/system one\ntwo  three", ("system", "one\ntwo  three")),
        ("/system\nBe short.", ("system", "Be short.")),
        ("/", ("", "")),
        ("/ help", ("help", "")),
        ("//show", None),
        (" /show", None),
        ("show", None),
    ],
)
def test_a_line_splits_into_a_name_and_words(line: str, parts: tuple[str, str] | None) -> None:
    assert split(line) == parts


def test_an_unknown_name_of_any_length_is_one_short_line() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Commands(COMMANDS.all).find("usr/" * 1_000_000)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)
