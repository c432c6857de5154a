"""The chat: one sitting at a terminal. Its prompt is painted first; what serves it opens behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from golem_cli.repl.end_notice import QUIET, EndNotice
from golem_cli.repl.loop import Loop

if TYPE_CHECKING:
    from golem_cli.chat.ports import ChatModel, OnNotice
    from golem_cli.chat.session import Session
    from golem_cli.core.conversation import Conversation
    from golem_cli.repl.room import Room
    from golem_cli.repl.terminal import Terminal
    from golem_cli.repl.watch import KeyWatch

Before = Callable[["Room"], Awaitable[None] | None]


class Chat(NamedTuple):
    """One sitting.

    `open_session` is called once: behind the first prompt, or before it when an exchange must stand above it.
    `once_open` is called when prompt and session are there.
    """

    terminal: Terminal
    open_session: Callable[[], Session]
    open_model: Callable[[str], ChatModel]
    export: Callable[[str, Conversation, OnNotice], Path]
    model_names: tuple[str, ...] = ()
    history_file: Path | None = None
    vi_mode: bool = False
    end_notice: EndNotice = QUIET
    once_open: Callable[[Session], object] = lambda session: None

    async def run(
        self, *, greeting: Sequence[str], arriving: bool = False, before: Before | None = None
    ) -> bool:
        """Greet and loop until somebody leaves; return whether a signal ended it.

        `arriving` in a conversation shows its last exchange; `before` comes between that and the prompt.
        """
        loop = Loop(
            self._open_room,
            self.terminal,
            history_file=self.history_file,
            vi_mode=self.vi_mode,
            once_open=lambda room: self.once_open(room.session),
        )
        try:
            self._greet(greeting, loop.room if arriving else None)
            await loop.run(before)
        except asyncio.CancelledError:
            return True
        finally:
            if loop.opened is not None:
                await self._leave(loop.opened.session)
        return False

    def _greet(self, greeting: Sequence[str], room: Room | None) -> None:
        for line in greeting:
            self.terminal.say(line, "dim")
        if room is not None:
            from golem_cli.repl.arrival import arrive

            arrive(room)

    def _open_room(self, keys: KeyWatch) -> Room:
        """What serves the prompt: the session, its answers, the commands."""
        from golem_cli.repl.answering import Answering
        from golem_cli.repl.command_table import COMMANDS
        from golem_cli.repl.question import ask_line
        from golem_cli.repl.room import Room

        session = self.open_session()
        answering = Answering(session, self.terminal, keys, self.end_notice)
        session.notice = answering.notice
        session.first_hidden = answering.tell_hidden
        session.left_behind = answering.tell_left_behind
        return Room(
            session=session,
            terminal=self.terminal,
            answering=answering,
            commands=COMMANDS,
            open_model=self.open_model,
            export=lambda name, conversation: self.export(name, conversation, answering.notice),
            ask=partial(ask_line, self.terminal),
            model_names=self.model_names,
        )

    async def _leave(self, session: Session) -> None:
        await session.model.aclose()
        conversation = session.conversation
        if session.writer.unsaved:
            self.terminal.say(
                f"The newest was not kept. golem -r {conversation.conversation_id} goes on with the rest.",
                "error",
            )
        elif session.writer.path and (conversation.runs or conversation.messages):
            self.terminal.say(f"Kept. golem -r {conversation.conversation_id} goes on with it.", "dim")
