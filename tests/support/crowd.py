"""A process of a crowd: it adds to conversations that others add to as well, and forks them.

    python -m tests.support.crowd FOLDER NAME SECONDS CONVERSATION...

Whoever finds a conversation held by another waits and tries again. Prints, a line each, what it was told is
saved: `added CONVERSATION CONTENT` and `forked CONVERSATION COUNT`, how many messages the fork took.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from golem_cli.chat import lineage
from golem_cli.chat.session import utc_now
from golem_cli.core.conversation import RunRecord
from golem_cli.core.errors import ConversationLocked
from golem_cli.core.message import Message
from golem_cli.store.store import Store


def add(store: Store, conversation: str, content: str) -> None:
    """A run with one message."""
    while True:
        try:
            writer = store.open(conversation)
        except ConversationLocked:
            time.sleep(0.002)
            continue
        with writer:
            writer.begin_run(RunRecord(run_id=content, prompt=content))
            writer.add_message(Message(role="user", content=content, run_id=content))
            writer.end_run(RunRecord(run_id=content, status="done"))
        return


def fork(store: Store, conversation: str) -> tuple[str, int]:
    """What `golem fork` does: it reads without a lock."""
    child = lineage.fork(store.read(conversation), now=utc_now())
    with store.create(child) as writer:
        writer.save()
    return writer.path.stem, len(child.messages)


def main() -> None:
    folder, name, seconds, *conversations = sys.argv[1:]
    store, chance = Store(Path(folder)), random.Random(name)  # noqa: S311 (a seed, no secret)
    end, number = time.monotonic() + float(seconds), 0
    while number < 3 or time.monotonic() < end:
        conversation = chance.choice(conversations)
        if chance.random() < 0.2:
            child, count = fork(store, conversation)
            told = f"forked {child} {count}"
        else:
            add(store, conversation, f"{name}-{number}")
            told = f"added {conversation} {name}-{number}"
        sys.stdout.write(f"{told}\n")
        number += 1


if __name__ == "__main__":
    main()
