"""The program: arguments and an environment in, an exit code out."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO, cast

from golem_cli.cli import arguments as command_line
from golem_cli.cli.environment import STANDARD_OUTPUT, NamedOutput
from golem_cli.cli.exit_codes import DONE, INTERRUPTED

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

COMPLETION_VARIABLE = "_GOLEM_COMPLETE"
"""Set by a shell's completion script: the arguments are then Typer's business alone."""


def program(arguments: Sequence[str], environment: Environment) -> int:
    """Run `golem` with `arguments` and return its exit code.

    `KeyboardInterrupt` becomes 130 and every other error one line; only a broken pipe, and standard output
    that cannot be written, are left to the caller, who owns the process's streams.
    """
    if COMPLETION_VARIABLE in environment.variables:
        return _run_typer(arguments, environment)
    try:
        invocation = command_line.resolve(arguments, stdin_is_terminal=environment.stdin_is_terminal)
        environment = environment._replace(debug=invocation.debug)
        if invocation.arguments == ("chat",):  # the way in that is taken most need not wait for Typer
            from golem_cli.cli.start_chat import ChatOptions, start_chat

            return start_chat(ChatOptions(), environment)
        if (options := command_line.plain_list(invocation.arguments)) is not None:  # nor need a list
            from golem_cli.cli.listed import say_list

            say_list(environment, limit=options[0], as_json=options[1])
            return DONE
        return _run_typer(invocation.arguments, environment)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename == STANDARD_OUTPUT:
            raise  # what waits in the stream fails once more at the end: told there, once
        return _report(error, environment)
    except Exception as error:  # noqa: BLE001 (a traceback in front of a user is a bug: every error becomes a line)
        return _report(error, environment)


def _report(error: Exception, environment: Environment) -> int:
    from golem_cli.cli.failures import report_error

    return report_error(error, environment)


def _run_typer(arguments: Sequence[str], environment: Environment) -> int:
    """Run one command. Typer writes help to `sys.stdout`, so that is pointed at our streams meanwhile."""
    import typer

    from golem_cli.cli.app import run

    output = cast("TextIO", NamedOutput(environment.stdout))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(environment.stderr):
        try:
            return run(arguments, environment)
        except typer.Abort as error:
            raise KeyboardInterrupt from error
        except typer.TyperException as error:
            from golem_cli.cli.failures import WrongUsage, words_of

            raise WrongUsage(words_of(error)) from None
        except SystemExit as leaving:  # Typer's way out of a broken pipe, and of a shell's completion
            if isinstance(leaving.__context__, BrokenPipeError):
                raise leaving.__context__ from None
            return leaving.code if isinstance(leaving.code, int) else DONE
