"""The terminal as the REPL writes to it: lines of golem's own, renderables, answers; all text neutralized."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from golem_cli.render.neutralize import neutralize

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from golem_cli.render.answer import AnswerView
    from golem_cli.render.syntax_theme import SyntaxTheme

_STYLES: Final = {"": "", "dim": "\x1b[2m", "error": "\x1b[31m", "good": "\x1b[32m", "strong": "\x1b[1m"}
_OFF: Final = "\x1b[0m"


class Terminal(NamedTuple):
    """Where the REPL shows things. `plain` writes no escape sequence at all; `color` allows colours."""

    out: TextIO = sys.stdout
    plain: bool = False
    color: bool = True
    theme: SyntaxTheme | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        found = shutil.get_terminal_size((80, 24))
        return found.columns, found.lines

    def write(self, text: str) -> None:
        """Write finished text and flush it: one write for each call.

        A terminal that was closed is no error: what must be kept is kept without it.
        """
        try:
            self.out.write(text)
            self.out.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.out.fileno())  # else every later flush would fail again
            os.close(nowhere)

    def print(self, text: str) -> None:
        """Show text of others, neutralized, its lines as they are: what is copied from here has no wraps."""
        self.write(f"{neutralize(text)}\n")

    def say(self, text: str, style: str = "") -> None:
        """Show lines of golem's own, neutralized; `style` is `dim`, `error`, `good`, `strong` or none."""
        from golem_cli.render.cells import break_rows

        shown = "\n".join(break_rows(neutralize(text), self.size[0]))
        code = _STYLES[style]
        if code and not self.plain and (self.color or style in ("dim", "strong")):
            shown = f"{code}{shown}{_OFF}"
        self.write(f"{shown}\n")

    def show(self, renderable: RenderableType) -> None:
        """Show a renderable; what is untrusted in it was neutralized where it was made."""
        from golem_cli.render.console import make_console

        make_console(self.out, plain=self.plain, color=self.color, width=self.size[0]).print(renderable)

    def answer_view(self, title: str, write: Callable[[str], object]) -> AnswerView:
        """A panel for the next answer, which goes through `write`."""
        from golem_cli.render.answer import AnswerView

        width, height = self.size
        return AnswerView(
            write,
            width=width,
            height=height,
            title=title,
            plain=self.plain,
            color=self.color,
            theme=self.theme,
            size=lambda: self.size,
        )
