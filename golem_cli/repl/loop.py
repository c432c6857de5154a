"""The loop: read a prompt or a command, do it, until somebody leaves. Whatever goes wrong, the REPL lives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application, get_app_or_none, run_in_terminal

from golem_cli.core.errors import StoreError
from golem_cli.repl import commands
from golem_cli.repl.bottom import bottom_line
from golem_cli.repl.keys import PromptKeys
from golem_cli.repl.mishaps import line_about, loop_errors_told
from golem_cli.repl.prompt import make_prompt
from golem_cli.repl.signals import chat_signals
from golem_cli.repl.watch import KeyWatch

if TYPE_CHECKING:
    from golem_cli.core.events import OnEvent
    from golem_cli.core.model import OnDelta
    from golem_cli.core.result import Result
    from golem_cli.repl.room import Room


class Loop:
    """Reads and does, in one room. `key_watch` watches the keyboard while nothing reads it.

    `history_file` keeps earlier prompts (0600); None keeps them in memory. `once_shown` is called when the
    first prompt is on the screen: the place for what need not delay it.
    """

    def __init__(
        self,
        room: Room,
        *,
        history_file: Path | None,
        vi_mode: bool = False,
        once_shown: Callable[[], object] = lambda: None,
    ) -> None:
        self._room = room
        self._keys = PromptKeys(self._is_command)
        self._warned_unsaved = False
        self._prompt = make_prompt(
            room, self._keys, bottom=self._bottom, history_file=history_file, vi_mode=vi_mode
        )
        self.key_watch = KeyWatch(self._prompt.input)
        self._once_shown = once_shown
        self._prompt.app.after_render += self._first_shown

    async def run(self, before: Callable[[], Awaitable[None] | None] | None = None) -> None:
        """Loop until the user leaves or the process is told to end. `before` comes first."""
        main = asyncio.current_task()
        signals = chat_signals(interrupt=self._interrupt, end=lambda: main and main.cancel())
        with signals, loop_errors_told(self._tell_mishap), self.key_watch.holding():
            if before is not None:
                await self._guarded(before)
            while not (self._room.leaving and self._may_leave()):
                try:
                    line = await self._read()
                except EOFError:
                    self._room.leaving = True
                    continue
                await self._guarded(partial(self._do, line))

    def _first_shown(self, app: Application[str]) -> None:
        app.after_render -= self._first_shown
        asyncio.get_running_loop().call_soon(self._once_shown)

    def _may_leave(self) -> bool:
        """Whether everything is on disk; when the store refuses, leaving takes a second attempt."""
        try:
            self._room.session.writer.catch_up()
        except StoreError as error:
            if self._warned_unsaved:
                return True
            self._warned_unsaved, self._room.leaving = True, False
            self._room.say(str(error), "error")
            self._room.say("The newest is in memory only: /export FILE elsewhere, or leave again.", "dim")
            return False
        return True

    async def _read(self) -> str:
        # Our handler for SIGINT stands for the whole chat; prompt-toolkit's would take it away at the end.
        # Its handler for errors would show a traceback.
        return await self._prompt.prompt_async(
            default=self._take_draft(), handle_sigint=False, set_exception_handler=False
        )

    def _take_draft(self) -> str:
        """What the next prompt begins with; text typed ahead was meant for an empty one and goes first."""
        typed_ahead = self.key_watch.typed_ahead()
        draft, self._room.draft = self._room.draft, ""
        if draft and typed_ahead:
            self._prompt.history.append_string(draft)
            self._room.say("What you typed ahead goes first; the draft is in the history (Up).", "dim")
            return ""
        return draft

    def _is_command(self, line: str) -> bool:
        slash = commands.split(line)
        return slash is not None and slash[0] in self._room.commands.names()

    async def _do(self, line: str) -> None:
        if not line.strip():
            return
        slash = commands.split(line)
        if slash is None:
            await self._ask(commands.prompt_text(line))
            return
        name, words = slash
        done = self._room.commands.find(name).run(self._room, words)
        if done is not None:
            await done

    async def _ask(self, prompt: str) -> None:
        async def work(on_delta: OnDelta, on_event: OnEvent) -> Result[str]:
            return await self._room.session.ask(prompt, on_delta=on_delta, on_event=on_event)

        runs = len(self._room.conversation.runs)
        await self._room.answering.answer(work)
        if len(self._room.conversation.runs) == runs:
            self._room.say("Your prompt was not taken; Up brings it back.", "dim")

    async def _guarded(self, action: Callable[[], Awaitable[None] | None]) -> None:
        """Do `action`; an error becomes a line."""
        try:
            done = action()
            if done is not None:
                await done
        except Exception as error:  # noqa: BLE001 (a mistake in one command must not end the chat)
            self._room.say(line_about(error), "error")

    def _tell_mishap(self, text: str) -> None:
        app = get_app_or_none()
        if app is not None and app.is_running:
            run_in_terminal(lambda: self._room.say(text, "error"))
        else:
            self._room.answering.notice(text)

    def _interrupt(self) -> None:
        """A SIGINT from outside: the answer stops; at the prompt it is like Ctrl-C."""
        if self._room.answering.stop():
            return
        app = get_app_or_none()
        if app is not None and app.is_running:
            buffer = app.current_buffer
            if buffer.text:
                buffer.append_to_history()
            buffer.reset()
            app.invalidate()

    def _bottom(self) -> str:
        return bottom_line(self._room, self._keys.hint, self._room.terminal.size[0])
