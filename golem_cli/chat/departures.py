"""What a model gets of a history in another form, or not at all, in one line for the person who chose it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from golem_cli.providers.findings import wire_findings

if TYPE_CHECKING:
    from golem_cli.core.conversation import Conversation

_LISTED = 5
"""How many messages a rule names; the command that is printed beside lists them all."""


def departures_line(conversation: Conversation, model: str, *, kept: bool) -> str:
    """The rules, each with its messages, and the command that explains them; "" when there is nothing to say.

    Parts that `model`, PROVIDER:NAME, cannot take are not in it: those have lines of their own. `kept` says
    whether the conversation is in the store, where a command can read it.
    """
    at: dict[str, list[int]] = {}
    for found in wire_findings(conversation.messages, model) or ():
        if found.rule != "refused-part":
            at.setdefault(found.rule, []).append(found.message)
    if not at:
        return ""
    told = "; ".join(f"{rule} ({_messages([*dict.fromkeys(numbers)])})" for rule, numbers in at.items())
    command = f"golem normalize --for {shlex.quote(model)} {conversation.conversation_id}"
    return f"sent to {model} in another form, or not at all: {told}" + (f"; why: {command}" if kept else "")


def _messages(numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:_LISTED]))
    rest = f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else ""
    return f"message{'s' if len(numbers) > 1 else ''} {named}{rest}"
