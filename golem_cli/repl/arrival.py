"""Arriving in a conversation: its last exchange, and where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.message import USER
from golem_cli.render.words import record_says
from golem_cli.repl.stops import stop_line

if TYPE_CHECKING:
    from golem_cli.repl.room import Room


def arrive(room: Room) -> None:
    """Show the last exchange of the conversation, whole, and say where its last run stopped short."""
    messages = room.conversation.messages
    if messages:
        from golem_cli.render.transcript import exchange_view

        start = max((i for i, message in enumerate(messages) if message.role == USER), default=0)
        room.terminal.show(exchange_view(messages[start:], first=start + 1))
    say_where_it_stopped(room)


def say_where_it_stopped(room: Room) -> None:
    """Say where the last run stopped short, if it did, why, and what can be done."""
    stop = room.session.stop
    if stop is None:
        return
    room.say(stop_line(stop), "dim")
    if stop.run.error:
        room.say(f"(Of the reason {record_says(stop.run)}.)", "dim")
