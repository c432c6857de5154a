"""`golem resume`: go on with a saved conversation, healthy or not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli import run_options
from golem_cli.cli.exit_codes import DONE, epilog
from golem_cli.cli.failures import WrongUsage

if TYPE_CHECKING:
    from golem_cli.chat.session import Session
    from golem_cli.cli.answer_output import WatchedOutput
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.result import Result
    from golem_cli.repl.room import Room

EPILOG = epilog(
    "golem resume",
    "golem resume 0193 --prompt 'try again, shorter'",
    "golem resume transcripts/failed-run.json",
    exit_1="the run failed",
    exit_3="the file is no transcript",
)


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """The flags of `golem resume`. `reference` is "" when none was given; `prompt` None likewise."""

    reference: str = ""
    prompt: str | None = None
    run: bool = True
    trust: bool = False
    salvage: bool = False
    model: str = ""
    raw_output: bool = False


def command(
    context: typer.Context,
    *,
    reference: Annotated[
        str,
        typer.Argument(metavar="[FILE|ID|NAME]", help="The conversation; without one a list to pick from."),
    ] = "",
    prompt: Annotated[
        str | None, typer.Option("--prompt", "-p", metavar="TEXT", help="Send this at once.")
    ] = None,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Only say where it stopped; write nothing.")
    ] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Do not sanitize the copy of a file.")] = False,
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Keep the whole messages of a file that is cut off.")
    ] = False,
    model: run_options.Model = "",
    raw_output: run_options.RawOutput = False,
) -> int:
    """Go on with a conversation. When its last run failed, say where it stopped and what can be done.

    A file outside the store is never written: a sanitized copy goes into the store.
    """
    if no_run and prompt is not None:
        raise WrongUsage("--no-run only looks at the conversation, so it cannot go with --prompt")
    options = ResumeOptions(
        reference=reference,
        prompt=prompt,
        run=not no_run,
        trust=trust,
        salvage=salvage,
        model=model,
        raw_output=raw_output,
    )
    return resume(options, context.obj)


def resume(options: ResumeOptions, environment: Environment) -> int:
    """Open the conversation, run what was asked for, and return the exit code."""
    from golem_cli.cli.picker import pick_conversation
    from golem_cli.cli.raw_output import with_raw_output

    environment = with_raw_output(environment, wanted=options.raw_output)
    reference = options.reference or pick_conversation(environment)
    options = replace(options, reference=reference)
    if not options.run:
        from golem_cli.cli.looking import look

        look(reference, environment, trust=options.trust, salvage=options.salvage)
        return DONE
    if options.prompt is not None or not environment.stdin_is_terminal:
        return _go_on(options, environment)
    return _chat(options, environment)


def _go_on(options: ResumeOptions, environment: Environment) -> int:
    """Continue at once, as a script wants it."""
    from golem_cli.chat import resuming
    from golem_cli.cli.looking import stop_line
    from golem_cli.cli.one_turn import output_for, take_turn
    from golem_cli.cli.opening import open_session
    from golem_cli.cli.preparing import Wanted

    wanted = Wanted(model=options.model, conversation=_named(options, environment))
    session = open_session(wanted, environment, lambda text: environment.complain(f"golem: {text}"))
    line = stop_line(session.conversation)
    if line:
        environment.complain(f"golem: {line}")
    text = options.prompt or ""

    async def work(session: Session, output: WatchedOutput) -> Result[str]:
        if session.stop is not None:
            return await resuming.resume(session, text, on_delta=output.on_delta, on_event=output.on_event)
        return await resuming.go_on(session, text, on_delta=output.on_delta, on_event=output.on_event)

    return take_turn(session, work, output_for("text", environment), environment)


def _chat(options: ResumeOptions, environment: Environment) -> int:
    """Open the chat in it; when its last run stopped short, offer what can be done."""
    from golem_cli.cli.start_chat import ChatOptions, start_chat

    chat = ChatOptions(
        resume=options.reference, model=options.model, trust=options.trust, salvage=options.salvage
    )
    return start_chat(chat, environment, before=offer_recovery)


def _named(options: ResumeOptions, environment: Environment) -> str | Conversation:
    from golem_cli.cli.going_on import by_reference

    return by_reference(options.reference, environment, trust=options.trust, salvage=options.salvage)


async def offer_recovery(room: Room) -> None:
    """Ask what shall become of a run that stopped short, and do it."""
    from golem_cli.repl import conversation_commands

    if room.session.stop is None:
        return
    room.say("r: try again   c: continue from what there is   d: drop the turn   Enter: decide later")
    match await _choice(room):
        case "r":
            await conversation_commands.retry(room, "")
        case "c":
            await conversation_commands.resume(room, "")
        case "d":
            conversation_commands.take_back(room, None)
        case _:
            room.say("Later then: /retry, /resume or /undo do it.", "dim")


async def _choice(room: Room) -> str:
    """`r`, `c`, `d` or "": asked for until it is one of them."""
    while (choice := (await room.ask("What now? ")).strip().lower()) not in ("r", "c", "d", ""):
        room.say("That is none of them: r, c, d, or Enter alone.")
    return choice
