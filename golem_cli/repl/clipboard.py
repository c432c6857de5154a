"""The clipboard: a program of the desktop where there is one, else the terminal's own (OSC 52)."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.repl.terminal import Terminal

_PROGRAMS: Final = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("", ("clip.exe",)),
)
_LARGEST_OSC52: Final = 74_000
"""Bytes of base64 that common terminals take in one sequence."""


def copy_text(text: str, terminal: Terminal) -> str:
    """Copy `text` and return how, in words; raises `ConfigurationError` when there is no way.

    The text goes as data: base64 in an escape sequence of our own, or the standard input of a program.
    """
    data = text.encode("utf-8", "replace")
    for variable, command in _PROGRAMS:
        program = shutil.which(command[0])
        if program and (not variable or os.environ.get(variable)) and _run([program, *command[1:]], data):
            return f" with {command[0]}"
    encoded = base64.b64encode(data).decode("ascii")
    if terminal.plain or len(encoded) > _LARGEST_OSC52:
        raise ConfigurationError("no clipboard can be reached from here; /raw prints the text instead")
    terminal.write(f"\x1b]52;c;{encoded}\a")
    return " through the terminal"


def _run(command: list[str], data: bytes) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 (a fixed program, found on the PATH; the text is its input only)
            command,
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
