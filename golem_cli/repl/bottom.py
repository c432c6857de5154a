"""The bottom line: model, conversation, messages sent and kept, tokens, cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.usage import Usage
from golem_cli.render.neutralize import neutralize

if TYPE_CHECKING:
    from golem_cli.repl.room import Room


def bottom_line(room: Room, hint: str, width: int) -> str:
    """One line of at most `width` characters; a `hint` takes its place for a moment."""
    return (hint or " · ".join(_facts(room)))[: max(width - 1, 1)]


def _facts(room: Room) -> list[str]:
    conversation = room.conversation
    kept = len(conversation.messages)
    facts = [
        conversation.model,
        conversation.title or conversation.conversation_id[:8],
        f"{kept} messages" if not room.session.sent else f"{room.session.sent} sent / {kept} kept",
    ]
    total = sum((run.usage for run in conversation.runs), Usage()).total_tokens
    if total:
        facts.append(f"{total:,} tokens")
    costs = [run.cost for run in conversation.runs if run.cost is not None]
    if costs:
        facts.append(f"cost {sum(costs):.4f}")
    if room.session.writer.unsaved:
        facts.append("NOT SAVED")
    return [neutralize(fact, single_line=True) for fact in facts]
