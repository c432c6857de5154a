"""Going back: where `/rewind`, `/retry` and `/edit` cut a conversation, and the cut itself.

What is left behind is written as a complete fork first (`lineage.fork`); nothing is lost.
"""

from __future__ import annotations

import msgspec

from golem_cli.core.conversation import Conversation
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.message import USER, Message


def last_prompt(conversation: Conversation, number: int | None = None) -> tuple[int, Message]:
    """The user message with `number` (from 1), or the last one, with its index from 0.

    Raises `ConfigurationError` when there is none.
    """
    if number is not None:
        if not 1 <= number <= len(conversation.messages):
            raise ConfigurationError(
                f"there is no message {number}: the conversation has {len(conversation.messages)}"
            )
        message = conversation.messages[number - 1]
        if message.role != USER:
            from golem_cli.core.quote import quoted

            raise ConfigurationError(f"message {number} is no prompt: it is of role {quoted(message.role)}")
        return number - 1, message
    for index in range(len(conversation.messages) - 1, -1, -1):
        if conversation.messages[index].role == USER:
            return index, conversation.messages[index]
    raise ConfigurationError("there is no prompt yet to go back to")


def cut(conversation: Conversation, keep: int) -> Conversation:
    """The conversation with its first `keep` messages; runs that lose their last message go with them.

    >>> short = cut(Conversation(messages=(Message(role="user", content="a"), Message(role="user"))), 1)
    >>> len(short.messages)
    1
    """
    if not 0 <= keep <= len(conversation.messages):
        raise ConfigurationError(
            f"there is no message {keep}: the conversation has {len(conversation.messages)}"
        )
    if keep == len(conversation.messages):
        return conversation
    messages = conversation.messages[:keep]
    present = {message.run_id for message in messages}
    gone = {message.run_id for message in conversation.messages[keep:]} - present
    # A record without messages belongs to the end that is cut off, wherever it stands after the cut.
    last = max((i for i, run in enumerate(conversation.runs) if run.run_id in present), default=-1)
    runs = tuple(run for run in conversation.runs[: last + 1] if run.run_id not in gone)
    return msgspec.structs.replace(conversation, messages=messages, runs=runs)
