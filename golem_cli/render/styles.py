"""The styles of everything shown: the terminal's own 16 colours, readable on light and dark grounds."""

from __future__ import annotations

from typing import Final

STYLES: Final = {
    "markdown.h1": "bold underline",
    "markdown.h2": "bold underline",
    "markdown.h3": "bold",
    "markdown.h4": "bold italic",
    "markdown.h5": "italic",
    "markdown.h6": "italic",
    "role.system": "magenta",
    "role.user": "bold green",
    "role.assistant": "bold blue",
    "role.tool": "cyan",
    "role.other": "red",
    "note": "dim",
    "failure": "red",
}
