"""A question that one line answers, or Esc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.utils import is_dumb_terminal

from golem_cli.render.neutralize import one_line
from golem_cli.repl.marks import show_marks
from golem_cli.repl.prompt import ESCAPE_WAIT, echo_where_nothing_moves

if TYPE_CHECKING:
    from golem_cli.repl.terminal import Terminal


async def read_answer(terminal: Terminal, question: str) -> str | None:
    """Read the line that answers `question`; None at Esc or Ctrl-D. Raises `KeyboardInterrupt` at Ctrl-C."""
    sign = one_line(question)
    bindings = KeyBindings()
    bindings.add("escape")(_leave)
    output = DummyOutput() if is_dumb_terminal() else None
    session = PromptSession[str](sign, history=InMemoryHistory(), output=output, key_bindings=bindings)
    session.app.ttimeoutlen = session.app.timeoutlen = ESCAPE_WAIT
    show_marks(session.layout)
    echo_where_nothing_moves(session, terminal, sign)
    try:
        return await session.prompt_async(handle_sigint=False)
    except EOFError:
        return None


async def ask_line(terminal: Terminal, question: str) -> str:
    """Read one line in answer to `question`; "" when the person would rather not."""
    try:
        return await read_answer(terminal, question) or ""
    except KeyboardInterrupt:
        return ""


def _leave(event: KeyPressEvent) -> None:
    event.app.exit(exception=EOFError)
