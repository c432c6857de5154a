"""Cancellation of a task: seeing it even when something on the way swallowed it, and nothing else for it."""

from __future__ import annotations

import asyncio


class Cancellation:
    """Whether the current task was asked to stop since this object was made.

    A tool or an observer may swallow an `asyncio.CancelledError`, or a cancellation may wait for the next
    suspension: `checkpoint` brings it up. The other way round, a `CancelledError` may leak out of something
    that cancelled only itself: `is_foreign` tells it apart. A run that starts inside a task that is being
    cancelled already (a clean-up) is not stopped by the old request.
    """

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._before = self._task.cancelling() if self._task else 0

    @property
    def requested(self) -> bool:
        """Whether somebody cancelled the task."""
        return self._task is not None and self._task.cancelling() > self._before

    @property
    def is_foreign(self) -> bool:
        """Whether a `CancelledError` that arrives now is somebody else's: nobody cancelled this task."""
        return self._task is not None and not self.requested

    async def checkpoint(self) -> None:
        """Raise `asyncio.CancelledError` when the task was asked to stop."""
        if self.requested:
            await asyncio.sleep(0)  # a request that was not delivered yet arrives here
            raise asyncio.CancelledError
