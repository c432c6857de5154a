"""The key that a command prints. It goes to the caller alone: to no file, no log, no error text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT = 60.0
"""Seconds: the command may have to ask for a passphrase in a window of its own."""


def run_key_command(command: Sequence[str], *, provider: str, timeout: float = TIMEOUT) -> str:
    """Run `command` (an argument vector; no shell) and return the first line that it prints.

    Raises `ConfigurationError` that names the provider and the program: never its arguments nor its output.
    """
    import subprocess

    place = f"providers.{provider}.api_key_command"
    try:
        done = subprocess.run(  # noqa: S603 (the user's own command, from the user's own file)
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise ConfigurationError(f"{place}: {command[0]} gave no key within {timeout:g} seconds") from None
    except OSError as error:
        raise ConfigurationError(f"{place}: cannot run {command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise ConfigurationError(f"{place}: {command[0]} failed with exit code {done.returncode}")
    return _key_in(done.stdout, f"{place}: {command[0]}")


def _key_in(output: bytes, place: str) -> str:
    lines = output.decode("utf-8", "replace").splitlines()
    key = lines[0].strip() if lines else ""
    if not key:
        raise ConfigurationError(f"{place} printed no key")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(f"{place} printed something that cannot be a key")
    return key
