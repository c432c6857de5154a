"""The clipboard: a program that reaches that of the person's screen, else the terminal itself (OSC 52)."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from golem_cli.core.errors import ConfigurationError
from golem_cli.repl.passthrough import to_outer_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.repl.terminal import Terminal

LARGEST_OSC52: Final = 74_994
"""Bytes of text that terminals take at once: 100,000 of the whole sequence (hterm), after base64."""
_WITHOUT_CLIPBOARD: Final = frozenset({"linux"})
"""Terminals that are known to have none: the console of Linux."""


class _Program(NamedTuple):
    """A program that takes the text on its standard input.

    It serves where its `variable` is set; one without a variable has the clipboard of the machine on which it
    runs, and over ssh that is the wrong one. `how` ends the sentence "copied …".
    """

    command: tuple[str, ...]
    variable: str = ""
    encoding: str = "utf-8"
    how: str = ""

    def serves(self, environment: Mapping[str, str]) -> bool:
        """Whether it would reach the clipboard of whoever sits at this terminal."""
        if self.variable:
            return bool(environment.get(self.variable))
        return not environment.get("SSH_CONNECTION")


_PROGRAMS: Final = (
    _Program(("wl-copy",), "WAYLAND_DISPLAY"),
    _Program(("xclip", "-selection", "clipboard"), "DISPLAY"),
    _Program(("xsel", "--clipboard", "--input"), "DISPLAY"),
    _Program(("pbcopy",)),
    _Program(("clip.exe",), encoding="utf-16-le"),
    _Program(
        ("tmux", "load-buffer", "-w", "-"),
        "TMUX",
        how="into tmux's buffer, which tmux hands to its terminal unless set-clipboard is off",
    ),
)


def copy_text(text: str, terminal: Terminal) -> str:
    """Copy `text` and say what became of it, to go on a sentence; raises `ConfigurationError` without a way.

    The text goes as data, whole or not at all: on the standard input of a program, or in base64 in an escape
    sequence of our own. A terminal does not say whether it took that, so no more is claimed than is known.
    """
    for program in _PROGRAMS:
        if program.serves(os.environ) and _run(program, text):
            return f"copied {program.how or f'with {program.command[0]}'}"
    terminal.write(to_outer_terminal(_osc52(text, terminal), os.environ))
    return "handed to the terminal, which does not say whether it took them; /raw prints them"


def _osc52(text: str, terminal: Terminal) -> str:
    if terminal.plain or os.environ.get("TERM") in _WITHOUT_CLIPBOARD:
        raise ConfigurationError("no clipboard can be reached from here; /raw prints the text instead")
    data = text.encode("utf-8", "replace")
    if len(data) > LARGEST_OSC52:
        raise ConfigurationError(
            f"a terminal's clipboard takes {LARGEST_OSC52:,} bytes, and this has {len(data):,}; "
            "/raw prints it, /export FILE.md writes it"
        )
    return f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\a"


def _run(program: _Program, text: str) -> bool:
    """Whether the program is there and took the text."""
    path = shutil.which(program.command[0])
    if path is None:
        return False
    try:
        done = subprocess.run(  # noqa: S603 (a fixed program, found on the PATH; the text is its input only)
            [path, *program.command[1:]],
            input=text.encode(program.encoding, "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
