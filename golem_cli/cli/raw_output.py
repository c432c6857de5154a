"""`--raw-output`: foreign text as it is, for a program that reads it; never on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment


def with_raw_output(environment: Environment, *, wanted: bool) -> Environment:
    """Return the environment that leaves foreign text as it is when that is `wanted`, and warn of it.

    Raises `WrongUsage` on a terminal, which such text could take over.
    """
    if not wanted:
        return environment
    if environment.stdout_is_terminal:
        raise WrongUsage("--raw-output is for pipes and files: on a terminal such text can do anything")
    environment.complain(
        "golem: --raw-output writes control characters as they are; show them to no terminal"
    )
    return environment._replace(raw_output=True)
