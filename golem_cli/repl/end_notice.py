"""The notice that a long answer has ended, for whoever looked away: a bell, or a message of the desktop."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from golem_cli.repl.passthrough import to_outer_terminal

if TYPE_CHECKING:
    from golem_cli.repl.terminal import Terminal

_BELL: Final = "\a"
_MESSAGES: Final = {
    True: "\x1b]9;golem: the answer is there\a",
    False: "\x1b]9;golem: the answer failed\a",
}
"""OSC 9 with words of golem's own: no text of a model or of a conversation stands in it."""


class EndNotice(NamedTuple):
    """Which notice is given, for answers of at least `after` seconds.

    `osc9` has many terminals show a message (iTerm2, kitty, WezTerm, Ghostty, …); it needs one that
    takes escape sequences, so a plain one gets the bell in its place.
    """

    kind: Literal["off", "bell", "osc9"] = "off"
    after: float = 0.0

    def give(self, terminal: Terminal, *, seconds: float, well: bool) -> None:
        """Give the notice when the answer took long; `well` says whether there is one."""
        if self.kind == "off" or seconds < self.after:
            return
        if self.kind == "bell" or terminal.plain:
            terminal.write(_BELL)  # tmux and screen know it
        else:
            terminal.write(to_outer_terminal(_MESSAGES[well], os.environ))


QUIET: Final = EndNotice()
"""No notice at all."""
