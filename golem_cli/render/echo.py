"""The open block as it arrives, in rows of our own, so that exactly those rows can be taken back."""

from __future__ import annotations

from typing import Final

from golem_cli.render.cells import most_cells

NEW_ROW: Final = "\r\n"
_TAB: Final = "    "


class Echo:
    """Writes text in rows of at most `width` cells and knows how many rows it has written.

    The terminal never wraps by itself. A word that does not fit moves to the next row when its cells are
    certain (ASCII). `rows` counts the rows above the cursor's.
    """

    def __init__(self, width: int) -> None:
        self.width = max(width, 2)
        self.rows = 0
        self.column = 0
        self._word = ""

    def add(self, text: str) -> str:
        """Return what to write for `text`, which continues what was added before."""
        text = text.replace("\t", _TAB)
        if "\n" not in text:
            return self._in_row(text)
        head, *lines = text.split("\n")
        out = [self._in_row(head)]
        for line in lines:
            self._new_row("")
            out.append(NEW_ROW + self._in_row(line))
        return "".join(out)

    def _in_row(self, text: str) -> str:
        end = self.column + most_cells(text)
        if end > self.width:
            out: list[str] = []
            for char in text:
                self._put(char, out)
            return "".join(out)
        self.column = end
        space = text.rfind(" ")
        self._word = text[space + 1 :] if space >= 0 else self._word + text
        return text

    def _put(self, char: str, out: list[str]) -> None:
        cells = most_cells(char)
        if self.column + cells > self.width:
            if char == " ":
                out.append(NEW_ROW)
                self._new_row("")
                return
            out.append(self._break_before())
        out.append(char)
        self.column += cells
        self._word = "" if char == " " else self._word + char

    def _break_before(self) -> str:
        """Start a new row, and take the unfinished word along when that helps."""
        word = self._word
        if word and len(word) < self.column and word.isascii():
            self._new_row(word)
            return f"\x1b[{len(word)}D\x1b[K{NEW_ROW}{word}"
        self._new_row("")
        return NEW_ROW

    def _new_row(self, word: str) -> None:
        self.rows += 1
        self.column = len(word)
        self._word = word

    def erase(self) -> str:
        """Take everything back: return what to write so that the cursor stands where the echo began."""
        rows, column = self.rows, self.column
        self.settle()
        self.column = 0
        self._word = ""
        if not rows:
            return "\r\x1b[K" if column else ""
        return f"\r\x1b[{rows}A\x1b[J"

    def settle(self) -> None:
        """Give up the rows above the cursor's: they stay as they are."""
        self.rows = 0
