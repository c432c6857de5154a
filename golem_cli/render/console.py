"""How a Rich console is made for a stream: what it may write there and how wide it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH: Final = 100
"""Columns of tables where no terminal says how wide it is."""


class Appearance(NamedTuple):
    """What may be written: `plain` means no escape sequence at all, `color` colours as well."""

    plain: bool
    color: bool


def appearance(*, is_terminal: bool, environment: Mapping[str, str], plain: bool = False) -> Appearance:
    """Decide from the stream, the variables and `--plain` how output may look.

    `TERM=dumb`, an empty or missing TERM and a pipe are plain; a non-empty `NO_COLOR` (no-color.org) leaves
    bold and dim.

    >>> appearance(is_terminal=True, environment={"TERM": "xterm", "NO_COLOR": "1"})
    Appearance(plain=False, color=False)
    >>> appearance(is_terminal=False, environment={"TERM": "xterm"})
    Appearance(plain=True, color=False)
    """
    dumb = environment.get("TERM", "") in {"", "dumb", "unknown"} and environment.get("OS") != "Windows_NT"
    plain = plain or not is_terminal or dumb
    return Appearance(plain=plain, color=not plain and not environment.get("NO_COLOR"))


def make_console(out: TextIO, *, plain: bool, color: bool, width: int = _PIPE_WIDTH) -> Console:
    """Return a console on `out` that writes the terminal's 16 colours at most and never interprets text.

    Markup, emoji codes and highlighting are off: `[red]` is text.
    """
    from rich.console import Console
    from rich.theme import Theme

    from golem_cli.render.styles import STYLES

    return Console(
        file=out,
        width=max(width, 1),
        force_terminal=not plain,
        force_interactive=False,
        color_system=None if plain else "standard",
        no_color=not color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
        theme=Theme(STYLES),
        _environ={},
    )
