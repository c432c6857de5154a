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
    from golem_cli.cli.listed import say_list

    say_list(context.obj, limit=limit, as_json=as_json)
