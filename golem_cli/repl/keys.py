"""Keys at the prompt: new lines, clearing a draft into history, and leaving on purpose only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from prompt_toolkit.application import get_app
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

LEAVE_WITHIN: Final = 2.0
"""Seconds in which a second Ctrl-C on an empty line leaves."""


class PromptKeys:
    """The bindings of the prompt, and the hint that the bottom line shows for a moment."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._warned_at = -LEAVE_WITHIN
        self.bindings = KeyBindings()
        self.bindings.add("enter")(self._enter)
        self.bindings.add("escape", "enter")(_new_line)
        self.bindings.add("c-j")(_new_line)
        self.bindings.add("c-x", "c-e")(_edit)
        self.bindings.add("c-c")(self._cancel)
        # No mouse is asked for. Escape codes that are pasted unbracketed can look like one, and
        # prompt-toolkit's own binding fails on them.
        self.bindings.add(Keys.Vt100MouseEvent)(lambda event: None)

    @property
    def hint(self) -> str:
        """What a Ctrl-C just meant; "" when there was none lately."""
        fresh = self._clock() - self._warned_at < LEAVE_WITHIN
        return "Ctrl-C again leaves; Ctrl-D or /exit too" if fresh else ""

    def _enter(self, event: KeyPressEvent) -> None:
        """Accept; but an Enter with more text right behind it is part of an unbracketed paste."""
        if any(_is_typed(key) for key in event.app.key_processor.input_queue):
            _new_line(event)
        else:
            event.current_buffer.validate_and_handle()

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


def _is_typed(key: KeyPress) -> bool:
    """Whether a key came from the keyboard; prompt-toolkit queues marks of its own too."""
    return key.data != "_Flush" and key.key not in (Keys.CPRResponse, Keys.Ignore)


def _new_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


def _edit(event: KeyPressEvent) -> None:
    """Edit the draft in $EDITOR; unlike prompt-toolkit's own binding this does not send it then."""
    event.current_buffer.open_in_editor()
