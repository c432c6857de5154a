"""Slash commands for the settings of this conversation, in force from the next run on."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from golem_cli.chat.ports import warm_up
from golem_cli.repl.commands import Command
from golem_cli.repl.room import Room, whole_number


async def model(room: Room, name: str) -> None:
    """Say which model answers, or change it."""
    if not name:
        room.say(f"The model is {room.conversation.model}. /model NAME changes it; golem models lists some.")
        return
    chosen = room.open_model(name)
    warm_up(chosen)  # a file that is no model is refused here, and the old one stays
    await room.session.use_model(chosen)
    room.say(f"From the next prompt on {room.conversation.model} answers.")


def system(room: Room, text: str) -> None:
    """Show or change the instructions; `-` takes them away."""
    if not text:
        shown = room.conversation.instructions or "There are no instructions."
        room.say(f"{shown}\n(/system TEXT changes the instructions, /system - takes them away)")
        return
    room.session.instruct("" if text == "-" else text)
    room.say("No instructions from now on." if text == "-" else "These are the instructions from now on.")


def trim(room: Room, number: str) -> None:
    """How many of the newest messages are sent."""
    if number:
        settings = msgspec.structs.replace(room.conversation.settings, trim=whole_number(number))
        room.session.writer.update(settings=settings)
    room.say(f"{_trim_in_force(room)} All are kept. (/trim N sends the newest N, /trim 0 trims nothing.)")


def _trim_in_force(room: Room) -> str:
    from golem_cli.chat.request import DEFAULT_TRIM

    chosen = room.session.planner.trim(room.conversation)
    if chosen:
        return "The newest message is sent." if chosen == 1 else f"The newest {chosen} messages are sent."
    if _counts(room) and room.session.planner.budget(room.conversation):
        return _budget_in_force(room)
    if _has_window(room):
        return "As many messages are sent as the model's window holds."
    return "All messages are sent." if chosen == 0 else f"The newest {DEFAULT_TRIM} messages are sent."


def budget(room: Room, number: str) -> None:
    """How many tokens of history are sent."""
    if number:
        settings = msgspec.structs.replace(room.conversation.settings, budget=whole_number(number))
        room.session.writer.update(settings=settings)
    room.say(f"{_budget_in_force(room)} (/budget N sends what fits in N tokens, /budget 0 sets no bound.)")


def _budget_in_force(room: Room) -> str:
    chosen = room.session.planner.budget(room.conversation)
    if not _counts(room):
        kept = f"The budget of {chosen} tokens waits: " if chosen else ""
        return f"{kept}{room.conversation.model} has no token counter; /trim bounds what is sent."
    if not chosen and not _has_window(room):
        return "No budget is set."
    bound = f"{chosen} tokens" if chosen else "the model's window"
    return f"History that fits in {bound} is sent."


def _counts(room: Room) -> bool:
    from golem_cli.core.model import CountingModel

    return isinstance(room.session.model, CountingModel)


def _has_window(room: Room) -> bool:
    from golem_cli.core.model import WindowedModel

    return isinstance(room.session.model, WindowedModel)


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
