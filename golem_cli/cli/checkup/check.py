"""What a check says: one line, how bad it is, and the command that helps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

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
"""Yields the checks of one family. It opens files for reading only and raises nothing."""


def ok(name: str, text: str) -> Check:
    """Return a check that found nothing wrong."""
    return Check(name=name, level=Level.OK, text=text)


def note(name: str, text: str, advice: str = "") -> Check:
    """Return a check that found something worth knowing."""
    return Check(name=name, level=Level.NOTE, text=text, advice=advice)


def problem(name: str, text: str, advice: str = "") -> Check:
    """Return a check that found something wrong."""
    return Check(name=name, level=Level.PROBLEM, text=text, advice=advice)


def pasted(*words: str | Path) -> str:
    """Return a command line that a shell takes apart into `words` again.

    >>> pasted("chmod", "700", Path("my folder"))
    "chmod 700 'my folder'"
    """
    return shlex.join(str(word) for word in words)
