"""The bridge from synchronous code: run one coroutine in an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from golem_cli.core.errors import ConfigurationError

Value = TypeVar("Value")


def block_on(start: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Return what the coroutine that `start` makes returns.

    Raises `ConfigurationError` inside a running event loop, which it would block.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    raise ConfigurationError(
        "an event loop is running: await the asynchronous method instead of its _sync form"
    )
