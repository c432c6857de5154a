"""`golem rename`: give a conversation of the store another title."""

from __future__ import annotations

from typing import Annotated

import typer

from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage

EPILOG = epilog('golem rename 0193 "A name for the boat"', exit_1="the store could not do it")


def command(
    context: typer.Context,
    *,
    conversation: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="Its id, the start of it, or its title.")
    ],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The new title.")],
) -> None:
    """Give a conversation another title."""
    from golem_cli.cli.home import open_store, tell_losses

    environment = context.obj
    wanted = " ".join(title.split())
    if not wanted:
        raise WrongUsage("the title is empty; give the conversation a name of at least one character")
    store = open_store(environment)
    conversation_id = store.resolve(conversation)
    tell_losses(conversation_id, store.rename(conversation_id, wanted), environment)
    environment.say_done(f"{conversation_id} is now called: {wanted}")
