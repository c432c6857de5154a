"""The conversations of the store as `golem list` shows them, and one of them as every `--json` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.store.summary import Summary


def say_list(environment: Environment, *, limit: int | None = None, as_json: bool = False) -> None:
    """Say the newest `limit` conversations, all without one: a line about each, or a JSON array."""
    from golem_cli.cli.home import open_shelf

    listing = open_shelf(environment).listing(limit)
    if as_json:
        environment.say_json([json_summary(summary) for summary in listing.shown])
    elif not listing.shown:
        environment.say("There are no conversations yet; golem opens the first one.")
    else:
        from golem_cli.render.listing import conversation_lines

        width = environment.columns if environment.stdout_is_terminal else None
        for line in conversation_lines(listing.shown, listing.ids, width=width):
            environment.say(line)


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
