"""An open top-level code fence: its lines in colour, its blank rows held back until code follows them."""

from __future__ import annotations

import time
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Final

from golem_cli.render.code import Highlighter, Piece, known_language
from golem_cli.render.syntax_theme import ANSI, SyntaxTheme

if TYPE_CHECKING:
    from golem_cli.render.blocks import FenceOpener

_PATIENCE: Final = 0.01
"""Seconds that a fence waits for the lexer of its language, all its lines together."""


class CodeFence:
    """What is known of the open fence. `separate` says that a blank row is due before its first row.

    `begun` says whether it has a row yet: blank lines at its beginning and end are left out.
    """

    def __init__(self, opener: FenceOpener, *, separate: bool, theme: SyntaxTheme = ANSI) -> None:
        self._opener = opener
        self._colors = _ColorsInTime(known_language(opener.language), theme)
        self._separate = separate
        self._blank_lines = 0
        self.begun = False

    def closed_by(self, line: str) -> bool:
        """Whether `line` ends the fence."""
        return self._opener.closed_by(line)

    def pieces(self, line: str) -> list[Piece]:
        """Return the coloured pieces of a line, none for a blank one, which is held back."""
        pieces = self._colors.line(self._opener.content(line).expandtabs(4))
        if line.strip():
            return pieces
        self._blank_lines += 1
        return []

    @property
    def due(self) -> int:
        """How many blank rows are due before the next row of code."""
        return self._blank_lines if self.begun else int(self._separate)

    def due_rows(self) -> list[str]:
        """Return the blank rows that are due; they are no longer."""
        due = self.due
        self._blank_lines = 0
        self.begun = True
        return [""] * due


class _ColorsInTime:
    """A `Highlighter` that keeps nobody waiting: until its lexer is there, lines have no colour."""

    def __init__(self, language: str, theme: SyntaxTheme) -> None:
        self._language = language
        self._theme = theme
        self._loading = _loading(language)
        self._patience = _PATIENCE
        self._earlier: list[str] = []
        self._highlighter: Highlighter | None = None

    def line(self, text: str) -> list[Piece]:
        if self._highlighter is None and not self._is_ready():
            self._earlier.append(text)
            return [("", text)]
        if self._highlighter is None:
            self._highlighter = Highlighter(self._language, self._theme)
            for line in self._earlier:  # for the lexer's state
                self._highlighter.line(line)
        return self._highlighter.line(text)

    def _is_ready(self) -> bool:
        if self._loading.is_alive():
            started = time.monotonic()
            self._loading.join(max(self._patience, 0))
            self._patience -= time.monotonic() - started
        return not self._loading.is_alive()


@cache
def _loading(language: str) -> Thread:
    """The thread that loads the lexer of a known language; it is begun once."""
    thread = Thread(target=Highlighter, args=(language,), name=f"golem-lexer-{language}", daemon=True)
    thread.start()
    return thread
