"""The prompt of a terminal that cannot move its cursor: what is typed is echoed in its row, as a tty does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.render.neutralize import neutralize

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import Application

    from golem_cli.repl.terminal import Terminal


class LineEcho:
    """Shows the draft of one prompt session, whose own output must go nowhere (`DummyOutput`).

    Keys work as in any terminal; a change elsewhere than at the end shows the draft again in a new row.
    """

    def __init__(self, terminal: Terminal, session: PromptSession[str], sign: str) -> None:
        self._terminal, self._buffer, self._sign = terminal, session.default_buffer, sign
        self._shown = ""
        self._ended = False
        session.app.before_render += self._begin
        session.app.after_render += self._follow

    def _begin(self, app: Application[str]) -> None:
        if app.renderer.last_rendered_screen is None:  # a new prompt, or something else was shown
            self._shown, self._ended = "", False

    def _follow(self, app: Application[str]) -> None:
        if self._ended:
            return
        shown = self._sign + neutralize(self._buffer.text).replace("\n", "\n" + " " * len(self._sign))
        self._ended = app.is_done
        change = echo_of(self._shown, shown, self._terminal.size[0])
        self._terminal.write(change + ("\n" if self._ended else ""))
        self._shown = shown


def echo_of(old: str, new: str, width: int) -> str:
    r"""What to write so that `new` stands where `old` does, in a terminal of `width` columns.

    A terminal that knows no sequences still takes back a cell at BS, as its driver's own echo does.

    >>> echo_of("> ab", "> abc", 80), echo_of("> abc", "> ab", 80), echo_of("> ab", "> xab", 80)
    ('c', '\x08 \x08', '\n> xab')
    """
    from rich.cells import cell_len

    if new.startswith(old):
        return new[len(old) :]
    gone = old.removeprefix(new)
    if gone == old or "\n" in gone or cell_len(old.rpartition("\n")[2]) >= width:
        return f"\n{new}"
    back = "\b" * cell_len(gone)
    return back + " " * cell_len(gone) + back
