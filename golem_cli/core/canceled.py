"""The one error that needs asyncio, apart from the tree in `golem_cli.core.errors`: most verbs need none."""

from __future__ import annotations

import asyncio

from golem_cli.core.errors import RunError


class RunCanceled(RunError, asyncio.CancelledError):  # noqa: N818 (the seed's name; it is a cancellation)
    """The run's task was cancelled at `stage`. Never swallow it: it is an `asyncio.CancelledError`.

    Whoever awaits the task gets it with its evidence; further awaits give a plain `asyncio.CancelledError`.
    `asyncio.timeout` of Python 3.11 compares the exact class, so this passes through it as it is.
    """
