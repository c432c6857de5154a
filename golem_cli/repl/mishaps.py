"""Errors that nobody foresaw: a line instead of a traceback, and the chat lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from golem_cli.core.errors import GolemError


def line_about(error: BaseException) -> str:
    """What to tell a person about an error, in one line.

    >>> line_about(GolemError("the disk is full")), line_about(KeyError("x"))
    ('the disk is full', "internal error, KeyError: 'x'; the chat goes on")
    """
    if isinstance(error, GolemError):
        return str(error) or type(error).__name__
    return f"internal error, {type(error).__name__}: {error}; the chat goes on"


@contextmanager
def loop_errors_told(tell: Callable[[str], object]) -> Iterator[None]:
    """Have `tell` say what the event loop would report otherwise: errors in callbacks and forgotten tasks."""
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            tell(line_about(error))

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)
