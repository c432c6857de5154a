"""What became of a run, as its record spells it."""

from __future__ import annotations

from typing import Final

RUNNING: Final = "running"
"""Its process lives, or died and nobody has marked it yet."""
DONE: Final = "done"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"
"""The user stopped it."""
PENDING: Final = "pending"
"""Its calls wait for approval."""
DROPPED: Final = "dropped"
"""The user gave up a failed turn."""

STOPPED_SHORT: Final = frozenset({RUNNING, FAILED, INTERRUPTED})
"""A last run of this status has stopped short: it failed, was stopped, or its process died."""
