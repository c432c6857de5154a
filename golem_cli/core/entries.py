"""Entries: a conversation as it is read, with what it goes on without at its place between the messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.core.recovery import left_by


class Entry(NamedTuple):
    """One message with its `number`, from 1; or, with the number 0, one that `left_out_by` left.

    A turn that failed or was dropped stays in its run's record once the conversation goes on without it.
    """

    number: int
    message: Message
    left_out_by: RunRecord | None = None


def numbered(messages: Iterable[Message], *, first: int = 1) -> list[Entry]:
    """The messages with their numbers, counted from `first`."""
    return [Entry(number, message) for number, message in enumerate(messages, first)]


def entries(conversation: Conversation) -> list[Entry]:
    """The messages in order, and what is left out before the first message of the runs that came later."""
    order = numbered(conversation.messages)
    for place, left in reversed(list(_left_out(conversation))):
        order[place:place] = left
    return order


def left_out(conversation: Conversation) -> list[Entry]:
    """What stands beside the messages: prompts and texts of turns that the conversation goes on without."""
    return [entry for _, left in _left_out(conversation) for entry in left]


def _left_out(conversation: Conversation) -> Iterator[tuple[int, list[Entry]]]:
    """Yield what each run left that is no message, in order, with the index of the message behind it."""
    begins: dict[str, int] = {}
    for index, message in enumerate(conversation.messages):
        begins.setdefault(message.run_id, index)
    place, found = len(conversation.messages), []
    for run in reversed(conversation.runs):
        left = left_by(run, conversation.conversation_id, with_prompt=run.run_id not in begins)
        if left:
            found.append((place, [Entry(0, message, run) for message in left]))
        place = min(place, begins.get(run.run_id, place))
    yield from reversed(found)
