"""Completion: slash commands with what they do, and their arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from golem_cli.render.neutralize import one_line

if TYPE_CHECKING:
    from golem_cli.repl.room import Room

_MEANING: Final = 60
"""Characters of a description in the menu."""


class SlashCompleter(Completer):
    """Completes only lines that begin with one slash; a prompt is left in peace."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield what may stand at the cursor."""
        text = document.text_before_cursor
        if not text.startswith("/") or text.startswith("//") or "\n" in text:
            return
        name, space, argument = text[1:].partition(" ")
        if not space:
            yield from self._names(name)
        elif name == "export":
            rest = Document(argument, len(argument))
            for path in self._paths.get_completions(rest, complete_event):
                yield _shown(path.text, path.start_position, display=path.display_text)
        else:
            yield from self._arguments(name, argument)

    def _names(self, beginning: str) -> Iterable[Completion]:
        for command in self._room.commands.all:
            for name in (command.name, *(command.aliases if beginning else ())):
                if name.startswith(beginning):
                    yield Completion(name, -len(beginning), display=f"/{name}", display_meta=command.summary)

    def _arguments(self, name: str, beginning: str) -> Iterable[Completion]:
        if name not in self._room.commands.names():
            return
        choices = self._room.commands.find(name).choices
        for value, meaning in choices(self._room) if choices else ():
            if value.startswith(beginning):
                yield _shown(value, -len(beginning), display=value, meaning=meaning)


def _shown(text: str, start: int, *, display: str, meaning: str = "") -> Completion:
    """A completion whose names come from elsewhere: the menu shows marks, the draft gets the text itself."""
    return Completion(
        text,
        start,
        display=one_line(display),
        display_meta=one_line(meaning[:_MEANING])[:_MEANING],
    )
