"""Keys at the prompt: sending, new lines, tabs, clearing a draft into history, leaving on purpose only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from prompt_toolkit.application import get_app
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from golem_cli.repl.bursts import ENTER_AHEAD, goes_on
from golem_cli.repl.commands import split

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer

LEAVE_WITHIN: Final = 2.0
"""Seconds in which a second Ctrl-C on an empty line leaves."""


class PromptKeys:
    """The bindings of the prompt, and the hint that the bottom line shows for a moment.

    `is_command` tells whether a draft is a slash command of ours. `offered` is the draft that the prompt
    began with; `set_aside` tells that a command typed behind it was taken alone.
    """

    def __init__(
        self, is_command: Callable[[str], bool], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._is_command = is_command
        self._clock = clock
        self._warned_at = -LEAVE_WITHIN
        self.offered = ""
        self.set_aside = False
        in_draft = has_focus(DEFAULT_BUFFER)  # a search has keys of its own
        self.bindings = KeyBindings()
        self.bindings.add("enter", filter=in_draft)(self._enter)
        self.bindings.add("escape", "enter", filter=in_draft)(_new_line)
        self.bindings.add("c-j", filter=in_draft)(_new_line)
        self.bindings.add("c-i", filter=in_draft & Condition(_tab_is_text))(_tab)
        self.bindings.add("c-x", "c-e", filter=in_draft)(_edit)
        self.bindings.add("c-c", filter=in_draft)(self._cancel)
        # No mouse is asked for. Escape codes that are pasted unbracketed can look like one, and
        # prompt-toolkit's own binding fails on them.
        self.bindings.add(Keys.Vt100MouseEvent)(lambda event: None)

    @property
    def hint(self) -> str:
        """What a Ctrl-C just meant; "" when there was none lately."""
        fresh = self._clock() - self._warned_at < LEAVE_WITHIN
        return "Ctrl-C again leaves; Ctrl-D or /exit too" if fresh else ""

    def offer(self, draft: str) -> None:
        """Take note of the draft that the next prompt begins with."""
        self.offered, self.set_aside = draft, False

    def _enter(self, event: KeyPressEvent) -> None:
        """Accept; but inside the text of an unbracketed paste an Enter is text. A command ends at it."""
        self._set_offer_aside(event.current_buffer)
        text = event.current_buffer.text
        pasted = event.key_sequence[-1] != ENTER_AHEAD and goes_on(event.app.key_processor.input_queue)
        if pasted and text.strip() and not self._is_command(text):
            _new_line(event)
        else:
            event.current_buffer.validate_and_handle()

    def _set_offer_aside(self, buffer: Buffer) -> None:
        """A command right behind the untouched draft is meant alone; the draft goes into the history."""
        command = buffer.text.removeprefix(self.offered)
        if command != buffer.text and self._is_command(command):
            buffer.text = self.offered
            buffer.append_to_history()
            buffer.text = command
            self.offer("")
            self.set_aside = True

    def _cancel(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text:
            buffer.append_to_history()
            buffer.reset()
            return
        if self._clock() - self._warned_at < LEAVE_WITHIN:
            event.app.exit(exception=EOFError)
            return
        self._warned_at = self._clock()
        app = get_app()
        app.invalidate()
        loop = app.loop
        if loop is not None:
            loop.call_later(LEAVE_WITHIN, app.invalidate)  # the hint goes as it came


def _tab_is_text() -> bool:
    """Whether a Tab is a tab: inside an unbracketed paste, or in a prompt, which nothing completes."""
    app = get_app()
    text = app.current_buffer.text
    return goes_on(app.key_processor.input_queue) or (bool(text.strip()) and split(text) is None)


def _tab(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\t")


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


def _edit(event: KeyPressEvent) -> None:
    """Edit the draft in $EDITOR; unlike prompt-toolkit's own binding this does not send it then."""
    event.current_buffer.open_in_editor()
