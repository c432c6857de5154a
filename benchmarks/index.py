"""Lists and searches over 10,000 conversations: what the index costs to build, and what it saves.

    python benchmarks/index.py [--conversations 10000]

Prints Markdown. The store is made afresh, spelled as golem spells it: conversations of 20 messages, some 7 kB
each, whose words are drawn as those of a language are, few of them very often (Zipf's law); a third of the
messages is not all ASCII. Times are CPU seconds, the best of several in turn within one process, and for
whole commands of the whole process. "Reading and parsing" is what the store does to open a conversation:
`Store.read`, for each of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from golem_cli.core.identity import new_id
from golem_cli.store.index.query import parse_query
from golem_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS: Final = 7
MESSAGES: Final = 20
VOCABULARY: Final = 20_000
SETTLED: Final = 2.1
"""Seconds after which a file counts as at rest."""
SCAN: Final = "import os, sys\nfor entry in os.scandir(sys.argv[1]): entry.stat()"
RARE: Final = "kingfisher"
"""A word that is in every thousandth conversation."""


def main() -> None:
    """Make the store, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--conversations", type=int, default=10_000)
    count = parser.parse_args().conversations
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        words = make(store, count)
        time.sleep(SETTLED)
        size = sum(path.stat().st_size for path in store.conversations.iterdir())
        print(f"{count:,} conversations of {MESSAGES} messages, {size / 1e6:.0f} MB.\n")
        print("| | CPU s | beside | CPU s | ratio | bound |\n| --- | --- | --- | --- | --- | --- |")
        within(store)
        commands(store)
        searches(store, words)


def make(store: Store, count: int) -> list[str]:
    """Write the conversations; return the vocabulary, the commonest word first."""
    chance = random.Random(20261202)  # noqa: S311 (a store that is the same each time)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(VOCABULARY)]
    spoken = chance.choices(words, [1 / rank for rank in range(1, VOCABULARY + 1)], k=1_000_000)
    store.conversations.mkdir(parents=True)
    for number in range(count):
        messages = [message(spoken, index, chance) for index in range(MESSAGES)]
        if number % 1000 == 0:
            messages[-1]["content"] += f" {RARE}"
        conversation_id = new_id()
        moment = f"2026-01-{1 + number % 28:02}T12:{number // 60 % 60:02}:{number % 60:02}.000Z"
        document = {
            "golem": 1,
            "conversationId": conversation_id,
            "title": messages[0]["content"][:40],
            "createdAt": moment,
            "updatedAt": moment,
            "model": "openai:gpt-5-mini",
            "messages": messages,
            "runs": [{"runId": new_id(), "status": "done"}],
        }
        store.path_of(conversation_id).write_text(
            json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
        )
    return words


def message(spoken: list[str], index: int, chance: random.Random) -> dict[str, str]:
    """One message of 20 to 60 words."""
    length = chance.randint(20, 60)
    start = chance.randrange(len(spoken) - length)
    content = " ".join(spoken[start : start + length])
    if index % 3 == 0:
        content = f"“{content}” \u2013 naïve…"  # as models write: beyond ASCII
    return {"role": "assistant" if index % 2 else "user", "content": content, "runId": new_id()}


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def best(*works: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The best of several rounds for each, in turn, so that a busy moment of the machine hits all."""
    taken = [[seconds(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*taken, strict=True)]


def first_index(store: Store) -> None:
    """List without an index, which makes one."""
    (store.conversations.parent / "index.sqlite3").unlink(missing_ok=True)
    store.summaries(20)


def row(name: str, ours: float, beside: str, theirs: float, bound: float | None) -> None:
    """Print one comparison."""
    print(
        f"| {name} | {ours:.3f} | {beside} | {theirs:.3f} | **{ours / theirs:.2f}** | {bound or ''} |",
        flush=True,
    )


def within(store: Store) -> None:
    """What happens inside one process."""
    reading = "reading and parsing all"
    parsed, first, bare = best(
        lambda: [store.read(each) for each in store.ids()],
        lambda: first_index(store),
        lambda: [json.loads(path.read_bytes()) for path in store.conversations.iterdir()],
        rounds=3,
    )
    row("the first index", first, reading, parsed, 1.5)
    row("the first index", first, "reading and `json.loads` of all", bare, None)
    newest, every, scan = best(
        lambda: store.listing(20),
        store.summaries,
        lambda: [e.stat() for e in os.scandir(store.conversations)],
    )
    row("the newest 20, index warm", newest, "scan with stat", scan, 3)
    row("the newest 20, index warm", newest, reading, parsed, 0.05)
    row("a line about each, index warm", every, reading, parsed, 0.05)


def commands(store: Store) -> None:
    """Whole processes, Python's start included; then what of it is the start of golem alone."""
    # without Python's own variables: bytecode is kept, as it is for a user
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    full = {**plain, "GOLEM_HOME": str(store.conversations.parent)}
    empty = {**full, "GOLEM_HOME": str(store.conversations.parent / "empty")}
    golem = [str(Path(sys.executable).with_name("golem")), "list", "-n", "20"]
    scan = [sys.executable, "-c", SCAN, str(store.conversations)]
    runs = ((golem, full), (golem, empty), (scan, full))
    for command, variables in runs:
        process(command, variables)  # warm: bytecode, disk cache
    rounds = [[process(command, variables) for command, variables in runs] for _ in range(ROUNDS)]
    ours, start, theirs = (min(column) for column in zip(*rounds, strict=True))
    scanning = "`python -c` that scans with stat"
    row("`golem list -n 20`, the whole command", ours, scanning, theirs, 3)
    row("… of an empty store", start, scanning, theirs, 3)


def process(command: list[str], environment: dict[str, str]) -> float:
    """CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def searches(store: Store, words: list[str]) -> None:
    """Searches with a warm index, in milliseconds; results read and matched."""
    print("\n| search, index warm | conversations found | CPU ms | bound |\n| --- | --- | --- | --- |")
    asked: list[tuple[str, str, int | None]] = [
        ("a word of ten conversations", RARE, None),
        ("a word of some fifty", words[VOCABULARY // 2], None),
        ("a word of one in seven, the newest 20", words[VOCABULARY // 200], 20),
        ("the commonest word, the newest 20", words[0], 20),
        ("the beginning of a word", f"{RARE[:5]}*", None),
        ("a phrase of two common words, the newest 20", f"{words[0]} {words[1]}", 20),
    ]
    for name, text, limit in asked:
        query = parse_query([text])
        (taken,) = best(partial(store.search, query, limit))
        found = len(store.search(query, limit).hits)
        print(f"| {name} | {found:,} | {taken * 1e3:.0f} | 100 |", flush=True)


if __name__ == "__main__":
    main()
