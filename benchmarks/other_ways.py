"""Other ways to stream Markdown to a terminal, to measure beside ours: each takes fragments and ends.

Models of the approach only. A model of 50 fragments a second is assumed: what redraws by the clock draws as
often as it would then.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from itertools import cycle
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

if TYPE_CHECKING:
    from typing import TextIO

Feed = tuple[Callable[[str], object], Callable[[], object]]
"""What takes a fragment, and what ends the answer."""

FRAGMENTS_A_SECOND: Final = 50
_LIVE_ROWS: Final = 6


def rich_live(out: TextIO, width: int, height: int) -> Feed:
    """Rich's `Live` over the whole Markdown, redrawn 12.5 times a second."""
    console = Console(file=out, width=width, height=height, force_terminal=True)
    live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
    live.start()
    text: list[str] = []
    due = cycle([False, False, False, True])

    def feed(piece: str) -> None:
        text.append(piece)
        if next(due):
            live.update(Markdown("".join(text)), refresh=True)

    return feed, live.stop


class LastRowsLive:
    """The whole Markdown rendered anew; its last rows live, those above printed once (aider's way).

    Up to 20 times a second, less often when a rendering takes long: ten times its duration, at most 2 s.
    """

    def __init__(self, out: TextIO, width: int, height: int) -> None:
        self._width = width
        self._console = Console(file=out, width=width, height=height, force_terminal=True)
        self._live = Live(console=self._console, auto_refresh=False)
        self._live.start()
        self._text = ""
        self._printed = 0
        self._due = self._now = 0.0

    def feed(self, piece: str) -> None:
        """Take a fragment, and draw when that is due."""
        self._text += piece
        self._now += 1 / FRAGMENTS_A_SECOND
        if self._now >= self._due:
            started = time.process_time()
            self._draw(live_rows=_LIVE_ROWS)
            self._due = self._now + min(max(10 * (time.process_time() - started), 1 / 20), 2)

    def close(self) -> None:
        """Print what is left."""
        self._draw(live_rows=0)
        self._live.stop()

    def _draw(self, *, live_rows: int) -> None:
        canvas = io.StringIO()
        Console(file=canvas, width=self._width, force_terminal=True).print(Markdown(self._text))
        rows = canvas.getvalue().splitlines(keepends=True)
        stable = max(len(rows) - live_rows, self._printed)
        if stable > self._printed:
            self._live.console.print(Text.from_ansi("".join(rows[self._printed : stable])))
            self._printed = stable
        self._live.update(Text.from_ansi("".join(rows[stable:])), refresh=True)


def last_rows_live(out: TextIO, width: int, height: int) -> Feed:
    """`LastRowsLive` as what takes a fragment and what ends."""
    way = LastRowsLive(out, width, height)
    return way.feed, way.close
