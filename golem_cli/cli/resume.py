"""`golem resume`: go on with a saved conversation, healthy or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli import run_options
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage
from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

EPILOG = epilog(
    "golem resume",
    "golem resume 0193 --prompt 'try again, shorter'",
    "golem resume transcripts/failed-run.json",
    exit_1="the run failed",
    exit_3="the file is no transcript",
)


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """The flags of `golem resume`. `reference` is "" when none was given; `prompt` None likewise."""

    reference: str = ""
    prompt: str | None = None
    run: bool = True
    trust: bool = False
    model: str = ""


def command(
    context: typer.Context,
    *,
    reference: Annotated[
        str,
        typer.Argument(metavar="[FILE|ID|NAME]", help="The conversation; without one a list to pick from."),
    ] = "",
    prompt: Annotated[
        str | None, typer.Option("--prompt", "-p", metavar="TEXT", help="Send this at once.")
    ] = None,
    no_run: Annotated[bool, typer.Option("--no-run", help="Only open the conversation.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Do not sanitize the copy of a file.")] = False,
    model: run_options.Model = "",
) -> int:
    """Go on with a conversation. When its last run failed, say where it stopped and what can be done.

    A file outside the store is never written: a sanitized copy goes into the store.
    """
    if no_run and prompt is not None:
        raise WrongUsage("--no-run only opens the conversation, so it cannot go with --prompt")
    options = ResumeOptions(reference=reference, prompt=prompt, run=not no_run, trust=trust, model=model)
    return resume(options, context.obj)


def resume(options: ResumeOptions, environment: Environment) -> int:
    """Open the conversation, run what was asked for, and return the exit code."""
    raise ConfigurationError("golem resume is not part of this build yet; golem --help lists what is")
