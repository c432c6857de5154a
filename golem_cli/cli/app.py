"""The Typer application: the table of commands, each loaded only when it is named or listed.

A command lives in the module of `golem_cli.cli.commands` that has its name: its function `command` (whose
docstring is the help) and `EPILOG` (example and exit codes). Wiring a new command is one line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from golem_cli.cli.exit_codes import DONE, epilog
from golem_cli.cli.failures import WrongUsage, did_you_mean

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

COMMANDS: Final = (
    "chat",
    "ask",
    "resume",
    "fork",
    "normalize",
    "sanitize",
    "list",
    "search",
    "show",
    "rename",
    "delete",
    "trash",
    "export",
    "models",
    "config",
    "doctor",
)
"""Every command, in the order of the help: a module of `golem_cli.cli.commands`."""

_MAY_BE_EMPTY: Final = {"system", "resume"}
"""No instructions, and whichever the person picks."""

SETTINGS: Final = {"help_option_names": ["-h", "--help"]}


def run(arguments: Sequence[str], environment: Environment) -> int:
    """Parse `arguments`, run the command they name, and return its exit code.

    Only the named command is loaded; all of them for the help and for a shell's completion. Typer's own
    exceptions pass through.
    """
    named = arguments[0] if arguments else ""
    if named and not named.startswith("-") and named not in COMMANDS:
        raise WrongUsage(_unknown(named))
    known = named in COMMANDS
    app = typer.Typer(rich_markup_mode=None, context_settings=SETTINGS, add_completion=not known)
    app.callback(help=HELP, epilog=EPILOG)(_top)
    for name in [named] if known else COMMANDS:
        module = import_module(f"golem_cli.cli.commands.{name}")
        app.command(name, cls=_Command, epilog=module.EPILOG)(module.command)
    tree = typer.main.get_command(app)
    code = tree.main(args=list(arguments), prog_name="golem", standalone_mode=False, obj=environment)
    return code if isinstance(code, int) else DONE


class _Command(TyperCommand):
    """A command that refuses an empty value where none may be given: a script's variable was not set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, then look at what was given. Raises `WrongUsage`."""
        rest = super().parse_args(ctx, args)
        for parameter in self.params:
            if not parameter.required and _is_given_empty(parameter, ctx):
                if parameter.param_type_name == "argument":
                    raise WrongUsage(f"{parameter.metavar} is empty; name one, or leave it out")
                raise WrongUsage(f"{min(parameter.opts, key=len)} needs a value: {parameter.metavar}")
        return rest


def _is_given_empty(parameter: Any, context: Any) -> bool:
    source, value = context.get_parameter_source(parameter.name), context.params.get(parameter.name)
    if source is None or source.name != "COMMANDLINE" or parameter.name in _MAY_BE_EMPTY:
        return False
    if isinstance(value, list | tuple):  # of words, the command says what is empty
        return parameter.param_type_name == "option" and "" in value
    return bool(value == "")


def _unknown(word: str) -> str:
    if " " in word.strip():
        return 'that is no command; to ask a model type: golem ask "…"'
    near = did_you_mean(word, COMMANDS)
    where = f"{near} See" if near else "; see"
    return f"there is no command {word}{where} golem --help"


def _show_version(value: bool) -> None:  # noqa: FBT001 (Typer calls it with the option's value)
    if value:
        from golem_cli._version import __version__

        typer.echo(f"golem {__version__}")
        raise typer.Exit


def _top(
    *,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error arose.")] = False,
) -> None:
    """What `golem` takes beside a command."""


HELP: Final = """Chat with models in the terminal. Conversations are JSON files: fork, repair and resume them.

Without a command golem opens a chat and takes the options of golem chat:

\b
  -m PROVIDER:NAME  the model
  -c                go on with the newest conversation
  -r [ID]           go on with a conversation; without ID pick one
  -s TEXT           instructions for the conversation
  -p TEXT           ask one question, as golem ask does

golem chat --help has them all."""

EPILOG = epilog(
    "golem",
    'golem -p "Why is the sky blue?"',
    "golem normalize transcripts/interrupted-batch.json",
    exit_1="--check found something, or the run failed",
    exit_3="the input is no transcript",
)
