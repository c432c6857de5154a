"""Slash commands that move between conversations, and back and forth in one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from golem_cli.chat import resuming
from golem_cli.core.errors import ConfigurationError, ConversationLocked, ConversationNotFound
from golem_cli.render.words import counted
from golem_cli.repl.arrival import arrive
from golem_cli.repl.commands import Command, prompt_line
from golem_cli.repl.room import Room, whole_number

if TYPE_CHECKING:
    from golem_cli.core.events import OnEvent
    from golem_cli.core.model import OnDelta
    from golem_cli.core.result import Result

SESSIONS_SHOWN = 20


def new(room: Room, _: str) -> None:
    """Start a new conversation; the old one is kept."""
    left = room.conversation
    room.session.start_new()
    room.say("A new conversation.")
    if left.messages or left.runs:
        room.say(f"The old one is kept: /open {left.conversation_id}", "dim")


def open_conversation(room: Room, reference: str) -> None:
    """Go to another conversation."""
    if not reference:
        raise ConfigurationError("which one? /open takes an id or its beginning, or a title; see /sessions")
    try:
        conversation_id = room.library.resolve(reference)
    except ConversationNotFound as error:
        raise ConfigurationError(f"{error}{'' if error.nearest else '; /sessions lists them'}") from error
    if conversation_id == room.conversation.conversation_id:
        room.say("You are in it already.")
        return
    try:
        writer = room.library.open(conversation_id)
    except ConversationLocked as locked:
        raise ConfigurationError(
            f"{locked} (golem show {conversation_id}, golem fork {conversation_id})"
        ) from locked
    room.session.go_to(writer)
    if writer.losses:
        room.say(f"{conversation_id}: {writer.losses}")
    opened = room.conversation
    count = counted(len(opened.messages), "message")
    room.say(f"{opened.title or 'Untitled'} · {count} · {opened.conversation_id}")
    arrive(room)


def sessions(room: Room, _: str) -> None:
    """List the conversations, the one changed last first."""
    from golem_cli.render.listing import conversation_lines

    listed = room.library.summaries()
    if not listed:
        room.say("No conversation is kept yet.")
        return
    ids = [each.conversation_id for each in listed]
    for line in conversation_lines(listed[:SESSIONS_SHOWN], ids, width=room.terminal.size[0]):
        room.say(line)
    if len(listed) > SESSIONS_SHOWN:
        room.say(f"… and {len(listed) - SESSIONS_SHOWN} older ones: golem list", "dim")


def rename(room: Room, title: str) -> None:
    """Give the conversation another title."""
    line = " ".join(title.split())
    if not line:
        raise ConfigurationError("what shall it be called? /rename TITLE")
    room.session.writer.update(title=line)
    room.say(f"Renamed to: {line}")


def fork(room: Room, number: str) -> None:
    """Same history under a new id, and go there."""
    keep = whole_number(number, low=1, high=len(room.conversation.messages)) if number else None
    parent = room.session.fork(keep)
    room.say(f"Forked: you are in  {room.conversation.conversation_id}")
    room.say(f"The way back: /parent, or /open {parent}")


def parent(room: Room, _: str) -> None:
    """Go back to the conversation that this one was forked from."""
    origin = room.conversation.forked_from
    if not origin:
        raise ConfigurationError("this conversation was not forked from another")
    open_conversation(room, origin)


async def resume(room: Room, text: str) -> None:
    """Continue from what the stopped run left; after an answer cut by its length, go on with it."""

    async def work(on_delta: OnDelta, on_event: OnEvent) -> Result[str]:
        if room.session.stop is None and room.conversation.messages:
            return await resuming.go_on(room.session, text, on_delta=on_delta, on_event=on_event)
        return await resuming.resume(room.session, text, on_delta=on_delta, on_event=on_event)

    await room.answering.answer(work)


async def retry(room: Room, _: str) -> None:
    """Ask the last prompt again; the old answer stays as a fork, which is said before the new one begins."""
    prompt = room.session.take_back()
    runs = len(room.conversation.runs)

    async def work(on_delta: OnDelta, on_event: OnEvent) -> Result[str]:
        return await room.session.ask(
            prompt.content, parts=prompt.parts, on_delta=on_delta, on_event=on_event
        )

    await room.answering.answer(work)
    if len(room.conversation.runs) == runs:
        room.draft = prompt_line(prompt.content)  # it was not accepted, so it is not lost
        room.say("The prompt was not taken; it waits below.", "dim")


def rewind(room: Room, number: str) -> None:
    """Go back: to message N, or to before the last prompt, which becomes the draft."""
    if number:
        keep = whole_number(number, low=0, high=len(room.conversation.messages))
        room.session.rewind(keep)
        room.say(f"Back at message {keep}.")
    else:
        take_back(room, None)


def edit(room: Room, number: str) -> None:
    """Edit an earlier prompt: go back to before it, with its text as the draft."""
    take_back(room, whole_number(number, low=1, high=len(room.conversation.messages)) if number else None)


def take_back(room: Room, number: int | None) -> None:
    """Go back to before a prompt and offer it for editing."""
    prompt = room.session.take_back(number)
    room.draft = prompt_line(prompt.content)
    room.say(f"Back at message {len(room.conversation.messages)}; the prompt waits below for you to edit.")


def conversation_choices(room: Room) -> Iterable[tuple[str, str]]:
    """Ids that `/open` completes, with their titles."""
    return [(each.conversation_id, each.title) for each in room.library.summaries(50)]


def prompt_choices(room: Room) -> Iterable[tuple[str, str]]:
    """Numbers of the prompts, newest first."""
    numbered = [(n, m) for n, m in enumerate(room.conversation.messages, 1) if m.role == "user"]
    return [(str(number), message.content) for number, message in reversed(numbered)]


COMMANDS = (
    Command(name="new", aliases=("clear",), summary="start a new conversation", handler=new),
    Command(
        name="open",
        argument="ID",
        summary="go to another conversation",
        handler=open_conversation,
        choices=conversation_choices,
    ),
    Command(name="sessions", summary="list the conversations", handler=sessions),
    Command(name="rename", argument="TITLE", summary="give this conversation a title", handler=rename),
    Command(
        name="fork",
        aliases=("branch",),
        argument="[N]",
        summary="same history under a new id, up to message N",
        handler=fork,
    ),
    Command(name="parent", summary="go back to where this was forked from", handler=parent),
    Command(name="resume", argument="[TEXT]", summary="continue the failed or stopped run", handler=resume),
    Command(name="retry", aliases=("regenerate",), summary="ask the last prompt again", handler=retry),
    Command(
        name="rewind",
        aliases=("undo",),
        argument="[N]",
        summary="go back to message N, or before the last prompt",
        handler=rewind,
    ),
    Command(
        name="edit",
        argument="[N]",
        summary="edit an earlier prompt",
        handler=edit,
        choices=prompt_choices,
    ),
)
