"""`golem chat`: the chat in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from golem_cli.cli import run_options
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage

EPILOG = epilog("golem", "golem -m openai:gpt-6.1-terra --trim 40", "golem -r 0193", exit_1="the chat failed")


def command(
    context: typer.Context,
    *,
    continue_newest: run_options.Continue = False,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume", "-r", metavar="[ID]", help="Go on with a conversation; without ID pick one."
        ),
    ] = None,
    model: run_options.Model = "",
    system: run_options.System = None,
    trim: run_options.Trim = None,
    budget: run_options.Budget = None,
    no_save: run_options.NoSave = False,
    plain: Annotated[bool, typer.Option("--plain", help="No colours and no cursor movement.")] = False,
) -> int:
    """Chat with a model. This is what golem does without a command."""
    from golem_cli.cli.start_chat import ChatOptions, start_chat

    if continue_newest and resume is not None:
        raise WrongUsage("-c and -r both choose a conversation; use one of them")
    options = ChatOptions(
        continue_newest=continue_newest,
        resume=resume,
        model=model,
        system=system,
        trim=trim,
        budget=budget,
        save=not no_save,
        plain=plain,
    )
    return start_chat(options, context.obj)
