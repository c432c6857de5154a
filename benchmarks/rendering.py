"""What streaming an answer costs, beside a plain write and flush of the same fragments.

    python benchmarks/rendering.py            8,000 and 32,000 characters
    python benchmarks/rendering.py --full     128,000 too
    python benchmarks/rendering.py --rich     Rich's Live(Markdown) at 12.5 frames a second too (slow)

Through a real pty of 100 x 40 that another process reads, in fragments of 4 characters. CPU is user and
system time of this process; the longest pause is the CPU of the dearest fragment, when warm. Prints a table.
"""

from __future__ import annotations

import argparse
import gc
import os
import pty
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Final, TextIO, cast

from golem_cli.render.answer import AnswerView

WIDTH, HEIGHT, FRAGMENT = 100, 40, 4

_WORDS: Final = (
    "A model answers in fragments, and every fragment should be on the screen at once without anything being "
    "drawn twice; that is what **this** measures, with `code` and *emphasis* in between. "
)
_CODE: Final = '''def area(width: int, height: int = 2) -> int:
    """Return the product."""
    if width < 0:  # nothing is that small
        raise ValueError(f"negative: {width!r}")
    return width * height + 10

'''
_MIXED: Final = (
    f"## A heading\n\n{_WORDS}\n\n- an item with `code`\n- another one\n  - nested\n- and a last\n\n"
    f"{_WORDS * 2}\n\n```python\n{_CODE}```\n\n1. first\n2. second\n\n> quoted text\n> goes on\n\n"
    "| name | value |\n| --- | ---: |\n| one | 1 |\n| two | 22 |\n\n"
)


def repeated(piece: str, length: int, start: str = "", end: str = "") -> str:
    """Return `piece` over and over between `start` and `end`, about `length` characters."""
    return start + (piece * (length // len(piece) + 1))[:length] + end


CORPORA: Final[dict[str, Callable[[int], str]]] = {
    "mixed": lambda n: repeated(_MIXED, n),
    "code fence": lambda n: repeated(_CODE, n, "```python\n", "\n```\n"),
    "list": lambda n: repeated("- an item of the list with `code` and *more* to it\n", n),
    "table": lambda n: repeated("| one | **two** | 3 |\n", n, "| a | b | c |\n| - | - | -: |\n", "\n"),
    "paragraph": lambda n: repeated(_WORDS, n),
    "quote": lambda n: repeated("> a line of a quote that goes on and on\n", n),
    "HTML comment": lambda n: repeated("a line of a comment\n", n, "<!--\n", "\n-->\n"),
    "CJK": lambda n: repeated("漢字かな交じりの文章をここに書きます。そして続きます。\n\n", n),
}


@dataclass(frozen=True, kw_only=True)
class Cost:
    """CPU seconds, bytes written, and the CPU seconds of the dearest fragment."""

    cpu: float
    size: int
    pause: float


class CountingTerminal:
    """A pty whose other end a process of its own empties; counts what is written."""

    def __init__(self) -> None:
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (HEIGHT, WIDTH))
        self._reader = os.fork()
        if self._reader == 0:
            os.close(slave)
            drain(master)
        os.close(master)
        self.out: TextIO = os.fdopen(slave, "w", encoding="utf-8", newline="")
        self.size = 0

    def write(self, text: str) -> None:
        """Write and flush."""
        self.size += len(text.encode())
        self.out.write(text)
        self.out.flush()

    def flush(self) -> None:
        """Nothing is left to flush: `write` has."""

    def isatty(self) -> bool:
        """As a stream says it."""
        return True

    def close(self) -> None:
        """End the reader."""
        self.out.close()
        os.waitpid(self._reader, 0)


Feed = tuple[Callable[[str], object], Callable[[], object]]
"""What takes a fragment, and what ends the answer."""
Sink = Callable[[CountingTerminal], Feed]


def drain(master: int) -> None:
    """Read until the other end is closed, then leave the process."""
    try:
        while os.read(master, 1 << 16):
            pass
    except OSError:  # how Linux says that nobody has the other end open
        pass
    os._exit(0)


def fragments(text: str) -> Iterator[str]:
    """Cut `text` as a model would."""
    return (text[start : start + FRAGMENT] for start in range(0, len(text), FRAGMENT))


def measure(text: str, make: Sink) -> Cost:
    """Feed `text` to what `make` gives (feed and close) and say what it cost."""
    terminal = CountingTerminal()
    feed, close = make(terminal)
    gc.collect()
    gc.freeze()
    pieces = list(fragments(text))
    pause = 0.0
    started = before = time.process_time()
    for piece in pieces:
        feed(piece)
        now = time.process_time()
        pause = max(pause, now - before)
        before = now
    close()
    cpu = time.process_time() - started
    terminal.close()
    return Cost(cpu=cpu, size=terminal.size, pause=pause)


def plain(terminal: CountingTerminal) -> Feed:
    """Nothing but a write and a flush."""
    return terminal.write, lambda: None


def panel(terminal: CountingTerminal) -> Feed:
    """Our panel."""
    view = AnswerView(terminal.write, width=WIDTH, height=HEIGHT, title="benchmark")
    return view.feed, view.close


def rich_live(terminal: CountingTerminal) -> Feed:
    """Rich's Live over the whole Markdown, refreshed 12.5 times in a second of 50 fragments."""
    from rich.console import Console
    from rich.live import Live
    from rich.markdown import Markdown

    console = Console(file=cast("TextIO", terminal), width=WIDTH, height=HEIGHT, force_terminal=True)
    live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
    live.start()
    text: list[str] = []
    due = cycle([False, False, False, True])

    def feed(piece: str) -> None:
        text.append(piece)
        if next(due):
            live.update(Markdown("".join(text)), refresh=True)

    return feed, live.stop


def rows(lengths: list[int], *, with_rich: bool) -> Iterator[str]:
    """Yield the table's lines."""
    yield "| corpus | characters | CPU x plain write | µs a character | bytes x source | longest pause, ms |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, make in CORPORA.items():
        measure(make(4000), panel)  # warm: lexers, parser, caches
        for length in lengths:
            yield row(name, make(length), panel)
    if with_rich:
        yield row("mixed, Rich Live(Markdown)", CORPORA["mixed"](8000), rich_live)


def row(
    name: str,
    text: str,
    make: Sink,
) -> str:
    """Measure one corpus beside a plain write of it."""
    base = min(measure(text, plain).cpu for _ in range(3))
    cost = min((measure(text, make) for _ in range(2)), key=lambda one: one.cpu)
    size = len(text.encode())
    return (
        f"| {name} | {len(text):,} | {cost.cpu / base:.1f} | {cost.cpu / len(text) * 1e6:.2f} "
        f"| {cost.size / size:.1f} | {cost.pause * 1000:.1f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="128,000 characters too")
    parser.add_argument("--rich", action="store_true", help="Rich's Live(Markdown) too")
    options = parser.parse_args()
    lengths = [8_000, 32_000] + [128_000] * options.full
    for line in rows(lengths, with_rich=options.rich):
        print(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
