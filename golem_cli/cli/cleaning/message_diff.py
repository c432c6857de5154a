"""What a pass added and took out, as a unified diff of messages, in time that grows with their number.

A pass hands the messages that it keeps on as the very same objects, so nothing has to be searched for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from golem_cli.core.message import Message

CONTEXT: Final = 1
"""Messages shown before and after a change."""

Edit = tuple[str, "Message"]
"""A message that is kept (" "), taken out ("-") or added ("+")."""


def unified(before: Sequence[Message], after: Sequence[Message], name: str) -> Iterator[str]:
    """Yield the lines of the diff, one message a line; none when nothing changed. `name` is the file's."""
    from golem_cli.core.codec import dump_message

    edits = edits_between(before, after)
    hunks = list(_hunks([at for at, (sign, _) in enumerate(edits) if sign != " "], len(edits)))
    if hunks:
        yield f"--- {name}"
        yield f"+++ {name} (result)"
    old = new = at = 0
    for start, end in hunks:
        for sign, _ in edits[at:start]:
            old, new = old + (sign != "+"), new + (sign != "-")
        at = start
        shown = edits[start:end]
        gone, come = sum(sign != "+" for sign, _ in shown), sum(sign != "-" for sign, _ in shown)
        yield f"@@ -{_range(old, gone)} +{_range(new, come)} @@"
        for sign, message in shown:
            yield sign + dump_message(message).decode("utf-8")


def edits_between(before: Sequence[Message], after: Sequence[Message]) -> list[Edit]:
    """Return how `after` comes from `before`, taken-out messages before added ones."""
    places = {id(message): place for place, message in enumerate(before)}
    edits: list[Edit] = []
    added: list[Edit] = []
    done = 0
    for message in after:
        place = places.get(id(message), -1)
        if place < done:
            added.append(("+", message))
            continue
        edits += [("-", lost) for lost in before[done:place]]
        edits += [*added, (" ", message)]
        added, done = [], place + 1
    return [*edits, *(("-", lost) for lost in before[done:]), *added]


def _hunks(changed: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of edits to show: each change with its context, near ones together."""
    start = end = -1
    for at in changed:
        if end > 0 and at - CONTEXT <= end:
            end = min(at + CONTEXT + 1, count)
            continue
        if end > 0:
            yield start, end
        start, end = max(at - CONTEXT, 0), min(at + CONTEXT + 1, count)
    if end > 0:
        yield start, end


def _range(start: int, length: int) -> str:
    """Write a range as unified diffs do: counted from 1, an empty one by the line before it."""
    return f"{start + (length > 0)},{length}" if length != 1 else f"{start + 1}"
