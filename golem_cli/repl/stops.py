"""What a person reads about a run that stopped short: where it stopped, what is kept, what can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.run_status import INTERRUPTED

if TYPE_CHECKING:
    from golem_cli.core.recovery import Stop


def stop_line(stop: Stop) -> str:
    """One line about `stop`; only what was stopped on purpose goes on with the next prompt by itself."""
    if stop.run.status == INTERRUPTED:
        return f"Stopped {stop.where}; {_kept(stop)}. Type on, or {_choices(stop, resume=False)}."
    return f"The run failed {stop.where}; {_kept(stop)}. {_choices(stop, resume=True)}. {_without(stop)}."


def _without(stop: Stop) -> str:
    """What a new prompt goes on from when nobody chooses."""
    if not stop.added:
        return "A new prompt goes without it; it stays beside the conversation"
    return "A new prompt goes on from its last completed step"


def _kept(stop: Stop) -> str:
    return "what came is kept" if stop.added or stop.run.partial_text else "your prompt is kept"


def _choices(stop: Stop, *, resume: bool) -> str:
    going_on = resume and (stop.added or stop.run.partial_text)
    return f"{'/resume goes on from there, ' if going_on else ''}/retry asks again, /undo takes it back"
