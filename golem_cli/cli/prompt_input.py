"""The prompt of `ask`: the words of the command line, with what is piped in behind them."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import TYPE_CHECKING, Final

from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.cli.environment import Environment

WAIT: Final = 1.0
"""Seconds in which a pipe must deliver a byte or its end; a silent one is not waited for."""
STANDARD_INPUT: Final = "-"


def read_prompt(words: Sequence[str], environment: Environment, *, attached: bool = False) -> str:
    """Return the whole prompt. A word `-` waits for standard input, and so does having nothing else to ask.

    With files `attached` the prompt may be empty.

    Raises `WrongUsage` when there is nothing to ask, or the input is not UTF-8 text.
    """
    named = STANDARD_INPUT in words
    text = " ".join(word for word in words if word != STANDARD_INPUT)
    waits = named or not (text or attached)
    piped = "" if environment.stdin_is_terminal and not named else _piped(environment, waits=waits)
    prompt = "\n\n".join(piece for piece in (text, piped.strip("\n")) if piece)
    if not prompt.strip() and not attached:
        raise WrongUsage('there is nothing to ask; golem ask "text", or pipe text in')
    return prompt


def _piped(environment: Environment, *, waits: bool) -> str:
    if not waits and not _delivers(environment):
        environment.complain("golem: standard input is silent, so it is not waited for; - waits for it")
        return ""
    try:
        return environment.read_input().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongUsage(
            f"standard input is not UTF-8 text (byte {error.start}); attach files with -f"
        ) from error


def _delivers(environment: Environment) -> bool:
    """Whether standard input has a byte or its end within `WAIT`; a file always has."""
    try:
        descriptor = environment.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return True  # text in memory
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return True
    if sys.platform == "win32":
        return True  # `select` knows only sockets there: a pipe is waited for
    return bool(select.select([descriptor], [], [], WAIT)[0])
