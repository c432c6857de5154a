"""Progress: what a run in flight has produced so far, kept as it comes."""

from __future__ import annotations

import asyncio
import math
from typing import Final

from golem_cli.chat.ports import Writer
from golem_cli.core.conversation import RunRecord
from golem_cli.core.events import RunEvent
from golem_cli.core.message import USER, Message
from golem_cli.core.model import Delta

PARTIAL_EVERY: Final = 1.0
"""Seconds between two notes of the streamed text."""


class Progress:
    """Keeps each completed step of one run, and its streamed text about once a second.

    `requests` counts every attempt, also of a run that leaves no other evidence. `kept` are the messages that
    the run has added to the conversation so far.
    Made inside a running event loop; `close` it when the run has ended.
    """

    def __init__(self, writer: Writer, run: RunRecord) -> None:
        self._writer = writer
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._fragments: list[str] = []
        self._noted_at = -math.inf  # the first fragment is kept at once: what was seen is told after a crash
        self._timer: asyncio.TimerHandle | None = None
        self._prompt_kept = False
        self.requests = 0
        self.kept: list[Message] = []

    @property
    def partial_text(self) -> str:
        """The text of the turn that is being streamed."""
        return "".join(self._fragments)

    def on_delta(self, delta: Delta) -> None:
        """Take a fragment."""
        if not delta.content:
            return
        self._fragments.append(delta.content)
        due = self._noted_at + PARTIAL_EVERY
        if self._loop.time() >= due:
            self._note()
        elif self._timer is None:  # the stream may fall silent before the next fragment
            self._timer = self._loop.call_at(due, self._note)

    def on_event(self, event: RunEvent) -> None:
        """Keep what a step added to the conversation."""
        if event.kind == "model_start":
            self.requests += 1
        message = event.message
        if message is None:
            return
        if not self._prompt_kept:
            self._prompt_kept = True
            self._keep(self._prompt(event.conversation_id))
        if event.kind == "model_end":
            self.close()
            self._fragments.clear()
        self._keep(message)

    def close(self) -> None:
        """Note nothing any more: what is left is in the record of the run, or in its messages."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _keep(self, message: Message) -> None:
        self._writer.add_message(message)
        self.kept.append(message)

    def _note(self) -> None:
        self.close()
        self._noted_at = self._loop.time()
        self._writer.note_partial(self._run.run_id, self.partial_text)

    def _prompt(self, conversation_id: str) -> Message:
        return Message(
            role=USER,
            content=self._run.prompt,
            parts=self._run.prompt_parts,
            run_id=self._run.run_id,
            conversation_id=conversation_id,
        )
