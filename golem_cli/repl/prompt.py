"""The prompt: a prompt-toolkit session with our keys, completion, marks and history, that fits its screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding.key_processor import KeyProcessor
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import is_dumb_terminal

from golem_cli.repl.marks import show_marks

if TYPE_CHECKING:
    from golem_cli.repl.keys import PromptKeys
    from golem_cli.repl.terminal import Terminal

PROMPT: Final = "› "  # noqa: RUF001 (a prompt sign, not a comparison)
ESCAPE_WAIT: Final = 0.05
"""Seconds in which what follows an Esc makes it Alt. Esc stops an answer: pressed too late, it must not
swallow the `/` of the next command."""
SEQUENCE_WAIT: Final = 1.0
"""Seconds in which other keys in a row, such as Ctrl-X Ctrl-E, belong together."""
MENU_ROWS: Final = 8
"""Rows kept free for the menu of completions where the screen has them."""


def make_prompt(
    terminal: Terminal,
    keys: PromptKeys,
    *,
    bottom: Callable[[], str],
    history_file: Path | None,
    vi_mode: bool,
) -> PromptSession[str]:
    """Return what reads the prompts on `terminal`; `bottom` gives the line below, which a plain one lacks.

    `history_file` keeps earlier prompts (0600) where its folder is there; None keeps them in memory.
    """
    session: PromptSession[str] = PromptSession(
        PROMPT,
        history=_history(history_file),
        output=DummyOutput() if is_dumb_terminal() else None,
        multiline=True,
        key_bindings=keys.bindings,
        complete_while_typing=True,
        complete_in_thread=True,
        enable_suspend=True,
        enable_open_in_editor=True,
        editing_mode=EditingMode.VI if vi_mode else EditingMode.EMACS,
        prompt_continuation=lambda width, *_: " " * width,
        color_depth=None if terminal.color else ColorDepth.DEPTH_1_BIT,
        style=Style.from_dict({"bottom-toolbar": "noreverse"}),
        include_default_pygments_style=False,
    )
    session.app.ttimeoutlen = ESCAPE_WAIT
    session.app.key_processor.after_key_press += _wait_for_the_rest
    show_marks(session.layout)
    echo_where_nothing_moves(session, terminal, PROMPT)

    def fit(app: Application[str]) -> None:
        """Leave room for the draft: a layout that asks for too many rows shows an error in its place."""
        rows = app.output.get_size().rows
        session.reserve_space_for_menu = max(min(MENU_ROWS, rows - 3), 0)
        shown = rows > 3 and not terminal.plain
        session.bottom_toolbar = (lambda: FormattedText([("ansibrightblack", bottom())])) if shown else None

    session.app.before_render += fit
    return session


def _wait_for_the_rest(processor: KeyProcessor) -> None:
    """Choose, after each key, how long the next one may take to join those that are still open."""
    begun = processor.key_buffer[:1]
    escaped = bool(begun) and begun[0].key == Keys.Escape
    get_app().timeoutlen = ESCAPE_WAIT if escaped else SEQUENCE_WAIT


def echo_where_nothing_moves(session: PromptSession[str], terminal: Terminal, sign: str) -> None:
    """Have `session`, which begins with `sign`, shown by a `LineEcho` on a terminal without sequences."""
    if is_dumb_terminal():
        from golem_cli.repl.line_echo import LineEcho

        LineEcho(terminal, session, sign)


class _PromptHistory(FileHistory):
    """Earlier prompts in a file; where it cannot be read or written, those of this sitting in memory.

    A line with what looks like a key is in memory only, whatever becomes of it: `golem delete` takes a
    conversation away, and nothing takes a line out of this file.
    """

    def load_history_strings(self) -> Iterable[str]:
        try:
            return super().load_history_strings()
        except OSError:
            return ()

    def store_string(self, string: str) -> None:
        from golem_cli.core.secrets import find_secrets

        if find_secrets(string):
            return
        with suppress(OSError):
            super().store_string(string)


def _history(path: Path | None) -> History:
    if path is None:
        return InMemoryHistory()
    try:
        path.touch(mode=0o600)
        kept = path.is_file()  # a pipe would make us wait
    except OSError:
        kept = False
    return _PromptHistory(str(path)) if kept else InMemoryHistory()  # those of this sitting come back
