"""Errors → one line for a person and an exit code. The only place of the command line that words them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.cli import exit_codes
from golem_cli.core.errors import (
    AmbiguousReference,
    ConfigurationError,
    ConversationNotFound,
    GolemError,
    TranscriptError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typer import TyperException

    from golem_cli.cli.environment import Environment


class WrongUsage(GolemError):  # noqa: N818 (reads as what happened)
    """The command line asks for something that cannot be: exit code 2."""


def exit_code_of(error: BaseException) -> int:
    """Return the exit code that `error` ends the program with."""
    match error:
        case TranscriptError():
            return exit_codes.NO_TRANSCRIPT
        case WrongUsage() | ConfigurationError() | ConversationNotFound() | AmbiguousReference():
            return exit_codes.WRONG_USAGE
        case KeyboardInterrupt():
            return exit_codes.INTERRUPTED
        case _:
            return exit_codes.FAILED


def line_of(error: BaseException) -> str:
    """Return what happened in one line."""
    match error:
        case ConversationNotFound() if not error.nearest:
            text = f"{error}; golem list shows them all"
        case GolemError():
            text = str(error)
        case OSError():
            from golem_cli.store.failures import reason_of

            text = ": ".join(str(part) for part in (error.filename, reason_of(error)) if part)
        case _:
            text = f"internal error, {type(error).__name__}: {error}; add --debug to see where"
    return f"golem: {text}"


def words_of(error: TyperException) -> str:
    """Return what Typer found wrong with the arguments, as one line that names the command's help."""
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "golem")
    option, near = getattr(error, "option_name", ""), getattr(error, "possibilities", None)
    if near is not None or (option and error.message.startswith("No such option")):
        text = f"there is no option {option}" + (f"; did you mean {near[0]}?" if near else "")
    elif (wanted := _number_wanted(error)) is not None:
        text = wanted
    else:
        text = error.format_message().rstrip(".")
        text = text[:1].lower() + text[1:]
    return f"{text}; see {path} --help" if not text.endswith("?") else f"{text} See {path} --help"


def _number_wanted(error: TyperException) -> str | None:
    """What a number should have been, when that is what was wrong; None when something else was."""
    param = getattr(error, "param", None)
    low = getattr(getattr(param, "type", None), "min", None)
    if param is None or low is None:
        return None
    from golem_cli.core.quote import quoted

    typed = quoted(error.message.partition(" is not ")[0].strip("'"))
    name = param.opts[0] if param.opts[0].startswith("-") else str(param.metavar).strip("[]")
    return f"{name} is a whole number from {int(low)} up, not {typed}"


def report_error(error: BaseException, environment: Environment) -> int:
    """Show `error` on standard error and return its exit code; with `--debug` the traceback comes first.

    The traceback holds no values of local variables: a key may be among them.
    """
    from golem_cli.render.neutralize import one_line

    if environment.debug:
        import traceback

        environment.complain("".join(traceback.format_exception(error)).rstrip("\n"))
    environment.complain(one_line(line_of(error)))
    return exit_code_of(error)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or nothing when no known word is near.

    >>> did_you_mean("lits", ["list", "show"])
    '; did you mean list?'
    """
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
