"""An open top-level code fence: its lines in colour, its blank rows held back until code follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.render.code import Highlighter, Piece

if TYPE_CHECKING:
    from golem_cli.render.blocks import FenceOpener


class CodeFence:
    """What is known of the open fence. `separate` says that a blank row is due before its first row.

    `begun` says whether it has a row yet: blank lines at its beginning and end are left out.
    """

    def __init__(self, opener: FenceOpener, *, separate: bool) -> None:
        self._opener = opener
        self._highlighter = Highlighter(opener.language)
        self._separate = separate
        self._blank_lines = 0
        self.begun = False

    def closed_by(self, line: str) -> bool:
        """Whether `line` ends the fence."""
        return self._opener.closed_by(line)

    def pieces(self, line: str) -> list[Piece]:
        """Return the coloured pieces of a line, none for a blank one, which is held back."""
        pieces = self._highlighter.line(self._opener.content(line).expandtabs(4))
        if line.strip():
            return pieces
        self._blank_lines += 1
        return []

    def due_rows(self) -> list[str]:
        """Return the blank rows that are due before the next row of code."""
        due = self._blank_lines if self.begun else int(self._separate)
        self._blank_lines = 0
        self.begun = True
        return [""] * due
