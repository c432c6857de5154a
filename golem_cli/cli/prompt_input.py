"""The prompt of `ask`: the words of the command line, with what is piped in behind them."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import TYPE_CHECKING, Final

from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

WAIT: Final = 1.0
"""Seconds in which a pipe must deliver a byte or its end; a silent one is not waited for."""
STANDARD_INPUT: Final = "-"


def read_prompt(words: str, environment: Environment) -> str:
    """Return the whole prompt. `-` among the words, or no words at all, waits for standard input.

    Raises `WrongUsage` when there is nothing to ask, or the input is not UTF-8 text.
    """
    asked = words.split(" ")
    waits = not words or STANDARD_INPUT in asked
    text = " ".join(word for word in asked if word != STANDARD_INPUT)
    piped = "" if environment.stdin_is_terminal and not _named(asked) else _piped(environment, waits=waits)
    prompt = "\n\n".join(piece for piece in (text, piped.strip("\n")) if piece)
    if not prompt.strip():
        raise WrongUsage('there is nothing to ask; golem ask "text", or pipe text in')
    return prompt


def _named(asked: list[str]) -> bool:
    return STANDARD_INPUT in asked


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
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode) and not stat.S_ISSOCK(
            os.fstat(descriptor).st_mode
        ):
            return True
    except (OSError, ValueError):
        return True  # text in memory
    if sys.platform == "win32":
        return True  # `select` knows only sockets there: a pipe is waited for
    return bool(select.select([descriptor], [], [], WAIT)[0])
