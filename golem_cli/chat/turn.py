"""A turn: one prompt and its run, on disk before it is sent, kept step by step, and its end recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from golem_cli.chat.ports import Clock, Writer
from golem_cli.chat.progress import Progress
from golem_cli.core.canceled import RunCanceled
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import GolemError, RunError
from golem_cli.core.events import OnEvent, RunEvent
from golem_cli.core.message import Message
from golem_cli.core.model import Delta, OnDelta
from golem_cli.core.result import PartialResult, Result
from golem_cli.core.run import Agent
from golem_cli.core.run_status import DONE, FAILED, INTERRUPTED, PENDING


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Takes the turn of `run`, whose record holds the prompt.

    `answering` names the model that answered when the run was for one of several; "" for the record's own.
    `after` is what the run goes on from, when that is not the conversation as it stands.
    """

    writer: Writer
    conversation_id: str
    run: RunRecord
    clock: Clock
    answering: Callable[[], str] = str
    after: Conversation | None = None

    async def take(
        self,
        prepare: Callable[[], Awaitable[tuple[Agent[Any, str], list[Message]]]],
        *,
        on_delta: OnDelta | None = None,
        on_event: OnEvent | None = None,
    ) -> Result[str]:
        """Keep the prompt, run the agent, keep what comes of it; a failure is raised when it was kept.

        `prepare` gives the agent and the history to supply. It may have to wait for a model that is still
        loading, so the prompt is kept before.
        """
        self.writer.begin_run(self.run, after=self.after)
        progress = Progress(self.writer, self.run)

        def receive(delta: Delta) -> Awaitable[None] | None:
            progress.on_delta(delta)
            return on_delta(delta) if on_delta is not None else None

        def observe(event: RunEvent) -> None:
            progress.on_event(event)
            if on_event is not None:
                on_event(event)

        try:
            agent, history = await prepare()
            result = await agent.run_stream_with_history(
                history,
                self.run.prompt,
                receive,
                parts=self.run.prompt_parts,
                run_id=self.run.run_id,
                conversation_id=self.conversation_id,
                on_event=observe,
            )
        except RunError as error:
            self._keep_failure(progress, error)
            raise
        except GolemError as error:
            self._keep_end(progress, status=FAILED, error=str(error))
            raise
        except asyncio.CancelledError:  # before the first model call: there is no evidence yet
            self._keep_end(progress, status=INTERRUPTED)
            raise
        finally:
            progress.close()
        self._keep_result(progress, result)
        return result

    def _keep_result(self, progress: Progress, result: Result[str]) -> None:
        waiting = tuple(pending.call.id for pending in result.pending)
        self._keep_end(progress, result, status=PENDING if waiting else DONE, pending=waiting)

    def _keep_failure(self, progress: Progress, error: RunError) -> None:
        stopped = isinstance(error, RunCanceled)
        self._keep_end(
            progress,
            error.partial,
            status=INTERRUPTED if stopped else FAILED,
            stage=error.stage,
            error="" if stopped else str(error.cause) or type(error.cause).__name__,
            partial_text=progress.partial_text,
            requests=progress.requests,
        )

    def _keep_end(
        self, progress: Progress, evidence: Result[str] | PartialResult | None = None, **changes: object
    ) -> None:
        """Record how the run ended. Its prompt leaves the record once it stands among the messages."""
        kept = progress.kept  # not looked up in the conversation: a turn costs the same however long that is
        if evidence is not None:
            kept = self._reconcile(kept, evidence.new_messages)
            changes.update(
                requests=evidence.requests,
                tool_calls=evidence.tool_calls,
                usage=evidence.usage,
                cost=evidence.cost,
                model=self.answering() or self.run.model,
            )
        if kept:
            changes.update(prompt="", prompt_parts=())
        ended = msgspec.structs.replace(self.run, ended_at=self.clock(), **changes)
        self.writer.end_run(ended)

    def _reconcile(self, kept: list[Message], added: list[Message]) -> list[Message]:
        """Put this run's messages into the run's own order, with those that no event announced; return them.

        Parallel tools finish in any order, and a cancelled batch is closed at its end. A failed batch's
        finished results are no part of its evidence but stay here: they happened.
        """
        wanted = [*added, *(message for message in kept if message not in added)]
        if kept != wanted:
            conversation = self.writer.conversation
            before = conversation.messages[: len(conversation.messages) - len(kept)]
            whole = msgspec.structs.replace(conversation, messages=(*before, *wanted))
            self.writer.replace(whole)
        return wanted
