"""`golem show`: read a conversation or file without opening it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli import run_options
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.cli.sources import Source
    from golem_cli.core.message import Message

EPILOG = epilog(
    "golem show",
    "golem show 0193 4",
    "golem show transcripts/tool-calls.json",
    exit_1="the store could not be read",
    exit_3="the file is no transcript",
)


def command(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|ID|NAME]",
            help="What to show; the newest conversation without it.",
            show_default=False,
        ),
    ] = "",
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="Only message N, whole, counted from 1.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The transcript, or the message, as JSON.")] = False,
    raw_output: run_options.RawOutput = False,
) -> None:
    """Show a conversation or a file without opening it.

    Its messages come with their numbers, calls and results in short, and runs that stopped short.
    Message N alone is shown whole.
    """
    from golem_cli.cli.home import newest_conversation
    from golem_cli.cli.raw_output import with_raw_output
    from golem_cli.cli.showing import conversation_of, message_lines, transcript_lines
    from golem_cli.cli.sources import read_source
    from golem_cli.core.recovery import settle

    environment = with_raw_output(context.obj, wanted=raw_output)
    wanted = reference or newest_conversation(environment)
    if not wanted:
        raise WrongUsage("there is no conversation to show yet; golem opens the first one")
    source = read_source(wanted, environment)
    messages = source.transcript.messages if as_json else settle(conversation_of(source.transcript)).messages
    if number is not None and number > len(messages):
        raise WrongUsage(f"{wanted} has {len(messages)} messages, so there is no message {number}")
    if as_json:
        _show_json(source, number, environment)
        return
    if number is not None and environment.stdout_is_terminal:
        _show_message(messages[number - 1], number, environment)
        return
    for line in message_lines(messages[number - 1], number) if number else transcript_lines(source):
        environment.say(line)


def _show_message(message: Message, number: int, environment: Environment) -> None:
    """Show one message whole, as the chat shows it."""
    from golem_cli.render.console import appearance, make_console
    from golem_cli.render.transcript import message_view

    look = appearance(is_terminal=True, environment=environment.variables)
    console = make_console(environment.stdout, plain=look.plain, color=look.color, width=environment.columns)
    console.print(message_view(message, number))


def _show_json(source: Source, number: int | None, environment: Environment) -> None:
    """Write the contract's own JSON."""
    from golem_cli.core.codec import dump_message, dump_transcript

    if number:
        environment.write_transcript(dump_message(source.transcript.messages[number - 1]) + b"\n")
    else:
        environment.write_transcript(dump_transcript(source.transcript))
