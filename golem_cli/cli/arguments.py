"""What the person typed → what Typer parses: the short forms of `golem`, and options with an optional value.

Pure functions over the list of arguments. Typer knows neither a default command nor an option whose value may
be left out, so both are resolved here, before it sees them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from golem_cli.cli.failures import WrongUsage

RESUME: Final = ("-r", "--resume")
PROMPT: Final = ("-p", "--prompt")
TOP_LEVEL: Final = frozenset({"--help", "-h", "--version", "-V", "--install-completion", "--show-completion"})
_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")


class Invocation(NamedTuple):
    """The arguments for Typer, the command's name first (or an option of the top level), and `--debug`."""

    arguments: tuple[str, ...]
    debug: bool = False


def resolve(arguments: Sequence[str], *, stdin_is_terminal: bool) -> Invocation:
    """Return what `arguments` mean.

    `golem` is `golem chat`; with `-p`, or without a terminal on stdin, it is `golem ask`.

    >>> resolve(["-p", "hi"], stdin_is_terminal=True).arguments
    ('ask', 'hi')
    >>> resolve(["-r", "-m", "local:"], stdin_is_terminal=True).arguments
    ('chat', '--resume=', '-m', 'local:')
    """
    ours, verbatim = _split_at_double_dash(arguments)
    debug = "--debug" in ours
    ours = [argument for argument in ours if argument != "--debug"]
    if not ours or (ours[0].startswith("-") and ours[0] not in TOP_LEVEL):
        ours = _with_command(ours, stdin_is_terminal=stdin_is_terminal)
    if ours[0] in ("chat", "ask"):
        ours = [ours[0], *_fill_optional_values(ours[1:])]
    return Invocation(arguments=(*ours, *verbatim), debug=debug)


def plain_list(arguments: Sequence[str]) -> tuple[int | None, bool] | None:
    """Return limit and `--json` of a `list` that is spelled plainly; None for all that Typer has to parse.

    >>> plain_list(["list", "-n", "20"]), plain_list(["list", "--json"]), plain_list(["list", "-n", "x"])
    ((20, False), (None, True), None)
    """
    as_json = "--json" in arguments[-1:]
    match tuple(arguments[:-1] if as_json else arguments):
        case ("list",):
            return None, as_json
        case ("list", "-n" | "--limit", number) if _NUMBER.fullmatch(number):
            return int(number), as_json
    return None


def _split_at_double_dash(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split before the first `--`: what follows it is text, never an option."""
    listed = list(arguments)
    cut = listed.index("--") if "--" in listed else len(listed)
    return listed[:cut], listed[cut:]


def _with_command(ours: list[str], *, stdin_is_terminal: bool) -> list[str]:
    prompted = next((argument for argument in ours if argument in PROMPT), None)
    if prompted is not None:
        ours.remove(prompted)
        return ["ask", *ours]
    return ["chat" if stdin_is_terminal else "ask", *ours]


def _fill_optional_values(ours: list[str]) -> list[str]:
    """Write `-r` as `--resume=`, and `-r ID` as `--resume=ID`. Raises `WrongUsage` for an empty ID."""
    filled: list[str] = []
    rest = iter(range(len(ours)))
    for at in rest:
        if ours[at] not in RESUME:
            filled.append(ours[at])
            continue
        value = ours[at + 1] if at + 1 < len(ours) and not ours[at + 1].startswith("-") else None
        if value == "":
            raise WrongUsage(f"{ours[at]} needs an id; without one it lets you pick")
        filled.append(f"--resume={value or ''}")
        if value:
            next(rest)
    return filled
