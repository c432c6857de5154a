"""Slash commands that show, clean, copy and export what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.conversation import DONE
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.message import ASSISTANT
from golem_cli.core.usage import Usage
from golem_cli.render.words import counted, tokens
from golem_cli.repl.arrival import say_where_it_stopped
from golem_cli.repl.commands import Command
from golem_cli.repl.room import Room

if TYPE_CHECKING:
    from golem_cli.core.message import Message


def history(room: Room, _: str) -> None:
    """List what is kept, a line a message."""
    from golem_cli.render.transcript import history_view

    if not room.conversation.messages:
        room.say("Nothing is kept yet.")
        return
    room.terminal.show(history_view(room.conversation.messages))
    say_where_it_stopped(room)


def show(room: Room, number: str) -> None:
    """Show one message whole."""
    from golem_cli.render.transcript import message_view

    index, message = room.message(number)
    room.terminal.show(message_view(message, index))


async def context(room: Room, _: str) -> None:
    """Show exactly what the next request will send, and what stays behind."""
    from golem_cli.render.transcript import history_view

    preview = await room.session.preview()
    room.terminal.show(history_view(preview.messages))
    room.say(
        f"The next request sends {len(preview.messages)} messages and your prompt; "
        f"{preview.hidden} of {preview.total} kept messages stay behind.",
        "dim",
    )


def normalize(room: Room, _: str) -> None:
    """Repair this transcript and say what was done."""
    from golem_cli.core.history import find_findings
    from golem_cli.render.report import findings_lines

    pending = room.session.pending_calls
    findings = find_findings(list(room.session.conversation.messages), pending=pending)
    report = room.session.normalize()
    for line in findings_lines(findings):
        room.say(line)
    room.say("Repaired and saved." if report.changed else "Nothing to repair.", "good")


def sanitize(room: Room, _: str) -> None:
    """Take out what history of others must not bring, and say what."""
    from golem_cli.render.report import sanitize_lines

    report = room.session.sanitize()
    for line in sanitize_lines(report):
        room.say(line)
    room.say("Sanitized and saved." if report.changed else "Nothing to take out.", "good")


def usage(room: Room, _: str) -> None:
    """Tokens and cost of this conversation."""
    runs = room.conversation.runs
    total = sum((run.usage for run in runs), Usage())
    requests = sum(run.requests for run in runs)
    room.say(f"{counted(len(runs), 'run')}, {counted(requests, 'request')}, {tokens(total)}")
    ended = [run for run in runs if run.status == DONE]
    if ended:
        room.say(f"The last answer: {tokens(ended[-1].usage)}")
    costs = [run.cost for run in runs if run.cost is not None]
    if costs:
        room.say(f"Cost: {sum(costs):.4f}")


def ids(room: Room, _: str) -> None:
    """The ids of the conversation and its runs."""
    conversation = room.conversation
    room.say(f"conversation  {conversation.conversation_id}")
    if conversation.forked_from:
        room.say(f"forked from   {conversation.forked_from}")
    for run in conversation.runs:
        room.say(f"run           {run.run_id}  {run.status}")


def export(room: Room, name: str) -> None:
    """Write the conversation to a new file: .md, .html or .json."""
    if not name:
        raise ConfigurationError("into which file? /export FILE, ending in .md, .html or .json")
    path = room.export(name, room.conversation)
    room.say(f"Written: {path}")


def copy(room: Room, number: str) -> None:
    """Copy an answer (the last, or message N) to the clipboard, without borders or wraps."""
    from golem_cli.repl.clipboard import copy_text

    message = room.message(number)[1] if number else _last_answer(room)
    how = copy_text(message.content, room.terminal)
    room.say(f"Copied {len(message.content):,} characters{how}.", "dim")


def raw(room: Room, number: str) -> None:
    """Print an answer (the last, or message N) without borders or wraps."""
    message = room.message(number)[1] if number else _last_answer(room)
    room.terminal.print(message.content)


def _last_answer(room: Room) -> Message:
    for message in reversed(room.conversation.messages):
        if message.role == ASSISTANT and message.content:
            return message
    raise ConfigurationError("there is no answer yet")


def help_(room: Room, _: str) -> None:
    """List the commands and the keys."""
    width = max(len(each.usage) for each in room.commands.all)
    for each in room.commands.all:
        also = f" (also /{', /'.join(each.aliases)})" if each.aliases else ""
        room.say(f"{each.usage:<{width}}  {each.summary}{also}")
    room.say(KEYS, "dim")


KEYS = """
Enter sends; Alt-Enter or Ctrl-J begins a new line; a pasted block is one message.
What is typed while an answer streams waits for the prompt; a line ended with Enter is sent then.
Ctrl-C stops an answer, clears a draft into the history, and leaves when pressed twice. Ctrl-D leaves.
Ctrl-R searches earlier prompts; Ctrl-X Ctrl-E opens $EDITOR. //text sends a prompt that begins with /."""


def leave(room: Room, _: str) -> None:
    """Leave; everything is kept."""
    room.leaving = True


COMMANDS = (
    Command(name="help", summary="this list", handler=help_),
    Command(name="exit", aliases=("quit",), summary="leave; everything is kept", handler=leave),
)

SHOWING = (
    Command(name="history", summary="what is kept, a line a message", handler=history),
    Command(name="show", argument="[N]", summary="one message, whole", handler=show),
    Command(name="context", summary="what the next request will send", handler=context),
    Command(name="normalize", aliases=("repair",), summary="repair this transcript", handler=normalize),
    Command(name="sanitize", summary="take out what others' history must not bring", handler=sanitize),
    Command(name="usage", aliases=("cost",), summary="tokens and cost", handler=usage),
    Command(name="ids", summary="ids of the conversation and its runs", handler=ids),
    Command(name="export", argument="FILE", summary="write .md, .html or .json", handler=export),
    Command(name="copy", argument="[N]", summary="copy an answer to the clipboard", handler=copy),
    Command(name="raw", argument="[N]", summary="print an answer without borders or wraps", handler=raw),
)
