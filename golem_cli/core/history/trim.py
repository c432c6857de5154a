"""Trimming by number of messages, and the boundary rule that every trim shares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from golem_cli.core.errors import ProcessorError
from golem_cli.core.message import ASSISTANT, TOOL, Message

HistoryProcessor = Callable[[list[Message]], list[Message] | Awaitable[list[Message]]]
"""Rewrites the supplied history once per run: decides what is sent, never what is kept."""


def can_open_request(message: Message) -> bool:
    """Whether a request may begin with `message`.

    A tool message may not (its call was cut off), nor an assistant message with tool calls (repair would pay
    tokens for results that the trim meant to drop).

    >>> can_open_request(Message(role="user", content="hi")), can_open_request(Message(role="tool"))
    (True, False)
    """
    return message.role != TOOL and not (message.role == ASSISTANT and message.tool_calls)


def trim_history(max_messages: int) -> Callable[[list[Message]], list[Message]]:
    """Return a processor that keeps the newest `max_messages`, then advances to one that may open a request.

    A history that is not longer comes back unchanged. The processor raises `ProcessorError` when
    `max_messages` is below 1 or when nothing is left after the cut. Source: the semantics page, section 6.

    >>> newest = trim_history(2)([Message(role="user", content=text) for text in "abc"])
    >>> [message.content for message in newest]
    ['b', 'c']
    """

    def trim(history: list[Message]) -> list[Message]:
        if max_messages < 1:
            raise ProcessorError(
                f"trim must keep at least 1 message, not {max_messages}: set a larger number"
            )
        if len(history) <= max_messages:
            return list(history)
        for start in range(len(history) - max_messages, len(history)):
            if can_open_request(history[start]):
                return history[start:]
        raise ProcessorError(
            f"none of the newest {max_messages} of {len(history)} messages may open a request (all are tool "
            "calls and their results): keep more messages"
        )

    return trim
