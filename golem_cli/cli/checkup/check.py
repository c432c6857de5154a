"""What a check says: one line, how bad it is, and the command that helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from golem_cli.cli.checkup.advice import looked_at
from golem_cli.core.errors import GolemError

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment
    from golem_cli.store.paths import Paths


class Level(StrEnum):
    """`note` is worth knowing and needs nobody; `problem` does."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check: its name for programs, what was found, in one line, and what to do; "" for nothing.

    `text` may hold text from files and servers: untrusted until it was neutralized. A command in `advice`
    works when it is pasted.
    """

    name: str
    level: Level
    text: str
    advice: str = ""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks look at; `offline` asks no server."""

    environment: Environment
    paths: Paths
    offline: bool = False


Family = Callable[[Scope], Iterator[Check]]
"""Yields the checks of one family. It opens files for reading only. `guarded` takes what it raises."""


def guarded(name: str, checks: Iterator[Check]) -> Iterator[Check]:
    """Yield `checks`; what the system or golem refuses ends them, with a problem of this name."""
    try:
        yield from checks
    except GolemError as error:
        yield problem(name, str(error))
    except OSError as error:
        from golem_cli.store.failures import reason_of

        if isinstance(error.filename, str):
            path = Path(error.filename)
            way = looked_at(path) if isinstance(error, PermissionError) else ""
            yield problem(name, f"{path} cannot be looked at: {reason_of(error)}", way)
        else:
            yield problem(name, f"this could not be checked: {reason_of(error)}")


def ok(name: str, text: str) -> Check:
    """Return a check that found nothing wrong."""
    return Check(name=name, level=Level.OK, text=text)


def note(name: str, text: str, advice: str = "") -> Check:
    """Return a check that found something worth knowing."""
    return Check(name=name, level=Level.NOTE, text=text, advice=advice)


def problem(name: str, text: str, advice: str = "") -> Check:
    """Return a check that found something wrong."""
    return Check(name=name, level=Level.PROBLEM, text=text, advice=advice)
