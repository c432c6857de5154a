"""The styles of everything shown: the terminal's own 16 colours, readable on light and dark grounds."""

from __future__ import annotations

from typing import Final

STYLES: Final = {
    "markdown.code": "cyan",
    "markdown.h1": "bold underline",
    "markdown.h2": "bold underline",
    "markdown.h3": "bold",
    "markdown.h4": "bold italic",
    "markdown.h5": "italic",
    "markdown.h6": "italic",
    "markdown.a": "blue underline",
    "markdown.block_quote": "italic",
    "markdown.item.number": "bold",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
    "role.system": "magenta",
    "role.user": "bold green",
    "role.assistant": "bold blue",
    "role.tool": "cyan",
    "role.other": "red",
    "note": "dim",
    "failure": "red",
}
