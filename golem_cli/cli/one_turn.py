"""One turn without the chat: run it, write the answer, say in one line what failed and how to go on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from golem_cli.cli.answer_output import AnswerOutput, JsonOutput, StreamJsonOutput, TextOutput
from golem_cli.cli.exit_codes import DONE, FAILED, INTERRUPTED, TERMINATED
from golem_cli.core.errors import GolemError, RunError

if TYPE_CHECKING:
    from golem_cli.chat.session import Session
    from golem_cli.cli.environment import Environment
    from golem_cli.core.result import Result

Work = Callable[["Session", AnswerOutput], Awaitable["Result[str]"]]
"""Starts the run with the output as its observer."""


def output_for(form: str, environment: Environment) -> AnswerOutput:
    """What writes the answer in `text`, `json` or `stream-json`."""
    match form:
        case "json":
            return JsonOutput(environment)
        case "stream-json":
            return StreamJsonOutput(environment)
        case _:
            return TextOutput(environment)


def take_turn(session: Session, work: Work, output: AnswerOutput, environment: Environment) -> int:
    """Run the turn in an event loop of its own, close the session, and return the exit code."""
    try:
        return asyncio.run(_take(session, work, output, environment))
    finally:
        session.close()


async def _take(session: Session, work: Work, output: AnswerOutput, environment: Environment) -> int:
    stopped_by = _stop_at_signals()
    try:
        result = await work(session, output)
    except asyncio.CancelledError as stopped:
        _report(session, output, GolemError("stopped"), environment)
        if not stopped_by:
            raise stopped from None
        return INTERRUPTED if stopped_by[0] == signal.SIGINT else TERMINATED
    except GolemError as error:
        _report(session, output, error, environment)
        if not isinstance(error, RunError) and not session.conversation.runs:
            raise  # it never became a run: the command line words it
        return FAILED
    finally:
        await session.model.aclose()
    output.finish(session, result)
    return DONE


def _stop_at_signals() -> list[signal.Signals]:
    """Have SIGINT and SIGTERM cancel this task; the list tells afterwards which of them came."""
    came: list[signal.Signals] = []
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        came.append(number)
        if task is not None:
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop, number)
    return came


def _report(session: Session, output: AnswerOutput, error: GolemError, environment: Environment) -> None:
    output.fail(session, error)
    cause = error.cause if isinstance(error, RunError) else error
    text = str(cause) or type(cause).__name__
    conversation = session.conversation
    if conversation.runs:
        text += f"; the conversation is kept: golem resume {conversation.conversation_id} goes on"
    environment.complain(f"golem: {text}")
