"""Slash commands that show, clean, copy and export what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import ConfigurationError
from golem_cli.core.message import ASSISTANT
from golem_cli.core.run_status import DONE, INTERRUPTED, PENDING
from golem_cli.core.usage import Usage
from golem_cli.render.words import counted, tokens
from golem_cli.repl.arrival import say_where_it_stopped
from golem_cli.repl.commands import Command
from golem_cli.repl.room import Room, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.message import Message
    from golem_cli.render.code_blocks import CodeBlock


def history(room: Room, _: str) -> None:
    """List what is kept, a line a message; what the conversation goes on without has no number."""
    from golem_cli.core.entries import entries
    from golem_cli.render.transcript import history_view

    kept = entries(room.conversation)
    if not kept:
        room.say("Nothing is kept yet.")
        return
    room.terminal.show(history_view(kept))
    if any(entry.left_out_by for entry in kept):
        room.say(
            "What has no number is kept beside the conversation, and not sent; /export has it whole.", "dim"
        )
    say_where_it_stopped(room)


def show(room: Room, number: str) -> None:
    """Show one message whole."""
    from golem_cli.render.transcript import message_view

    index, message = room.message(number)
    room.terminal.show(message_view(message, index))


async def context(room: Room, _: str) -> None:
    """Show exactly what the next request will send, and what stays behind."""
    from golem_cli.core.entries import left_out, numbered
    from golem_cli.render.transcript import history_view

    preview = await room.session.preview()
    room.terminal.show(history_view(numbered(preview.messages)))
    room.say(
        f"The next request sends {counted(len(preview.messages), 'message')} and your prompt; "
        f"{preview.hidden} of {preview.total} kept messages stay behind.",
        "dim",
    )
    if left := left_out(room.session.going_on):
        turns = counted(len({entry.message.run_id for entry in left}), "turn")
        room.say(f"What {turns} left stays beside the conversation and goes in no request: /history.", "dim")


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
    told = tokens(total) if requests else "0 in, 0 out"
    sums = f"{counted(len(runs), 'run')}, {counted(requests, 'request')}, {told}{_unknown(runs)}"
    room.say(f"This conversation: {sums}")
    ended = [run for run in runs if run.status == DONE]
    if ended:
        room.say(f"The last answer: {tokens(ended[-1].usage)}")
    costs = [run.cost for run in runs if run.cost is not None]
    if costs:
        room.say(f"Cost: {sum(costs):.4f}")


def _unknown(runs: Sequence[RunRecord]) -> str:
    """Of how many runs nobody told all tokens: a service tells an answer's at its end, if at all."""
    unknown = sum(map(_is_untold, runs))
    return f"; of {counted(unknown, 'run')} the tokens are not known" if unknown else ""


def _is_untold(run: RunRecord) -> bool:
    if run.status in (DONE, PENDING):
        return not run.usage.total_tokens
    return (
        (run.status, run.stage) == (INTERRUPTED, "model") or run.stage == "crashed" or bool(run.partial_text)
    )


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
    path = room.export(_unquoted(name), room.conversation)
    room.say(f"Written: {path}")


def _unquoted(name: str) -> str:
    """Return a name that was typed in quotes, as in a shell, without them; a whole line needs none."""
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] and name[0] in "\"'" else name


def copy(room: Room, words: str) -> None:
    """Copy an answer (the last, or message N), or with `code` one of its code blocks, as it was written."""
    from golem_cli.render.neutralize import find_marked
    from golem_cli.repl.clipboard import copy_text

    what, _, number = words.partition(" ")
    text = _code_block(room, number.strip()).code if what == "code" else _answer(room, words).content
    room.say(f"{counted(len(text), 'character')} {copy_text(text, room.terminal)}.", "dim")
    if hidden := sum(len(find_marked(line)) for line in text.split("\n")):
        room.say(
            f"Of these, {counted(hidden, 'character')} would not be seen where you paste it: /raw marks them."
        )


def _code_block(room: Room, number: str) -> CodeBlock:
    """The code block of the last answer with a typed number (from 1); without one the last."""
    from golem_cli.render.code_blocks import code_blocks

    found = code_blocks(_answer(room, "").content)
    if not found:
        raise ConfigurationError("the last answer has no code block; /copy copies it whole")
    return found[whole_number(number, low=1, high=len(found)) - 1 if number else -1]


def _what_copies(room: Room) -> list[tuple[str, str]]:
    """What may stand behind `/copy`, with the first line of each code block."""
    from golem_cli.render.code_blocks import code_blocks

    answers = [each for each in room.conversation.messages if each.role == ASSISTANT and each.content]
    found = code_blocks(answers[-1].content) if answers else []
    if not found:
        return []
    numbered = [
        (f"code {number}", f"{block.language} {block.code.strip().splitlines()[0]}".strip())
        for number, block in enumerate(found, 1)
    ]
    return [("code", "the last code block"), *numbered]


def raw(room: Room, number: str) -> None:
    """Print an answer (the last, or message N) without borders or wraps."""
    room.terminal.print(_answer(room, number).content)


def _answer(room: Room, number: str) -> Message:
    """The message with a typed number; without one the last answer that has text."""
    if number:
        return room.message(number)[1]
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
Ctrl-C or Esc stops an answer. Ctrl-C clears a draft into the history, and leaves when pressed twice.
Ctrl-D on an empty line leaves. Ctrl-R searches earlier prompts; Ctrl-X Ctrl-E opens $EDITOR.
//text sends a prompt that begins with /."""


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
    Command(
        name="copy",
        argument="[code] [N]",
        summary="copy an answer, or a code block of the last",
        handler=copy,
        choices=_what_copies,
    ),
    Command(name="raw", argument="[N]", summary="print an answer without borders or wraps", handler=raw),
)
