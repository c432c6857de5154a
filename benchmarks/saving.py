"""What it costs to save a turn: at 100 messages and at 100,000, every fsync counted, folds included.

    python benchmarks/saving.py [--messages 100000]

A turn is what the chat makes of one, with a scripted model and no history to send: the prompt, streamed text,
the prompt's and the answer's message, the end of the run. Seconds of the clock, since an fsync is mostly
waiting; turns on both conversations alternate. A turn's share of a fold: one takes place whenever the journal
has outgrown half the file (or 1 MiB), so a fold is timed and divided by the turns that it takes to get there.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest import mock

from golem_cli.chat.overlay import OverlayWriter
from golem_cli.chat.session import utc_now
from golem_cli.chat.turn import Turn
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.identity import new_id
from golem_cli.core.message import Message
from golem_cli.core.run import Agent
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel

SHORT: Final = 100
TURNS: Final = 400
FOLDS: Final = 5
TEXT: Final = "some words of an ordinary message, " * 8  # 280 characters
FOLD_ABOVE: Final = 1 << 20


class Cost(NamedTuple):
    """Of one conversation: seconds and fsyncs of a turn, seconds of a fold, turns between two folds."""

    median: float
    mean: float
    syncs: float
    fold: float
    turns_per_fold: float

    @property
    def amortized(self) -> float:
        """Seconds for a turn, its share of a fold included."""
        return self.mean + self.fold / self.turns_per_fold


class Kept:
    """A conversation of `length` messages, and turns that are saved in it as the chat does it."""

    def __init__(self, store: Store, length: int) -> None:
        roles = ("user", "assistant")
        messages = tuple(
            Message(role=roles[n % 2], content=TEXT, run_id=f"old{n // 2}") for n in range(length)
        )
        runs = tuple(RunRecord(run_id=f"old{n}", status="done") for n in range(length // 2))
        self.inner = store.create(Conversation(messages=messages, runs=runs))
        self.inner.save()
        self.writer = OverlayWriter(self.inner, print)
        self.size = self.inner.path.stat().st_size
        self.journal = self.inner.path.with_suffix(".journal")

    async def turn(self) -> None:
        """Take one turn, and save it."""
        run = RunRecord(run_id=new_id(), prompt=TEXT, model="openai:gpt-5-mini", started_at=utc_now())
        agent = Agent(ScriptedModel(TEXT, fragment_size=100))

        async def prepare() -> tuple[Agent[Any, str], list[Message]]:
            return agent, []

        turn = Turn(
            writer=self.writer,
            conversation_id=self.inner.path.stem,
            run=run,
            clock=utc_now,
            answering=lambda: run.model,
        )
        await turn.take(prepare)

    def fold(self) -> None:
        """Fold, whatever the journal's size."""
        self.inner.replace(self.inner.conversation)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--messages", type=int, default=100_000)
    long = parser.parse_args().messages
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        small, large = measure([Kept(store, SHORT), Kept(store, long)])
    print(f"| | at {SHORT} messages | at {long:,} | ratio | bound |\n| --- | ---: | ---: | ---: | ---: |")
    row("a turn, ms (median)", small.median, large.median, 1.2)
    row("a turn and its share of a fold, ms (mean)", small.amortized, large.amortized, 2)
    print(f"| fsyncs in a turn | {small.syncs:.0f} | {large.syncs:.0f} | | |")
    print(f"| a fold, ms | {small.fold * 1e3:.1f} | {large.fold * 1e3:.1f} | | |")
    print(f"| turns between two folds | {small.turns_per_fold:,.0f} | {large.turns_per_fold:,.0f} | | |")


def row(name: str, small: float, large: float, bound: float) -> None:
    print(f"| {name} | {small * 1e3:.2f} | {large * 1e3:.2f} | {large / small:.2f} | {bound} |")


def measure(kept: list[Kept]) -> list[Cost]:
    """Turns on all conversations by turns, then folds of each."""
    seconds: list[list[float]] = [[] for _ in kept]
    syncs: list[list[int]] = [[] for _ in kept]
    with asyncio.Runner() as runner:
        for each in kept:
            runner.run(each.turn())  # opens the journal
        for number in range(TURNS):
            for index in (0, 1) if number % 2 else (1, 0):
                took, synced = counted(lambda index=index: runner.run(kept[index].turn()))  # type: ignore[misc]  # mypy's limit
                seconds[index].append(took)
                syncs[index].append(synced)
    return [cost_of(*each) for each in zip(kept, seconds, syncs, strict=True)]


def cost_of(kept: Kept, seconds: list[float], syncs: list[int]) -> Cost:
    """The cost of the turns that were made, and of folds that are made now."""
    grown = kept.journal.stat().st_size / (TURNS + 1)
    return Cost(
        median=statistics.median(seconds),
        mean=statistics.fmean(seconds),
        syncs=statistics.median(syncs),
        fold=statistics.fmean(counted(kept.fold)[0] for _ in range(FOLDS)),
        turns_per_fold=max(FOLD_ABOVE, kept.size / 2) / grown,
    )


def counted(action: Callable[[], object]) -> tuple[float, int]:
    """Seconds and fsyncs of `action`."""
    with mock.patch.object(os, "fsync", wraps=os.fsync) as fsync:
        started = time.perf_counter()
        action()
        return time.perf_counter() - started, fsync.call_count


if __name__ == "__main__":
    main()
