"""Control sequences of golem's own, on their way through tmux or screen to the terminal behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_ESC: Final = "\x1b"
_END: Final = "\x1b\\"
_SCREEN_LIMIT: Final = 250
"""Characters of a string that every version of screen takes; the least of their buffers has 256."""


def to_outer_terminal(sequence: str, environment: Mapping[str, str]) -> str:
    r"""Wrap `sequence` so that the multiplexer that the variables name hands it on; without one it stays.

    tmux wants its name in front and each ESC doubled, and does it while its `allow-passthrough` is on. screen
    wants short strings. Both end at the string terminator, so `sequence` must end in BEL.

    >>> to_outer_terminal("\x1b]9;done\a", {"TMUX": "/tmp/tmux-0/default,1,0"})
    '\x1bPtmux;\x1b\x1b]9;done\x07\x1b\\'
    >>> to_outer_terminal("\x1b]9;done\a", {"STY": "1.screen"})
    '\x1bP\x1b]9;done\x07\x1b\\'
    """
    if environment.get("TMUX"):
        return f"{_ESC}Ptmux;{sequence.replace(_ESC, _ESC * 2)}{_END}"
    if environment.get("STY"):
        starts = range(0, len(sequence), _SCREEN_LIMIT)
        return "".join(f"{_ESC}P{sequence[start : start + _SCREEN_LIMIT]}{_END}" for start in starts)
    return sequence
