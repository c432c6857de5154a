"""A writer that goes on in memory when the store refuses, and catches up as soon as the store can.

A full disk must not cost a word: the answer on the screen goes on. Only a new prompt is not taken then, since
a prompt is on disk before it is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from golem_cli.chat.memory import MemoryWriter
    from golem_cli.chat.ports import OnNotice, Writer
    from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
    from golem_cli.core.message import Message


class OverlayWriter:
    """Writes through to `inner`; what it refuses is held here until it takes the whole conversation."""

    def __init__(self, inner: Writer, notice: OnNotice) -> None:
        self._inner = inner
        self._notice = notice
        self._held: MemoryWriter | None = None

    @property
    def conversation(self) -> Conversation:
        return (self._held or self._inner).conversation

    @property
    def path(self) -> Path | None:
        return self._inner.path

    @property
    def unsaved(self) -> bool:
        """Whether something is in memory only."""
        return self._held is not None

    def catch_up(self) -> None:
        """Save what is held; raises `StoreError` when that is still impossible."""
        if self._held is not None:
            self._inner.replace(self._held.conversation)
            self._held = None

    def begin_run(self, run: RunRecord) -> None:
        self.catch_up()
        self._inner.begin_run(run)

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

    def save(self) -> None:
        self.catch_up()
        self._inner.save()

    def close(self) -> None:
        try:
            self.catch_up()
        finally:
            self._inner.close()

    def _write(self, change: Callable[[Writer], object]) -> None:
        if self._held is None:
            try:
                change(self._inner)
            except StoreError as error:
                self._notice(f"{error}; until then the conversation goes on in memory")
                from golem_cli.chat.memory import MemoryWriter

                self._held = MemoryWriter(self._inner.conversation)
            else:
                return
        change(self._held)
        try:
            self.catch_up()
        except StoreError:
            return  # it was said once; `unsaved` tells, and the next change tries again
