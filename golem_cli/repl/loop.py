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
    from golem_cli.repl.terminal import Terminal


class Loop:
    """Reads and does, in one room. `key_watch` watches the keyboard while nothing reads it.

    `open_room` is called once: when the room is first asked for, at the latest right behind the first prompt,
    which does not wait for it. `once_open` is called when prompt and room are there. `history_file` keeps
    earlier prompts (0600); None keeps them in memory.
    """

    def __init__(
        self,
        open_room: Callable[[KeyWatch], Room],
        terminal: Terminal,
        *,
        history_file: Path | None,
        vi_mode: bool = False,
        once_open: Callable[[Room], object] = lambda room: None,
    ) -> None:
        self._open_room = open_room
        self.opened: Room | None = None
        self._terminal = terminal
        self._keys = PromptKeys(self._is_command)
        self._warned_unsaved = False
        self._prompt = make_prompt(
            terminal, self._keys, bottom=self._bottom, history_file=history_file, vi_mode=vi_mode
        )
        self.key_watch = KeyWatch(self._prompt.input)
        self._once_open = once_open
        self._prompt.app.after_render += self._first_shown

    @property
    def room(self) -> Room:
        """Where everything is done; opened when it is first asked for. Raises as `open_room` does."""
        if self.opened is None:
            from golem_cli.repl.completion import SlashCompleter

            self.opened = self._open_room(self.key_watch)
            self._prompt.completer = SlashCompleter(self.opened)
        return self.opened

    async def run(self, before: Callable[[Room], Awaitable[None] | None] | None = None) -> None:
        """Loop until the user leaves or the process is told to end. `before` comes first."""
        main = asyncio.current_task()
        signals = chat_signals(interrupt=self._interrupt, end=lambda: main and main.cancel())
        with signals, loop_errors_told(self._tell_mishap), self.key_watch.holding():
            if before is not None:
                await self._guarded(partial(before, self.room))
            while not (self.opened and self.opened.leaving and self._may_leave()):
                try:
                    line = await self._read()
                except EOFError:
                    self.room.leaving = True
                    continue
                await self._guarded(partial(self._do, line))

    def _first_shown(self, app: Application[str]) -> None:
        app.after_render -= self._first_shown
        asyncio.get_running_loop().call_soon(self._open_behind, app)

    def _open_behind(self, app: Application[str]) -> None:
        """Open the room behind the first prompt, before a key is read; without a room there is no chat."""
        try:
            room = self.room
        except Exception as error:  # noqa: BLE001 (whatever it is, it ends the loop and is worded there)
            app.erase_when_done = True
            app.exit(exception=error)
        else:
            app.invalidate()
            self._once_open(room)

    def _may_leave(self) -> bool:
        """Whether everything is on disk; when the store refuses, leaving takes a second attempt."""
        try:
            self.room.session.writer.catch_up()
        except StoreError as error:
            if self._warned_unsaved:
                return True
            self._warned_unsaved, self.room.leaving = True, False
            self.room.say(str(error), "error")
            self.room.say(
                "The newest is in memory only: /fork keeps it as another conversation, /export FILE.json in "
                "another place; leaving again gives it up.",
                "dim",
            )
            return False
        self._warned_unsaved = False
        return True

    async def _read(self) -> str:
        # Our handler for SIGINT stands for the whole chat; prompt-toolkit's would take it away at the end.
        # Its handler for errors would show a traceback.
        draft = self._take_draft()
        self._keys.offer(draft)
        line = await self._prompt.prompt_async(
            default=draft, handle_sigint=False, set_exception_handler=False
        )
        if self._keys.set_aside:
            self.room.say("The command goes alone; the draft is in the history (Up).", "dim")
        return line

    def _take_draft(self) -> str:
        """What the next prompt begins with; text typed ahead was meant for an empty one and goes first."""
        typed_ahead = self.key_watch.typed_ahead()
        if self.opened is None:
            return ""
        draft, self.room.draft = self.room.draft, ""
        if draft and typed_ahead:
            self._prompt.history.append_string(draft)
            self.room.say("What you typed ahead goes first; the draft is in the history (Up).", "dim")
            return ""
        return draft

    def _is_command(self, line: str) -> bool:
        slash = commands.split(line)
        return slash is not None and slash[0] in self.room.commands.names()

    async def _do(self, line: str) -> None:
        if not line.strip():
            return
        slash = commands.split(line)
        if slash is None:
            await self._ask(commands.prompt_text(line))
            return
        name, words = slash
        done = self.room.commands.find(name).run(self.room, words)
        if done is not None:
            await done

    async def _ask(self, prompt: str) -> None:
        async def work(on_delta: OnDelta, on_event: OnEvent) -> Result[str]:
            return await self.room.session.ask(prompt, on_delta=on_delta, on_event=on_event)

        runs = len(self.room.conversation.runs)
        await self.room.answering.answer(work)
        if len(self.room.conversation.runs) == runs:
            self.room.say("Your prompt was not taken; Up brings it back.", "dim")

    async def _guarded(self, action: Callable[[], Awaitable[None] | None]) -> None:
        """Do `action`; an error becomes a line."""
        try:
            done = action()
            if done is not None:
                await done
        except Exception as error:  # noqa: BLE001 (a mistake in one command must not end the chat)
            self.room.say(line_about(error), "error")

    def _tell_mishap(self, text: str) -> None:
        app = get_app_or_none()
        if app is not None and app.is_running:
            run_in_terminal(lambda: self.room.say(text, "error"))
        else:
            self.room.answering.notice(text)

    def _interrupt(self) -> None:
        """A SIGINT from outside: the answer stops; at the prompt it is like Ctrl-C."""
        if self.room.answering.stop():
            return
        app = get_app_or_none()
        if app is not None and app.is_running:
            buffer = app.current_buffer
            if buffer.text:
                buffer.append_to_history()
            buffer.reset()
            app.invalidate()

    def _bottom(self) -> str:
        return bottom_line(self.opened, self._keys.hint, self._terminal.size[0]) if self.opened else ""
