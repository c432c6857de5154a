"""Recovery: where the last run stopped, and what becomes of what it left behind.

A reader sees what a stopped run left as messages already (`settle`); the record holds them until then.
When the user stopped an answer, the prompt and the text that had arrived become messages with the next
prompt. After a failure or a crash that choice is the user's: try again, continue from the partial text, or
drop the turn. What a conversation goes on without stays in the record, and is shown beside the messages
(`core/entries.py`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import ASSISTANT, TOOL, USER, Message, replace
from golem_cli.core.run_status import DROPPED, INTERRUPTED, PENDING, RUNNING, STOPPED_SHORT

Where = Literal["before the first word", "in mid-answer", "at a tool", "after a completed step"]


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stopped. `added` is the number of messages of it that the conversation holds."""

    run: RunRecord
    where: Where
    added: int


def last_stop(conversation: Conversation) -> Stop | None:
    """Where the last run stopped short; None when it ended well, was dropped, or there was none.

    >>> last_stop(Conversation()) is None
    True
    """
    if not conversation.runs or conversation.runs[-1].status not in STOPPED_SHORT:
        return None
    run = conversation.runs[-1]
    added = messages_of(conversation, run.run_id)
    return Stop(run=run, where=_where(run, added), added=len(added))


def messages_of(conversation: Conversation, run_id: str) -> list[Message]:
    """The messages at the conversation's end that this run added, and the results that repair gave its calls.

    Those carry no stamps. They stand behind a call of the run, so the first message is always the run's own.
    """
    added: list[Message] = []
    closings: list[Message] = []
    for message in reversed(conversation.messages):
        if message.run_id == run_id:
            added += [*closings, message]
            closings = []
        elif message.role == TOOL and not message.run_id:
            closings.append(message)
        else:
            break
    return added[::-1]


def _where(run: RunRecord, added: list[Message]) -> Where:
    if run.partial_text or (added and added[-1].interrupted):  # the text may be among the messages by now
        return "in mid-answer"
    if run.stage == "tool" or (added and (added[-1].tool_calls or added[-1].role == TOOL)):
        return "at a tool"
    if all(message.role == USER for message in added):
        return "before the first word"
    return "after a completed step"


def leftovers(stop: Stop, conversation_id: str) -> list[Message]:
    """The messages that a stopped run's prompt and partial text become; stamped as that run's own.

    The prompt is left out when a completed step has put it among the messages already.
    """
    return left_by(stop.run, conversation_id, with_prompt=not stop.added)


def left_by(run: RunRecord, conversation_id: str, *, with_prompt: bool) -> list[Message]:
    """The messages that stand for the partial text in a run's record and, `with_prompt`, for its prompt."""
    found: list[Message] = []
    if with_prompt and (run.prompt or run.prompt_parts):
        found.append(Message(role=USER, content=run.prompt, parts=run.prompt_parts))
    if run.partial_text:
        found.append(Message(role=ASSISTANT, content=run.partial_text, interrupted=True))
    return [replace(message, run_id=run.run_id, conversation_id=conversation_id) for message in found]


def settle(conversation: Conversation) -> Conversation:
    """The conversation with what its stopped last run left behind among its messages.

    The record keeps its status; its prompt and partial text have moved into the messages.
    """
    stop = last_stop(conversation)
    if stop is None:
        return conversation
    settled = msgspec.structs.replace(stop.run, prompt="", prompt_parts=(), partial_text="")
    return msgspec.structs.replace(
        conversation,
        messages=(*conversation.messages, *leftovers(stop, conversation.conversation_id)),
        runs=(*conversation.runs[:-1], settled),
    )


def drop(conversation: Conversation) -> Conversation:
    """The conversation without the messages of its stopped last run; the record stays, marked dropped."""
    stop = last_stop(conversation)
    if stop is None:
        return conversation
    kept = len(conversation.messages) - stop.added
    return msgspec.structs.replace(
        conversation,
        messages=conversation.messages[:kept],
        runs=(*conversation.runs[:-1], msgspec.structs.replace(stop.run, status=DROPPED)),
    )


def prompt_of(conversation: Conversation, run: RunRecord) -> Message:
    """The prompt that began `run`, from its messages or its record."""
    first = next((m for m in messages_of(conversation, run.run_id) if m.role == USER), None)
    return first or Message(role=USER, content=run.prompt, parts=run.prompt_parts)


def cut_off(conversation: Conversation) -> Conversation:
    """The conversation as a copy has it while its last run still works in the first one: interrupted there.

    The text that has arrived is that copy's to go on from; the run's own end comes to the first one only.
    """
    if not conversation.runs or conversation.runs[-1].status != RUNNING:
        return conversation
    cut = msgspec.structs.replace(conversation.runs[-1], status=INTERRUPTED)
    return msgspec.structs.replace(conversation, runs=(*conversation.runs[:-1], cut))


def pending_calls(conversation: Conversation) -> frozenset[str]:
    """The ids of calls that wait for an answer: no damage, not to be repaired."""
    return frozenset(call for run in conversation.runs[-1:] if run.status == PENDING for call in run.pending)


def waits_no_more(conversation: Conversation) -> Conversation:
    """The conversation with each run that waits for answers marked interrupted.

    For history of others, whose open calls sanitizing closes: what a stranger asks golem to allow is not
    golem's question to put.
    """
    return msgspec.structs.replace(
        conversation,
        runs=tuple(
            msgspec.structs.replace(run, status=INTERRUPTED, pending=()) if run.status == PENDING else run
            for run in conversation.runs
        ),
    )
