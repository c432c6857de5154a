"""Lineage: new conversations, forks of a conversation, and copies of history that came from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.conversation import Conversation, ConversationSettings
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.identity import new_id
from golem_cli.core.message import replace
from golem_cli.core.recovery import settle, waits_no_more

if TYPE_CHECKING:
    from golem_cli.core.codec import Transcript
    from golem_cli.core.history import SanitizeReport


def start(
    *, now: str, model: str = "", instructions: str = "", settings: ConversationSettings | None = None
) -> Conversation:
    """A conversation that has just begun."""
    return Conversation(
        conversation_id=new_id(),
        created_at=now,
        updated_at=now,
        model=model,
        instructions=instructions,
        settings=settings or ConversationSettings(),
    )


def fork(conversation: Conversation, *, now: str, keep: int | None = None) -> Conversation:
    """The same history under a new id: the first `keep` of the messages that a reader sees, all when None.

    The messages keep the stamps they carry; `forked_from` names the parent. A complete fork takes every run
    along, a stopped one as it is; a shorter one those that still have a message in it.
    """
    seen = settle(conversation)
    complete = keep is None or keep >= len(seen.messages)
    origin = conversation if complete else seen
    messages = origin.messages if complete else origin.messages[:keep]
    present = {message.run_id for message in messages}
    return msgspec.structs.replace(
        conversation,
        conversation_id=new_id(),
        title=_fork_title(conversation.title),
        created_at=now,
        updated_at=now,
        forked_from=conversation.conversation_id,
        messages=messages,
        runs=tuple(run for run in origin.runs if complete or run.run_id in present),
    )


def _fork_title(title: str) -> str:
    return title if not title or title.endswith(" (fork)") else f"{title} (fork)"


def fork_point(conversation: Conversation, at: str) -> int:
    """The number of messages that a fork at `at` keeps: a message number from 1, or the id of a run.

    A run stands for its last message. Raises `ConfigurationError` when there is no such place.
    """
    messages = settle(conversation).messages
    count = len(messages)
    if at.isascii() and at.isdigit():
        number = int(at) if len(at) < 10 else count + 1
        if 1 <= number <= count:
            return number
        raise ConfigurationError(f"there is no message {at}: the conversation has {count} (count from 1)")
    runs = [number for number, message in enumerate(messages, 1) if message.run_id == at]
    if not at or not runs:
        from golem_cli.core.quote import quoted

        raise ConfigurationError(
            f"no message of a run {quoted(at)} in this conversation; give a number from 1 to {count}"
        )
    return runs[-1]


class Adopted(msgspec.Struct, frozen=True, kw_only=True):
    """A copy for the store of a transcript from outside, and what sanitizing took out (None: trusted)."""

    conversation: Conversation
    report: SanitizeReport | None


def adopt(transcript: Transcript, *, now: str, source: str, trust: bool = False) -> Adopted:
    """Make a conversation for the store of a transcript that somebody else may have written.

    It gets a fresh id; the one that it came with is kept as `forked_from`. Unless trusted, its history is
    sanitized, and its own instructions and model are left behind: the ones are a system prompt by another
    name, and to whom the history goes is not for a stranger to say. Nor is which model signed what: a forged
    signature would be refused with every request. And nothing waits for an answer in it: a call that somebody
    made up would have golem ask for its approval.
    `source` becomes the title when there is none.
    """
    from golem_cli.core.history import sanitize_history

    origin = transcript.conversation or Conversation()
    history, report = transcript.messages, None
    if not trust:
        clean, report = sanitize_history(history)
        history = [replace(message, signed_by="") if message.signed_by else message for message in clean]
        origin = waits_no_more(origin)
    return Adopted(
        conversation=msgspec.structs.replace(
            origin,
            version=Conversation().version,
            conversation_id=new_id(),
            title=origin.title or source,
            created_at=now,
            updated_at=now,
            model=origin.model if trust else "",
            instructions=origin.instructions if trust else "",
            forked_from=origin.conversation_id or _donated_id(transcript),
            messages=tuple(history),
        ),
        report=report,
    )


def _donated_id(transcript: Transcript) -> str:
    """The conversation id that the most recent identified message carries."""
    return next((m.conversation_id for m in reversed(transcript.messages) if m.conversation_id), "")
