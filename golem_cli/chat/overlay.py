"""A writer that goes on in memory when the store refuses, and catches up as soon as the store can.

A full disk must not cost a word: the answer on the screen goes on. Only a new prompt is not taken then, since
a prompt is on disk before it is sent, and nothing is cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from golem_cli.chat.memory import MemoryWriter  # not later: a process out of descriptors cannot import
from golem_cli.core.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.chat.ports import OnNotice, Writer
    from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
    from golem_cli.core.message import Message


Change = Callable[["Writer"], object]
"""Makes one change to a conversation that a writer keeps."""


class OverlayWriter:
    """Writes through to `inner`; what it refuses waits here, in order, until it takes it."""

    def __init__(self, inner: Writer, notice: OnNotice) -> None:
        self._inner = inner
        self._notice = notice
        self._held: MemoryWriter | None = None
        self._waiting: deque[Change] = deque()

    @property
    def conversation(self) -> Conversation:
        return (self._held or self._inner).conversation

    @property
    def path(self) -> Path | None:
        return self._inner.path

    @property
    def losses(self) -> str:
        return self._inner.losses

    @property
    def unsaved(self) -> bool:
        """Whether something is in memory only."""
        return self._held is not None

    def catch_up(self) -> None:
        """Save what is held; raises `StoreError` when that is still impossible."""
        while self._waiting:
            self._waiting[0](self._inner)
            self._waiting.popleft()
        self._held = None

    def begin_run(self, run: RunRecord, *, after: Conversation | None = None) -> None:
        self.catch_up()
        self._inner.begin_run(run, after=after)

    def add_message(self, message: Message) -> None:
        self._write(lambda writer: writer.add_message(message))

    def note_partial(self, run_id: str, text: str) -> None:
        self._write(lambda writer: writer.note_partial(run_id, text))

    def end_run(self, run: RunRecord) -> None:
        self._write(lambda writer: writer.end_run(run))

    def update(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
        settings: ConversationSettings | None = None,
    ) -> None:
        self._write(
            lambda writer: writer.update(
                title=title, model=model, instructions=instructions, settings=settings
            )
        )

    def replace(self, conversation: Conversation) -> None:
        self._write(lambda writer: writer.replace(conversation))

    def replace_now(self, conversation: Conversation) -> None:
        """Keep this conversation instead; raises `StoreError` and changes nothing while it cannot."""
        self.catch_up()
        self._inner.replace(conversation)

    def save(self) -> None:
        self.catch_up()
        self._inner.save()

    def close(self) -> None:
        try:
            self.catch_up()
        finally:
            self._inner.close()

    def _write(self, change: Change) -> None:
        if self._held is None:
            try:
                change(self._inner)
            except StoreError as error:
                self._notice(f"{error}; the conversation goes on in memory for now")
                self._held = MemoryWriter(self._inner.conversation)
                self._hold(self._held, change)
            return
        self._hold(self._held, change)
        with suppress(StoreError):  # it was said once; `unsaved` tells, and the next change tries again
            self.catch_up()

    def _hold(self, memory: MemoryWriter, change: Change) -> None:
        change(memory)
        self._waiting.append(change)
