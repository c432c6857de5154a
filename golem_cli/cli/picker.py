"""Picking a conversation from a numbered list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import open_shelf
from golem_cli.core.quote import quoted

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

SHOWN: Final = 20


def pick_conversation(environment: Environment) -> str:
    """Show the newest conversations and return the id of the one that the person picks; ask until one is.

    Raises `WrongUsage` when there is none, no terminal to ask on, or no choice was made.
    """
    from golem_cli.render.listing import conversation_lines

    listing = open_shelf(environment).listing(SHOWN)
    shown = listing.shown
    if not shown:
        raise WrongUsage("there is no conversation yet; golem opens the first one")
    if not (environment.stdin_is_terminal and environment.stdout_is_terminal):
        raise WrongUsage("which conversation? without a terminal name its id; golem list shows them")
    header, *lines = conversation_lines(shown, listing.ids, width=environment.columns - 4)
    environment.say(f"    {header}")
    for number, line in enumerate(lines, 1):
        environment.say(f"{number:>2}  {line}")
    return shown[_asked_for(len(shown), environment) - 1].conversation_id


def _asked_for(count: int, environment: Environment) -> int:
    """The number from 1 to `count` that is typed."""
    import asyncio

    from golem_cli.repl.question import read_answer
    from golem_cli.repl.terminal import Terminal

    terminal = Terminal(out=environment.stdout)
    while True:
        environment.flush()
        question = f"Which one? [1 to {count}, Enter for 1, Esc for none] "
        line = asyncio.run(read_answer(terminal, question))
        if line is None:
            raise WrongUsage("no conversation was picked")
        typed = line.strip() or "1"
        if typed.isascii() and typed.isdigit() and 1 <= int(typed[:9]) <= count:
            return int(typed[:9])
        environment.say(f"{quoted(typed)} is not on the list.")
