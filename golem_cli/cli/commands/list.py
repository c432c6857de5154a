"""`golem list`: the conversations of the store, the one changed last first."""

from __future__ import annotations

from typing import Annotated

import typer

from golem_cli.cli.exit_codes import epilog

EPILOG = epilog("golem list", "golem list -n 5 --json", exit_1="the store could not be read")


def command(
    context: typer.Context,
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Only the newest N.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON array.")] = False,
) -> None:
    """List the conversations, newest first.

    A line has id, age, messages, status, model and title; a narrow terminal gets fewer of them. As much
    of the id is shown as tells it from all others; commands take it so.
    """
    from golem_cli.cli.home import open_shelf
    from golem_cli.cli.listed import json_summary

    environment = context.obj
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
