"""The sections of an answer that are no Markdown: plain text, and thinking while it lasts."""

from __future__ import annotations

from typing import Final

from golem_cli.render.echo import Echo

_THINKING_ROWS: Final = 8
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
    """Text for a sink that takes no escape sequences: written as it comes."""

    def __init__(self) -> None:
        self._at_start = True

    def feed(self, text: str) -> str:
        """Return what to write for the next fragment."""
        if text:
            self._at_start = text.endswith("\n")
        return text

    def close(self) -> str:
        """Return what ends the last line."""
        return "" if self._at_start else "\n"

    def resize(self, width: int, height: int) -> str:
        """Nothing: the terminal wraps."""
        del width, height
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
