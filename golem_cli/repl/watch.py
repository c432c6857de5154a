"""The keyboard while an answer runs: Ctrl-C and Esc stop it, Ctrl-Z suspends, the rest waits its turn."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

ESCAPE_AFTER: Final = 0.03
"""Seconds after which a lone ESC byte is the Esc key and not the beginning of an arrow key."""


class KeyWatch:
    """Watches one terminal input; must be used inside a running event loop."""

    def __init__(self, terminal: Input) -> None:
        self._input = terminal
        self._stop: Callable[[], object] = lambda: None
        self._leave: Callable[[], object] = lambda: None

    @contextmanager
    def watching(self, *, stop: Callable[[], object], leave: Callable[[], object]) -> Iterator[None]:
        """Until the block ends, call `stop` at each Ctrl-C or Esc, and `leave` before Ctrl-Z suspends.

        Afterwards the terminal is as it was.
        """
        self._stop, self._leave = stop, leave
        with self._input.raw_mode(), self._input.attach(self._ready):
            try:
                yield
            finally:
                self._take(self._input.flush_keys())

    def _ready(self) -> None:
        self._take(self._input.read_keys())
        asyncio.get_running_loop().call_later(ESCAPE_AFTER, self._flush)

    def _flush(self) -> None:
        self._take(self._input.flush_keys())

    def _take(self, keys: list[KeyPress]) -> None:
        for key in keys:
            if key.key in (Keys.ControlC, Keys.Escape):
                self._stop()
            elif key.key == Keys.ControlZ:
                self._suspend()
            elif key.key == Keys.ControlM:
                # An Enter typed ahead would send a prompt that nobody has seen whole: it becomes a new line.
                store_typeahead(self._input, [KeyPress(Keys.ControlJ)])
            elif key.key != Keys.CPRResponse:
                store_typeahead(self._input, [key])

    def _suspend(self) -> None:
        if hasattr(signal, "SIGTSTP"):
            self._leave()
            with self._input.cooked_mode():
                os.kill(0, signal.SIGTSTP)
