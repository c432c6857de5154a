"""One run under way: what it runs with, what it has completed, who watches, and at which stage it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from golem_cli.core.canceled import RunCanceled
from golem_cli.core.errors import RunError, Stage
from golem_cli.core.events import EventKind, OnEvent, RunEvent
from golem_cli.core.message import Message
from golem_cli.core.model import OnDelta
from golem_cli.core.run.cancellation import Cancellation
from golem_cli.core.run.configuration import AgentConfiguration
from golem_cli.core.run.ledger import Ledger
from golem_cli.core.run.retry import OnWait
from golem_cli.core.tool import RunContext
from golem_cli.core.usage import Usage


@dataclass(frozen=True, kw_only=True)
class ActiveRun:
    """What every step of one run shares."""

    configuration: AgentConfiguration
    ledger: Ledger
    context: RunContext[Any]
    cancellation: Cancellation
    observers: tuple[OnEvent, ...] = ()
    waiting_observers: tuple[OnWait, ...] = ()
    on_delta: OnDelta | None = None

    def emit(
        self,
        kind: EventKind,
        *,
        turn: int = 0,
        attempt: int = 0,
        tool_name: str = "",
        call_id: str = "",
        args: str = "",
        result: str = "",
        error: str = "",
        usage: Usage | None = None,
        message: Message | None = None,
    ) -> None:
        """Tell every observer of a step, with the run's identity."""
        if not self.observers:
            return
        event = RunEvent(
            kind=kind,
            run_id=self.ledger.run_id,
            conversation_id=self.ledger.conversation_id,
            turn=turn,
            attempt=attempt,
            tool_name=tool_name,
            call_id=call_id,
            args=args,
            result=result,
            error=error,
            usage=usage or Usage(),
            message=message,
        )
        for observer in self.observers:
            observer(event)

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Turn whatever fails inside into a `RunError` of `stage` with the evidence so far."""
        try:
            yield
        except asyncio.CancelledError as error:
            kind = RunError if self.cancellation.is_foreign else RunCanceled
            raise kind(stage, error, self.ledger.partial()) from error
        except Exception as error:  # tools, models and observers are anybody's: each fault keeps the evidence
            raise RunError(stage, error, self.ledger.partial()) from error


def described(error: BaseException) -> str:
    """Return the text of `error` for an event: never empty."""
    return str(error) or type(error).__name__
