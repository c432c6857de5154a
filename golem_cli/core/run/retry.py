"""Retries of a model call: which failures may be tried again, and how long to wait before that."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from golem_cli.core.errors import ModelError

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 30.0

Backoff = Callable[[int], float]
"""Seconds to wait after the attempt with this number (from 1) has failed."""

Sleep = Callable[[float], Awaitable[object]]
"""Waits that many seconds; `asyncio.sleep` outside tests."""


@dataclass(frozen=True, kw_only=True)
class RetryWait:
    """A wait before the next attempt: how long, after which attempt (from 1), and why.

    It stands between the `model_end` with that error and the next `model_start`.
    """

    seconds: float
    attempt: int
    error: ModelError
    run_id: str
    conversation_id: str


OnWait = Callable[[RetryWait], None]
"""Told of each wait before it begins, so that a person sees why nothing happens."""


def exponential_backoff(attempt: int) -> float:
    """Return 500 ms, doubled for each further attempt, at most 30 s; no jitter.

    >>> [exponential_backoff(attempt) for attempt in (1, 2, 3, 7, 5000)]
    [0.5, 1.0, 2.0, 30.0, 30.0]
    """
    doublings = min(attempt - 1, 10)
    return min(FIRST_WAIT * float(2**doublings), LONGEST_WAIT)


def jittered(share: float) -> Backoff:
    """Return `exponential_backoff` with each wait longer by up to `share` of it, at random.

    Many clients that failed at once do not all come back at once. 0 adds nothing.

    >>> 0.5 <= jittered(0.5)(1) <= 0.75, jittered(0)(2)
    (True, 1.0)
    """

    def wait(attempt: int) -> float:
        from random import random

        spread = share * random() if share else 0.0  # noqa: S311 (nobody is harmed who guesses it)
        return exponential_backoff(attempt) * (1 + spread)

    return wait


def seconds_to_wait(error: ModelError, attempt: int, backoff: Backoff) -> float:
    """Return what the provider asked for (`Retry-After`), else what `backoff` says.

    A wait that is no number of seconds, or without end, was not asked for.
    """
    if error.retry_after is not None and math.isfinite(error.retry_after):
        return max(0.0, error.retry_after)
    return backoff(attempt)


def after_attempts(error: Exception, attempts: int) -> Exception:
    """Return the error that ends the call: `error` itself, or one that also says how many attempts failed."""
    if attempts == 1:
        return error
    text = f"model failed after {attempts} attempts: {error}"
    if not isinstance(error, ModelError):
        return ModelError(text)
    return ModelError(
        text,
        retryable=error.retryable,
        status_code=error.status_code,
        code=error.code,
        retry_after=error.retry_after,
    )
