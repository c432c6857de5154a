"""Picking a conversation from a numbered list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import open_store

if TYPE_CHECKING:
    from golem_cli.cli.environment import Environment

SHOWN: Final = 20


def pick_conversation(environment: Environment) -> str:
    """Show the newest conversations and return the id of the one that the person picks.

    Raises `WrongUsage` when there is none, no terminal to ask on, or no choice was made.
    """
    from golem_cli.render.listing import conversation_lines

    listing = open_store(environment).listing(SHOWN)
    shown = listing.shown
    if not shown:
        raise WrongUsage("there is no conversation yet; golem opens the first one")
    if not environment.stdin_is_terminal:
        raise WrongUsage("which conversation? without a terminal name its id; golem list shows them")
    header, *lines = conversation_lines(shown, listing.ids, width=environment.columns - 4)
    environment.say(f"    {header}")
    for number, line in enumerate(lines, 1):
        environment.say(f"{number:>2}  {line}")
    environment.stdout.write(f"Which one? [1 to {len(shown)}, Enter for 1] ")
    environment.stdout.flush()
    typed = environment.stdin.readline()
    choice = typed.strip() or ("1" if typed else "")
    if choice.isascii() and choice.isdigit() and 1 <= int(choice) <= len(shown):
        return shown[int(choice) - 1].conversation_id
    raise WrongUsage("no conversation was picked")
