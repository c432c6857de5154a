"""The bottom line: model, conversation, messages sent last and kept, tokens, cost; what fits of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.render.cells import first_cells
from golem_cli.render.neutralize import one_line
from golem_cli.render.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.repl.room import Room


_TITLE: Final = 24
"""Cells of the title: what stands behind it matters more."""
_MOST_IMPORTANT_FIRST: Final = ("unsaved", "messages", "model", "cost", "title", "tokens")


def bottom_line(room: Room, hint: str, width: int) -> str:
    """One line of fewer than `width` cells; a `hint` takes its place for a moment."""
    return first_cells(hint or fitted(_facts(room), width - 1), width - 1)


def fitted(facts: Mapping[str, str], width: int) -> str:
    """The facts that fit in `width` cells, each whole and in their order; the important ones go first.

    >>> fitted({"model": "local:x", "title": "Bread", "messages": "2 messages", "tokens": "9 tokens"}, 24)
    'local:x · 2 messages'
    """
    line, shown = "", set[str]()
    for fact in _MOST_IMPORTANT_FIRST:
        longer = " · ".join(text for name, text in facts.items() if name in shown or name == fact)
        if first_cells(longer, width) == longer:
            line, shown = longer, shown | {fact}
    return line or facts["model"]


def _facts(room: Room) -> dict[str, str]:
    from golem_cli.core.usage import Usage

    conversation = room.conversation
    sent, kept = room.session.planner.sent, len(conversation.messages)
    facts = {
        "model": conversation.model,
        "title": first_cells(conversation.title, _TITLE) or conversation.conversation_id[:8],
        "messages": f"last: {sent} sent / {kept} kept" if sent else counted(kept, "message"),
    }
    total = sum((run.usage for run in conversation.runs), Usage()).total_tokens
    if total:
        facts["tokens"] = f"{total:,} tokens"
    costs = [run.cost for run in conversation.runs if run.cost is not None]
    if costs:
        facts["cost"] = f"cost {sum(costs):.4f}"
    if room.session.writer.unsaved:
        facts["unsaved"] = "NOT SAVED"
    return {name: one_line(fact) for name, fact in facts.items()}
