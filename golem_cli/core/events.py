"""Run events: what an observer of a run sees, in fixed order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from golem_cli.core.message import Message
from golem_cli.core.usage import Usage

EventKind = Literal[
    "model_start", "model_end", "tool_start", "tool_end", "output_rejected", "deferred", "canceled"
]


@dataclass(frozen=True, kw_only=True)
class RunEvent:
    """One step of a run. Every event repeats the run's identity, so interleaved streams stay attributable.

    `turn` counts model turns from 0, `attempt` the tries of one model call from 1 (0 on other events).
    `message` is what the step added to the conversation, stamped: the assistant turn on a successful
    `model_end`, the tool message on `tool_end` (also when the batch may still fail).
    `error` is empty on success. `args` is verbatim.
    """

    kind: EventKind
    run_id: str
    conversation_id: str
    turn: int = 0
    attempt: int = 0
    tool_name: str = ""
    call_id: str = ""
    args: str = ""
    result: str = ""
    error: str = ""
    usage: Usage = field(default_factory=Usage)
    message: Message | None = None


OnEvent = Callable[[RunEvent], None]
"""An observer. Its exceptions are its own fault and end the run."""
