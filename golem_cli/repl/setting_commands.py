"""Slash commands for the settings of this conversation, in force from the next run on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.model import WindowedModel
from golem_cli.repl.commands import Command
from golem_cli.repl.room import Room, whole_number

if TYPE_CHECKING:
    from golem_cli.core.conversation import ConversationSettings


async def model(room: Room, name: str) -> None:
    """Say which model answers, or change it."""
    if not name:
        room.say(f"The model is {room.conversation.model}. /model NAME changes it; golem models lists some.")
        return
    chosen = room.open_model(name)
    await room.session.use_model(chosen)
    if isinstance(chosen, WindowedModel):
        warm_up = getattr(chosen, "warm_up", None)
        if warm_up is not None:
            warm_up()
    room.say(f"From the next prompt on {room.conversation.model} answers.")


def system(room: Room, text: str) -> None:
    """Show or change the instructions; `-` takes them away."""
    if not text:
        shown = room.conversation.instructions or "There are none."
        room.say(f"{shown}\n(/system TEXT changes the instructions, /system - takes them away)")
        return
    room.session.writer.update(instructions="" if text == "-" else text)
    room.say("No instructions from now on." if text == "-" else "These are the instructions from now on.")


def trim(room: Room, number: str) -> None:
    """How many of the newest messages are sent."""
    settings = room.conversation.settings
    if not number:
        shown = "as the configuration says" if settings.trim is None else str(settings.trim)
        room.say(f"Trim: {shown}. /trim N sends the newest N messages, /trim 0 all of them; all are kept.")
        return
    _change(room, msgspec.structs.replace(settings, trim=whole_number(number)))
    room.say(
        "Every message is sent from now on." if number == "0" else f"The newest {number} messages are sent."
    )


def budget(room: Room, number: str) -> None:
    """How many tokens of history are sent."""
    settings = room.conversation.settings
    if not number:
        shown = "as the configuration says" if settings.budget is None else str(settings.budget)
        room.say(
            f"Budget: {shown}. /budget N sends what fits in N tokens, /budget 0 sets no bound; all is kept."
        )
        return
    if not isinstance(room.session.model, WindowedModel) and number != "0":
        room.say("This model has no token counter, so a budget has no effect on it; /trim has.")
    _change(room, msgspec.structs.replace(settings, budget=whole_number(number)))
    room.say("No token budget from now on." if number == "0" else f"What fits in {number} tokens is sent.")


def _change(room: Room, settings: ConversationSettings) -> None:
    room.session.writer.update(settings=settings)


def model_choices(room: Room) -> Iterable[tuple[str, str]]:
    """Models that can be named."""
    return [(name, "") for name in room.model_names]


COMMANDS = (
    Command(
        name="model",
        argument="[NAME]",
        summary="which model answers; change it",
        handler=model,
        choices=model_choices,
    ),
    Command(
        name="system", argument="[TEXT]", summary="the instructions of this conversation", handler=system
    ),
    Command(name="trim", argument="[N]", summary="send the newest N messages", handler=trim),
    Command(name="budget", argument="[N]", summary="send what fits in N tokens", handler=budget),
)
