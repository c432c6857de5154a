"""The bottom line: model, conversation, messages sent and kept, tokens, cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.render.cells import first_cells
from golem_cli.render.neutralize import neutralize
from golem_cli.render.words import counted

if TYPE_CHECKING:
    from golem_cli.repl.room import Room


_TITLE: Final = 24
"""Cells of the title: what stands behind it matters more."""


def bottom_line(room: Room, hint: str, width: int) -> str:
    """One line of fewer than `width` cells; a `hint` takes its place for a moment."""
    return first_cells(hint or " · ".join(_facts(room)), width - 1)


def _facts(room: Room) -> list[str]:
    from golem_cli.core.usage import Usage

    conversation = room.conversation
    sent, kept = room.session.planner.sent, len(conversation.messages)
    facts = [
        conversation.model,
        first_cells(conversation.title, _TITLE) or conversation.conversation_id[:8],
        f"{sent} sent / {kept} kept" if sent else counted(kept, "message"),
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
