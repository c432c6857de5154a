"""The keyboard between prompts: nothing is echoed, Ctrl-C and Esc stop an answer, the rest waits its turn."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from prompt_toolkit.application import get_app_or_none
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from golem_cli.repl.bursts import ENTER_AHEAD, goes_on

ESCAPE_AFTER: Final = 0.03
"""Seconds after which a lone ESC byte is the Esc key and not the beginning of an arrow key."""


class KeyWatch:
    """Watches one terminal input; must be used inside a running event loop."""

    def __init__(self, terminal: Input) -> None:
        self._input = terminal
        self._rest()

    def _rest(self) -> None:
        self._stop: Callable[[], object] = lambda: None
        self._leave: Callable[[], object] = lambda: None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Until the block ends the terminal echoes nothing, and what is typed waits for the next prompt.

        Prompts read inside the block as they always do. Afterwards the terminal is as it was.
        """
        with self._input.raw_mode():
            self._take([_as_pressed(key) for key in self._input.read_keys()])
            with self._input.attach(self._ready):
                yield

    @contextmanager
    def watching(self, *, stop: Callable[[], object], leave: Callable[[], object]) -> Iterator[None]:
        """Until the block ends, call `stop` at each Ctrl-C or Esc, and `leave` before Ctrl-Z suspends.

        To be used while the terminal is held.
        """
        self._stop, self._leave = stop, leave
        try:
            yield
        finally:
            self._take(self._input.flush_keys())
            self._rest()

    def typed_ahead(self) -> bool:
        """Whether keys wait for the next prompt."""
        waiting = get_typeahead(self._input)
        store_typeahead(self._input, waiting)
        return bool(waiting)

    def _ready(self) -> None:
        self._take(self._input.read_keys())
        asyncio.get_running_loop().call_later(ESCAPE_AFTER, self._flush)

    def _flush(self) -> None:
        app = get_app_or_none()
        if app is None or not app.is_running:  # a prompt that reads by now has a timer of its own
            self._take(self._input.flush_keys())

    def _take(self, burst: list[KeyPress]) -> None:
        keys = list(burst)
        while keys:
            key = keys.pop(0)
            if key.key == Keys.Escape and keys and keys[0].key == Keys.ControlM:
                keys[0] = KeyPress(Keys.ControlJ, "\n")  # Alt-Enter
            elif key.key in (Keys.ControlC, Keys.Escape):
                self._stop()
            elif key.key == Keys.ControlZ:
                self._suspend()
            elif key.key == Keys.ControlM and not goes_on(keys):
                store_typeahead(self._input, [ENTER_AHEAD])
            elif key.key != Keys.CPRResponse:
                store_typeahead(self._input, [key])

    def _suspend(self) -> None:
        if hasattr(signal, "SIGTSTP"):
            self._leave()
            with self._input.cooked_mode():
                os.kill(0, signal.SIGTSTP)


def _as_pressed(key: KeyPress) -> KeyPress:
    """A key that came before the terminal was ours, which made each Enter a line feed."""
    return KeyPress(Keys.ControlM, "\r") if key.key == Keys.ControlJ else key
