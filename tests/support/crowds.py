"""Lets processes loose on the same conversations, and holds what is left against what they were told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from golem_cli.store.store import Store


def crowd(root: Path, *, processes: int, seconds: float, conversations: int) -> tuple[int, int]:
    """Run the crowd; return how many messages it added and how many forks it made.

    Raises `AssertionError` when an update is lost or doubled, out of order, or a file is torn.
    """
    store = Store(root)
    shared = [_begin(store) for _ in range(conversations)]
    command = [sys.executable, "-m", "tests.support.crowd", str(root)]
    running = [
        subprocess.Popen(
            [*command, f"p{number}", str(seconds), *shared],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    told = [line.split() for process in running for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in running] == [0] * processes
    added = [(conversation, content) for what, conversation, content in told if what == "added"]
    forks = {child: int(count) for what, child, count in told if what == "forked"}
    for conversation in shared:
        check(store, conversation, [content for where, content in added if where == conversation])
    for child, count in forks.items():
        assert len(store.read(child).messages) == count
    assert set(store.ids()) == {*shared, *forks}
    assert {path.suffix for path in store.conversations.iterdir()} == {".json"}
    return len(added), len(forks)


def check(store: Store, conversation: str, added: list[str]) -> None:
    """Everything that was added is there once, that of each process in its order."""
    kept = store.read(conversation)
    contents = [message.content for message in kept.messages]
    assert sorted(contents) == sorted(added)
    assert [run.run_id for run in kept.runs] == contents
    for name in {content.partition("-")[0] for content in added}:
        numbers = [int(each.partition("-")[2]) for each in contents if each.startswith(f"{name}-")]
        assert numbers == sorted(numbers)


def _begin(store: Store) -> str:
    with store.create() as writer:
        writer.save()
    return writer.path.stem
