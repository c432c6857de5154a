"""The chat: a session, a terminal and the table of commands brought together for one sitting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from golem_cli.repl import content_commands, conversation_commands, setting_commands
from golem_cli.repl.answering import Answering
from golem_cli.repl.arrival import arrive
from golem_cli.repl.commands import Commands
from golem_cli.repl.loop import Loop
from golem_cli.repl.prompt import ask_line
from golem_cli.repl.room import Room

if TYPE_CHECKING:
    from golem_cli.chat.ports import ChatModel
    from golem_cli.chat.session import Session
    from golem_cli.core.conversation import Conversation
    from golem_cli.repl.terminal import Terminal

COMMANDS = Commands(
    (
        *conversation_commands.COMMANDS,
        *content_commands.SHOWING,
        *setting_commands.COMMANDS,
        *content_commands.COMMANDS,
    )
)


@dataclass(kw_only=True)
class Chat:
    """One sitting. `once_shown` is called when the first prompt is on the screen.

    `terminated` says afterwards whether a signal ended it.
    """

    session: Session
    terminal: Terminal
    open_model: Callable[[str], ChatModel]
    export: Callable[[str, Conversation], Path]
    model_names: tuple[str, ...] = ()
    history_file: Path | None = None
    vi_mode: bool = False
    once_shown: Callable[[], object] = lambda: None
    terminated: bool = field(default=False, init=False)

    async def run(
        self, *, greeting: Sequence[str], before: Callable[[Room], Awaitable[None] | None] | None = None
    ) -> None:
        """Greet, do what comes `before` the first prompt, and loop until somebody leaves."""
        answering = Answering(self.session, self.terminal)
        self.session.notice = answering.notice
        self.session.first_hidden = answering.tell_hidden
        room = Room(
            session=self.session,
            terminal=self.terminal,
            answering=answering,
            commands=COMMANDS,
            open_model=self.open_model,
            export=self.export,
            ask=ask_line,
            model_names=self.model_names,
        )
        loop = Loop(room, history_file=self.history_file, vi_mode=self.vi_mode, once_shown=self.once_shown)
        answering.keys = loop.key_watch
        for line in greeting:
            self.terminal.say(line, "dim")
        arrive(room)
        try:
            await loop.run((lambda: before(room)) if before else None)
        except asyncio.CancelledError:
            self.terminated = True
        finally:
            await self.session.model.aclose()
        self._say_goodbye()

    def _say_goodbye(self) -> None:
        conversation = self.session.conversation
        if conversation.runs or conversation.messages:
            self.terminal.say(f"Kept. golem -r {conversation.conversation_id} goes on with it.", "dim")
