"""Repair: give each unanswered call a neutral result, drop each result without a call; nothing else."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from golem_cli.core.history.pairing import Pairing, pair
from golem_cli.core.message import TOOL, Message, ToolCall

INTERRUPTED_TEXT: Final = (
    "Tool call was interrupted before execution; no result was produced. "
    "Call the tool again if you need its result."
)
"""The content of a synthesized result: it states the absence of an outcome, not a failure."""


def repair(messages: Sequence[Message], *, pending: Collection[str] = ()) -> list[Message]:
    """Return `messages` with each call answered exactly once, as every provider demands.

    A call without a result gets a synthesized one directly after its turn; a tool message that answers no
    open call is dropped. Messages are never edited; deterministic and idempotent; the input stays as it is.
    Calls without an id cannot be paired and pass through. `pending` names calls that wait for an answer and
    stay open. Source: the semantics page, section 2.

    >>> turn = Message(role="assistant", tool_calls=(ToolCall(id="a", name="ls"),))
    >>> [message.role for message in repair([turn, Message(role="user", content="stop")])]
    ['assistant', 'tool', 'user']
    """
    return apply_pairing(messages, pair(messages, pending=pending))


def apply_pairing(messages: Sequence[Message], pairing: Pairing) -> list[Message]:
    """Return a new list of `messages` with what `pairing` found missing added and its orphans left out."""
    if not pairing.orphans and not pairing.unanswered:
        return list(messages)
    orphans = set(pairing.orphans)
    repaired: list[Message] = []
    for position, message in enumerate(messages):
        if position not in orphans:
            repaired.append(message)
        repaired.extend(synthesized_result(call) for call in pairing.unanswered.get(position, ()))
    return repaired


def synthesized_result(call: ToolCall) -> Message:
    """Return the neutral result for a call that was never carried out: no stamps, no times, not `failed`."""
    return Message(role=TOOL, content=INTERRUPTED_TEXT, tool_call_id=call.id, tool_name=call.name)
