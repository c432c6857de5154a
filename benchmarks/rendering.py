"""What streaming an answer costs, beside a plain write and flush of the same fragments.

    python benchmarks/rendering.py            8,000 and 32,000 characters
    python benchmarks/rendering.py --full     128,000 too
    python benchmarks/rendering.py --others   other ways to do it too (slow: minutes)

Through a real pty of 100 x 40 that another process reads, in fragments of 4 characters. CPU is user and
system time of this process; the longest pause is the CPU of the dearest fragment, when warm. Each figure is
the least of several runs, taken in turn with those of plain writing. Growth is the CPU of a character beside
that at 8,000 characters. Prints a table, and which bounds are missed.
"""

from __future__ import annotations

import argparse
import gc
import os
import pty
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TextIO, cast

from other_ways import Feed, last_rows_live, rich_live

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


def others(way: Callable[[TextIO, int, int], Feed]) -> Sink:
    """Another way, on our terminal."""
    return lambda terminal: way(cast("TextIO", terminal), WIDTH, HEIGHT)


OTHER_WAYS: Final = (
    ("Rich Live(Markdown), 12.5 frames/s", others(rich_live), (8_000,)),
    ("all rendered anew, last 6 rows live (aider's way)", others(last_rows_live), (8_000, 32_000)),
)


Pair = tuple[Cost, Cost]
"""Of plain writing and of what is measured beside it."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A line of the table: what one text cost, beside plain writing of it."""

    name: str
    length: int
    times_plain: float
    per_character: float
    growth: float
    bytes_per_byte: float
    pause: float

    @classmethod
    def of(cls, name: str, text: str, pairs: list[Pair], *, first: Figures | None = None) -> Figures:
        """Take the least of the runs; `first` is the corpus at its shortest."""
        cpu = min(cost.cpu for _, cost in pairs)
        per_character = cpu / len(text) * 1e6
        return cls(
            name=name,
            length=len(text),
            times_plain=cpu / min(base.cpu for base, _ in pairs),
            per_character=per_character,
            growth=per_character / first.per_character if first else 1.0,
            bytes_per_byte=pairs[0][1].size / len(text.encode()),
            pause=min(cost.pause for _, cost in pairs) * 1000,
        )

    def __str__(self) -> str:
        return (
            f"| {self.name} | {self.length:,} | {self.times_plain:.1f} | {self.per_character:.2f} "
            f"| {self.growth:.2f} | {self.bytes_per_byte:.1f} | {self.pause:.1f} |"
        )

    @property
    def missed(self) -> list[str]:
        """The bounds that it does not meet."""
        most_bytes = 11 if self.name == "code fence" else 6
        bounds = (
            ("CPU", self.times_plain, 10),
            ("growth", self.growth, 1.25),
            ("bytes", self.bytes_per_byte, most_bytes),
            ("pause", self.pause, 15),
        )
        return [f"{self.name} at {self.length:,}: {what}" for what, value, most in bounds if value > most]


def figures(name: str, texts: list[str], make: Sink, *, runs: int) -> Iterator[Figures]:
    """Measure all lengths of a corpus in turn, so that a machine that slows down slows all."""
    pairs: list[list[Pair]] = [[] for _ in texts]
    for _ in range(runs):
        for text, taken in zip(texts, pairs, strict=True):
            taken.append((measure(text, plain), measure(text, make)))
    first = None
    for text, taken in zip(texts, pairs, strict=True):
        found = Figures.of(name, text, taken, first=first)
        first = first or found
        yield found


def table(lengths: list[int], *, runs: int) -> Iterator[Figures]:
    """Measure every corpus at every length."""
    for name, make in CORPORA.items():
        measure(make(4000), panel)  # warm: lexers, parser, caches
        yield from figures(name, [make(length) for length in lengths], panel, runs=runs)


def other_ways() -> Iterator[Figures]:
    """Measure what others do, once."""
    for name, make, lengths in OTHER_WAYS:
        texts = [CORPORA["mixed"](length) for length in lengths]
        yield from figures(f"mixed, {name}", texts, make, runs=1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="128,000 characters too")
    parser.add_argument("--others", action="store_true", help="other ways to do it too")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    lengths = [8_000, 32_000] + [128_000] * options.full
    print(
        "| corpus | characters | CPU x plain write | µs a character | growth | bytes x source | pause, ms |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    missed: list[str] = []
    for row in table(lengths, runs=options.runs):
        print(row, flush=True)
        missed += row.missed
    if options.others:
        for row in other_ways():
            print(row, flush=True)
    print(f"\nMissed: {'; '.join(missed) or 'nothing'}.")


if __name__ == "__main__":
    main()
