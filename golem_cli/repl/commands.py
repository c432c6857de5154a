"""The slash commands: one table from names to handlers, and the look-up that forgives a slip."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.repl.room import Room

Handler = Callable[["Room", str], Awaitable[None] | None]
"""Takes the room and the words behind the command."""

_LONGEST: Final = 60
"""Cells of an unknown command's name that are repeated: a pasted path can be long."""

Choices = Callable[["Room"], Iterable[tuple[str, str]]]
"""Values that an argument may take, each with a description."""


class Command(NamedTuple):
    """One slash command. `argument` shows in the help, `choices` completes it."""

    name: str
    summary: str
    handler: Handler
    aliases: tuple[str, ...] = ()
    argument: str = ""
    choices: Choices | None = None

    @property
    def usage(self) -> str:
        """The command as it is typed."""
        return f"/{self.name} {self.argument}".rstrip()

    def run(self, room: Room, words: str) -> Awaitable[None] | None:
        """Do it; raises `ConfigurationError` for words behind a command that takes none."""
        if words and not self.argument:
            raise ConfigurationError(f"/{self.name} takes nothing behind it, so nothing was done")
        return self.handler(room, words)


class Commands:
    """The table, by name and alias."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self.all = tuple(commands)
        self._by_name = {name: each for each in self.all for name in (each.name, *each.aliases)}

    def names(self) -> list[str]:
        """Every name and alias."""
        return list(self._by_name)

    def find(self, name: str) -> Command:
        """The command called `name`; raises `ConfigurationError` that suggests the nearest."""
        command = self._by_name.get(name)
        if command is not None:
            return command
        if not name:
            raise ConfigurationError(
                "the name of a command stands right behind /; /help lists them all. "
                "(//text sends /text as a prompt)"
            )
        from difflib import get_close_matches

        from golem_cli.render.cells import shorten

        name = shorten(name, _LONGEST)
        near = get_close_matches(name, self._by_name, n=1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists them all."
        raise ConfigurationError(f"there is no command /{name}; {hint} (//text sends /text as a prompt)")


def split(line: str) -> tuple[str, str] | None:
    """The command's name and the words behind it; None when the line is a prompt.

    >>> split("/show 3"), split("//not a command"), split("hi"), split("/help ")
    (('show', '3'), None, None, ('help', ''))
    """
    if not line.startswith("/") or line.startswith("//"):
        return None
    name, *rest = line[1:].split(maxsplit=1) or [""]
    return name.lower(), "".join(rest).strip()


def prompt_text(line: str) -> str:
    """The prompt that a line stands for: `//text` is `/text`.

    >>> prompt_text("//etc/hosts is a file")
    '/etc/hosts is a file'
    """
    return line[1:] if line.startswith("//") else line


def prompt_line(prompt: str) -> str:
    """The line that stands for a prompt: the inverse of `prompt_text`.

    >>> prompt_line("/etc/hosts is a file"), prompt_line("hi")
    ('//etc/hosts is a file', 'hi')
    """
    return f"/{prompt}" if prompt.startswith("/") else prompt
