"""`golem ask`: one turn without the chat, for pipes and scripts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli import run_options
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage
from golem_cli.core.errors import StoreError

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

EPILOG = epilog(
    'golem ask "Why is the sky blue?"',
    'git diff | golem -p "Write a commit message."',
    "golem ask --output-format json -c go on",
    exit_1="the run failed",
)


class OutputFormat(StrEnum):
    """What `ask` writes to standard output."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """The words and flags of `golem ask`. None and "" mean: not given."""

    words: tuple[str, ...] = ()
    output_format: OutputFormat = OutputFormat.TEXT
    continue_newest: bool = False
    resume: str = ""
    files: tuple[str, ...] = ()
    model: str = ""
    system: str | None = None
    trim: int | None = None
    budget: int | None = None
    save: bool = True
    raw_output: bool = False


def command(
    context: typer.Context,
    *,
    prompt: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT...]", help="The prompt; piped input follows."),
    ] = None,
    output_format: Annotated[
        OutputFormat, typer.Option("--output-format", help="The bare answer, one JSON object, or JSON lines.")
    ] = OutputFormat.TEXT,
    continue_newest: run_options.Continue = False,
    resume: Annotated[
        str | None, typer.Option("--resume", "-r", metavar="ID", help="Go on with this conversation.")
    ] = None,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", metavar="FILE", help="Attach a file; repeatable.")
    ] = None,
    model: run_options.Model = "",
    system: run_options.System = None,
    trim: run_options.Trim = None,
    budget: run_options.Budget = None,
    no_save: run_options.NoSave = False,
    raw_output: run_options.RawOutput = False,
) -> int:
    """Ask one question and print nothing but the answer. golem -c goes on with the conversation."""
    if resume == "":
        raise WrongUsage("-r needs the id of a conversation here; golem list shows them")
    if continue_newest and resume:
        raise WrongUsage("-c and -r both choose a conversation; use one of them")
    options = AskOptions(
        words=tuple(prompt or ()),
        output_format=output_format,
        continue_newest=continue_newest,
        resume=resume or "",
        files=tuple(files or ()),
        model=model,
        system=system,
        trim=trim,
        budget=budget,
        save=not no_save,
        raw_output=raw_output,
    )
    return ask(options, context.obj)


def ask(options: AskOptions, environment: Environment) -> int:
    """Run the turn and return the exit code."""
    from golem_cli.cli.attachments import attach
    from golem_cli.cli.going_on import by_reference, newest
    from golem_cli.cli.one_turn import output_for, take_turn
    from golem_cli.cli.opening import open_session
    from golem_cli.cli.preparing import Wanted
    from golem_cli.cli.prompt_input import read_prompt
    from golem_cli.cli.raw_output import with_raw_output

    environment = with_raw_output(environment, wanted=options.raw_output)
    prompt = read_prompt(options.words, environment, attached=bool(options.files))
    prompt, parts, origins = attach(prompt, options.files)
    wanted = Wanted(
        model=options.model,
        system=options.system,
        trim=options.trim,
        budget=options.budget,
        save=options.save,
        conversation=newest(environment)
        if options.continue_newest
        else by_reference(options.resume, environment)
        if options.resume
        else None,
    )
    session = open_session(wanted, environment, lambda text: environment.complain(f"golem: {text}"))
    try:
        return take_turn(
            session,
            lambda session, output: session.ask(
                prompt, parts=parts, origins=origins, on_delta=output.on_delta, on_event=output.on_event
            ),
            output_for(options.output_format, environment),
            environment,
        )
    except StoreError as error:
        if wanted.conversation is None:
            way = "a prompt is kept before it is sent; golem ask --no-save asks without keeping"
            error.advice = f"nothing was sent: {way}"
        raise
