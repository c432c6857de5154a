"""The sections of an answer that are no Markdown: plain text, and thinking while it lasts."""

from __future__ import annotations

import re
from typing import Final

from rich.cells import cell_len

from golem_cli.render.echo import Echo

_THINKING_ROWS: Final = 8
_WIDE: Final = r"\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60"
_WORDS: Final = re.compile(rf"\n| *(?:[{_WIDE}]|[^ \n{_WIDE}]+)| +")
"""A newline, or a word with the spaces before it; a character of a script without spaces is a word."""
_DIM: Final = "\x1b[2m"
_OFF: Final = "\x1b[0m"


def _summary(words: int) -> str:
    return f"thought for {words} word{'' if words == 1 else 's'}"


class _WordCount:
    """Counts words in fragments."""

    def __init__(self) -> None:
        self.words = 0
        self._inside = False

    def feed(self, text: str) -> None:
        pieces = text.split()
        joined = bool(pieces) and self._inside and not text[0].isspace()
        self.words += len(pieces) - joined
        self._inside = bool(text) and not text[-1].isspace()


class PlainText:
    """Text for a terminal that takes no escape sequences: word by word as it comes, broken at spaces.

    `width` is that of the terminal, which itself wraps a word that is longer. The last word waits for its
    end, at most for a row of it.
    """

    def __init__(self, width: int) -> None:
        self._width = max(width, 2)
        self._column = 0
        self._open = ""
        self._done = 0  # characters of the open word that are written: a whole row of it does not wait

    def feed(self, text: str) -> str:
        """Return what to write for the next fragment."""
        words: list[str] = _WORDS.findall(self._open + text)
        last = words.pop() if words and words[-1] != "\n" else ""
        out = "".join(map(self._place, words))
        self._open = last
        if cell_len(last[self._done :]) >= self._width:
            out += self._place(last)
            self._open, self._done = last[-1:], 1
        return out

    def _place(self, word: str) -> str:
        if word == "\n":
            self._column = 0
            return word
        begun, self._done = self._done, 0
        rest, before = word[begun:], ""
        if not begun and self._column and self._width <= self._column + cell_len(rest):
            rest, before, self._column = rest.lstrip(" "), "\n", 0
        end = self._column + cell_len(rest)
        self._column = (end - 1) % self._width + 1 if end else 0  # the terminal itself fills further rows
        return before + rest

    def close(self) -> str:
        """Return what ends the last line."""
        last, self._open = self._place(self._open), ""
        return last + ("\n" if self._column else "")

    def resize(self, width: int, height: int) -> str:
        """Go on in another size; nothing is to be written."""
        del height
        self._width = max(width, 2)
        return ""


class PlainThinking:
    """Thinking where nothing can be taken back: only counted."""

    def __init__(self) -> None:
        self._count = _WordCount()

    @property
    def summary(self) -> str:
        """The line that stands for it."""
        return _summary(self._count.words)

    def feed(self, text: str) -> str:
        """Count the fragment; nothing is to be written."""
        self._count.feed(text)
        return ""

    def close(self) -> str:
        """Nothing is to be taken back."""
        return ""

    def resize(self, width: int, height: int) -> str:
        """Nothing is on the screen."""
        del width, height
        return ""


class Thinking:
    """Thinking as it comes, dimmed, its last rows only; all of it is taken back at the end."""

    def __init__(self, width: int, height: int) -> None:
        self._count = _WordCount()
        self._echo = Echo(width - 1)
        self._set_rows(height)
        self._row = ""

    def _set_rows(self, height: int) -> None:
        self._rows = max(min(_THINKING_ROWS, height - 3), 1)

    @property
    def summary(self) -> str:
        """The line that stands for it."""
        return _summary(self._count.words)

    def feed(self, text: str) -> str:
        """Return what to write for the next fragment."""
        self._count.feed(text)
        return _DIM + "".join(self._add(line) for line in text.splitlines(keepends=True)) + _OFF

    def _add(self, text: str) -> str:
        step = max(self._echo.width // 2, 1)
        return "".join(self._step(text[start : start + step]) for start in range(0, len(text), step))

    def _step(self, text: str) -> str:
        out = self._echo.erase() if self._echo.rows >= self._rows else ""
        return out + self._echo.add(text)

    def close(self) -> str:
        """Return what takes it off the screen."""
        return self._echo.erase()

    def resize(self, width: int, height: int) -> str:
        """Go on in another size; what a narrower terminal has wrapped stays."""
        self._set_rows(height)
        narrower = width - 1 < self._echo.width
        if not narrower and self._echo.rows < height - 1:
            self._echo.width = max(width - 1, 2)
            return ""
        out = "\x1b[J" + ("\r\n" if self._echo.column else "")
        self._echo = Echo(width - 1)
        return out
