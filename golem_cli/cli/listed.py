"""A conversation of the store as `--json` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golem_cli.store.summary import Summary


def json_summary(summary: Summary) -> dict[str, object]:
    """The documented shape of one conversation; `problem` only for a damaged file."""
    entry: dict[str, object] = {
        "conversationId": summary.conversation_id,
        "title": summary.title,
        "createdAt": summary.created_at,
        "updatedAt": summary.updated_at,
        "messages": summary.message_count,
        "model": summary.model,
        "status": summary.status,
        "file": str(summary.path),
    }
    if summary.forked_from:
        entry["forkedFrom"] = summary.forked_from
    if summary.problem:
        entry["problem"] = "; ".join(filter(None, (summary.problem, summary.advice)))
    return entry
