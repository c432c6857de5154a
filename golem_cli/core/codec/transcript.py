"""What a document holds, whichever of the three forms it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.message import Message

Form = Literal["array", "object", "jsonl"]


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A loaded document.

    `form` is how it was written: an `array` of messages, a conversation `object`, or one message a line
    (`jsonl`). `messages` are its messages; for the object form `conversation` has the rest (and the same
    messages; on writing `messages` count). `salvaged` is "" or one sentence that says what was cut off.
    """

    form: Form
    messages: list[Message]
    conversation: Conversation | None = None
    salvaged: str = ""
