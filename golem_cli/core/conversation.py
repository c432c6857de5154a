"""A conversation as it is kept: its messages, its runs and its settings. Pure data; the store writes it."""

from __future__ import annotations

from typing import Final

import msgspec

from golem_cli.core.message import Extra, Message, Part
from golem_cli.core.run_status import RUNNING
from golem_cli.core.usage import Usage

FORMAT_VERSION: Final = 1


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One run of a conversation.

    `status` is one of `golem_cli.core.run_status`; a pending run lists in `pending` the calls that wait.
    `stage` and `error` tell of a failure. A run that completed no turn keeps its
    `prompt` (and `prompt_parts`) here; `partial_text` is what had been streamed of an unfinished turn.
    Times are RFC 3339 in UTC, to the millisecond.
    """

    run_id: str
    status: str = RUNNING
    stage: str = ""
    error: str = ""
    model: str = ""
    requests: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    started_at: str = ""
    ended_at: str = ""
    prompt: str = ""
    prompt_parts: tuple[Part, ...] = ()
    partial_text: str = ""
    pending: tuple[str, ...] = ()
    extra: Extra = {}


class ConversationSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the user set for this conversation; None means the default of the configuration.

    `trim` 0 and `budget` 0 switch the processor off.
    """

    trim: int | None = None
    budget: int | None = None
    extra: Extra = {}


class Conversation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The object form of a transcript: `{"golem": 1, "conversationId": …, "messages": […], "runs": […]}`.

    Immutable like its messages: a change is a new value (`msgspec.structs.replace`).
    """

    conversation_id: str = ""
    title: str = ""
    created_at: str = ""
    updated_at: str = ""
    model: str = ""
    instructions: str = ""
    settings: ConversationSettings = ConversationSettings()
    forked_from: str = ""
    messages: tuple[Message, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    version: int = msgspec.field(default=FORMAT_VERSION, name="golem")
    extra: Extra = {}
