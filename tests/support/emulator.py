"""A terminal emulator with scrollback, read row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyte

SCROLLBACK: Final = 100_000
"""How many rows above the screen are kept: more than any test writes."""


class Emulator(pyte.HistoryScreen):
    """A screen with the rows that left it at its top, which nobody pages through.

    pyte wraps every event of such a screen to undo the paging, which took a third of the tests' time.
    """

    __getattribute__ = object.__getattribute__

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows, history=SCROLLBACK)
        self._read_above: list[str] = []
        self._read_at = columns

    @property
    def rows(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        return [self._text(self.buffer[row]) for row in range(self.lines)]

    @property
    def above(self) -> list[str]:
        """The rows that left the screen at its top; they do not change, so each is read once."""
        rows, read = self.history.top, self._read_above
        if len(rows) < len(read) or self._read_at != self.columns:
            self._read_at = self.columns
            read.clear()
        read += [self._text(rows[index]) for index in range(len(read), len(rows))]
        return read

    def _text(self, row: Mapping[int, Any]) -> str:
        """Cells beyond `columns` and those behind a wide character, which are empty, add nothing."""
        return "".join([row[column].data for column in range(self.columns)]).rstrip()
