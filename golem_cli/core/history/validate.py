"""Validation before a run: what no request may carry, named by message number and part."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from golem_cli.core.errors import HistoryError
from golem_cli.core.message import ASSISTANT, PART_KINDS, ROLES, TOOL, USER, Message, Part, replace
from golem_cli.core.quote import quoted


@dataclass(frozen=True, kw_only=True)
class MalformedPart:
    """A part that no request may carry: message and part numbers from 1, and what is wrong."""

    message: int
    part: int
    reason: str

    def __str__(self) -> str:
        return f"message {self.message}, part {self.part}: {self.reason}"


def validate_history(messages: Sequence[Message]) -> None:
    """Raise `HistoryError` at the first thing that no run may take. Source: the semantics page, section 5.

    Roles are known; parts stand on user and tool messages only and are well formed; thinking stands on
    assistant messages only. Nothing is asked of pairing: repair sees to that.

    >>> validate_history([Message(role="user", content="hi")])
    """
    for number, message in enumerate(messages, 1):
        if message.role not in ROLES:
            raise HistoryError(
                f"message {number} has the role {quoted(message.role)}, which no run knows: "
                "sanitize the history, or make it system, user, assistant or tool"
            )
        if message.thinking and message.role != ASSISTANT:
            raise HistoryError(
                f"message {number} is a {message.role} message with thinking, which only assistant messages "
                "may have: remove it"
            )
        if message.parts:
            for malformed in malformed_parts(message, number):
                raise HistoryError(f"{malformed}: correct the part or remove it")


def malformed_parts(message: Message, number: int = 1) -> list[MalformedPart]:
    """Return what is wrong with the parts of `message`, numbered `number`: at most one for each part."""
    found: list[MalformedPart] = []
    for index, part in enumerate(message.parts, 1):
        reason = _fault_of_place(message.role) or fault_of(part)
        if reason:
            found.append(MalformedPart(message=number, part=index, reason=reason))
    return found


def leave_out_malformed_parts(messages: Sequence[Message]) -> tuple[list[Message], list[MalformedPart]]:
    """Return `messages` without their malformed parts, and those: one bad part bricks no chat.

    A message that this leaves empty stays: its place in the numbering does too, and the wire leaves it out.
    """
    kept: list[Message] = []
    found: list[MalformedPart] = []
    for number, message in enumerate(messages, 1):
        malformed = malformed_parts(message, number) if message.parts else []
        if malformed:
            bad = {part.part for part in malformed}
            parts = tuple(part for index, part in enumerate(message.parts, 1) if index not in bad)
            kept.append(replace(message, parts=parts))
            found.extend(malformed)
        else:
            kept.append(message)
    return kept, found


def fault_of(part: Part) -> str:
    """Return what is wrong with `part` itself, "" when it is well formed."""
    if part.kind not in PART_KINDS:
        return f"the kind is {quoted(part.kind)}, not one of {', '.join(sorted(PART_KINDS))}"
    if part.url and part.data:
        return "it has both url and data, and may have one only"
    if not part.url and not part.data:
        return "it has neither url nor data"
    if part.data and not part.media_type:
        return "it has data but no mediaType"
    if part.data and not _is_base64(part.data):
        return "its data is not valid base64"
    return ""


def _fault_of_place(role: str) -> str:
    return "" if role in (USER, TOOL) else f"a message of role {quoted(role)} may not have parts"


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
