"""The loop: read a prompt or a command, do it, until somebody leaves. Whatever goes wrong, the REPL lives."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app_or_none, run_in_terminal
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.plain_text import PlainTextOutput
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import is_dumb_terminal

from golem_cli.core.errors import StoreError
from golem_cli.repl import commands
from golem_cli.repl.bottom import bottom_line
from golem_cli.repl.completion import SlashCompleter
from golem_cli.repl.keys import PromptKeys
from golem_cli.repl.mishaps import line_about, loop_errors_told
from golem_cli.repl.signals import chat_signals
from golem_cli.repl.watch import KeyWatch

if TYPE_CHECKING:
    from golem_cli.core.events import OnEvent
    from golem_cli.core.model import OnDelta
    from golem_cli.core.result import Result
    from golem_cli.repl.room import Room

PROMPT = "› "  # noqa: RUF001 (a prompt sign, not a comparison)


class Loop:
    """Reads and does, in one room.

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
        self._keys = PromptKeys()
        self._warned_unsaved = False
        self._prompt: PromptSession[str] = PromptSession(
            history=_history(history_file),
            output=PlainTextOutput(sys.stdout) if is_dumb_terminal() else None,
            multiline=True,
            key_bindings=self._keys.bindings,
            completer=SlashCompleter(room),
            complete_while_typing=True,
            complete_in_thread=True,
            enable_suspend=True,
            enable_open_in_editor=True,
            editing_mode=EditingMode.VI if vi_mode else EditingMode.EMACS,
            bottom_toolbar=None if room.terminal.plain else self._bottom,
            prompt_continuation=lambda width, *_: " " * width,
            color_depth=None if room.terminal.color else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict({"bottom-toolbar": "noreverse"}),
            include_default_pygments_style=False,
        )
        self._prompt.app.ttimeoutlen = 0.05
        self._once_shown = once_shown
        self._prompt.app.after_render += self._first_shown

    @property
    def key_watch(self) -> KeyWatch:
        """What watches this loop's keyboard while an answer runs."""
        return KeyWatch(self._prompt.input)

    async def run(self, before: Callable[[], Awaitable[None] | None] | None = None) -> None:
        """Loop until the user leaves or the process is told to end. `before` comes first."""
        main = asyncio.current_task()
        signals = chat_signals(interrupt=self._interrupt, end=lambda: main and main.cancel())
        with signals, loop_errors_told(self._tell_mishap):
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
        default, self._room.draft = self._room.draft, ""
        # Our handler for SIGINT stands for the whole chat; prompt-toolkit's would take it away at the end.
        # Its handler for errors would show a traceback.
        return await self._prompt.prompt_async(
            PROMPT, default=default, handle_sigint=False, set_exception_handler=False
        )

    async def _do(self, line: str) -> None:
        if not line.strip():
            return
        slash = commands.split(line)
        if slash is None:
            await self._ask(commands.prompt_text(line))
            return
        name, words = slash
        done = self._room.commands.find(name).handler(self._room, words)
        if done is not None:
            await done

    async def _ask(self, prompt: str) -> None:
        async def work(on_delta: OnDelta, on_event: OnEvent) -> Result[str]:
            return await self._room.session.ask(prompt, on_delta=on_delta, on_event=on_event)

        runs = len(self._room.conversation.runs)
        await self._room.answering.answer(work)
        if len(self._room.conversation.runs) == runs:
            self._room.draft = prompt  # it was not accepted, so it is not lost

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
            app.current_buffer.reset()

    def _bottom(self) -> FormattedText:
        width = self._room.terminal.size[0]
        return FormattedText([("ansibrightblack", bottom_line(self._room, self._keys.hint, width))])


def _history(path: Path | None) -> History:
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()  # prompts of this sitting can be recalled all the same
    return FileHistory(str(path))


async def ask_line(question: str) -> str:
    """Read one line in answer to `question`; "" when the person would rather not."""
    try:
        return await PromptSession[str](history=InMemoryHistory()).prompt_async(question, handle_sigint=False)
    except (EOFError, KeyboardInterrupt):
        return ""
