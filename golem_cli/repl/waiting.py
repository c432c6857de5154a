"""The sign that golem waits for a model: a dim word that gives way to whatever is written next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from golem_cli.repl.terminal import Terminal

_SIGN: Final = "… Ctrl-C stops"
"""Short, so that it is one row in a terminal of 20 columns; one that wraps could not be taken back."""


class WaitingSign:
    """Stands on the terminal from `show` until the first `write` or `clear`; a plain terminal has none."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._shown = False

    def show(self) -> None:
        """Show the sign where the cursor is, at the start of a row."""
        if not self._terminal.plain and len(_SIGN) < self._terminal.size[0]:
            self._terminal.write(f"\x1b[2m{_SIGN}\x1b[0m")
            self._shown = True

    def write(self, text: str) -> None:
        """Write finished text in place of the sign."""
        self._terminal.write(self._taken_back() + text)

    def clear(self) -> None:
        """Take the sign away."""
        if self._shown:
            self._terminal.write(self._taken_back())

    def _taken_back(self) -> str:
        shown, self._shown = self._shown, False
        return "\r\x1b[K" if shown else ""
