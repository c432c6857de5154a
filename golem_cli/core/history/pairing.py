"""Pairing evidence: which tool message answers which call. One walk; every pass reads it from here."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from golem_cli.core.message import ASSISTANT, TOOL, Message, ToolCall

Slot = tuple[int, int]
"""Where a call stands: the position of its message in the history, and its index in `tool_calls`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairing:
    """Who answers whom. Positions count from 0 in the history that was paired.

    `answers` maps a result's position to the call it answers; `orphans` are the positions of tool messages
    that answer nothing; `unanswered` are the calls without a result, by the position of their message, in
    call order; `pending` likewise those that wait for somebody's answer; `displaced` are positions of results
    that a message other than a tool message separates from their call's turn.
    """

    answers: dict[int, Slot]
    orphans: list[int]
    unanswered: dict[int, list[ToolCall]]
    pending: dict[int, list[ToolCall]]
    displaced: list[int]


def pair(
    messages: Sequence[Message], *, pending: Collection[str] = (), pair_blank_ids: bool = False
) -> Pairing:
    """Pair calls with results by id, as the semantics page (section 2) says.

    `pending` names calls that wait for an answer: of each id the call that is still open at the end of the
    history is pending and not unanswered. `pair_blank_ids` treats the empty id as an id like others: only the
    wire does, which must give such calls an id together with their result.

    >>> turn = Message(role="assistant", tool_calls=(ToolCall(id="a", name="ls"),))
    >>> pair([turn, Message(role="tool", tool_call_id="a")]).answers
    {1: (0, 0)}
    """
    open_calls: dict[str, deque[Slot]] = {}
    waiting: dict[Slot, ToolCall] = {}
    answers: dict[int, Slot] = {}
    orphans: list[int] = []
    displaced: list[int] = []
    last_other = -1
    for position, message in enumerate(messages):
        if message.role == TOOL:
            slot = _take(open_calls, message.tool_call_id)
            if slot is None:
                orphans.append(position)
                continue
            answers[position] = slot
            del waiting[slot]
            if last_other > slot[0]:
                displaced.append(position)
            continue
        last_other = position
        if message.role == ASSISTANT:
            for index, call in enumerate(message.tool_calls):
                if call.id or pair_blank_ids:
                    waiting[position, index] = call
                    _open(open_calls, call.id, (position, index))
    unanswered, still_pending = _split(waiting, open_calls, pending)
    return Pairing(
        answers=answers, orphans=orphans, unanswered=unanswered, pending=still_pending, displaced=displaced
    )


def _open(open_calls: dict[str, deque[Slot]], call_id: str, slot: Slot) -> None:
    """Open a call. Calls of one message that share an id queue up; an older message's lose the id."""
    queue = open_calls.get(call_id)
    if queue is not None and queue[0][0] == slot[0]:
        queue.append(slot)
    else:
        open_calls[call_id] = deque((slot,))


def _take(open_calls: dict[str, deque[Slot]], call_id: str) -> Slot | None:
    """Close and return the first open call with that id."""
    queue = open_calls.get(call_id)
    if queue is None:
        return None
    slot = queue.popleft()
    if not queue:
        del open_calls[call_id]
    return slot


def _split(
    waiting: dict[Slot, ToolCall], open_calls: dict[str, deque[Slot]], pending: Collection[str]
) -> tuple[dict[int, list[ToolCall]], dict[int, list[ToolCall]]]:
    """Part the calls without a result into unanswered and pending ones, by turn, in call order."""
    still_open = {slot for call_id in pending for slot in open_calls.get(call_id, ())}
    unanswered: dict[int, list[ToolCall]] = {}
    still_pending: dict[int, list[ToolCall]] = {}
    for slot, call in waiting.items():
        (still_pending if slot in still_open else unanswered).setdefault(slot[0], []).append(call)
    return unanswered, still_pending
