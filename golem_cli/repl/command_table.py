"""The table of all slash commands."""

from __future__ import annotations

from typing import Final

from golem_cli.repl import content_commands, conversation_commands, setting_commands
from golem_cli.repl.commands import Commands

COMMANDS: Final = Commands(
    (
        *conversation_commands.COMMANDS,
        *content_commands.SHOWING,
        *setting_commands.COMMANDS,
        *content_commands.COMMANDS,
    )
)
