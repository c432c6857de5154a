"""One turn without the chat: run it, write the answer, say in one line what failed and how to go on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from golem_cli.cli.answer_output import (
    AnswerOutput,
    JsonOutput,
    StreamJsonOutput,
    TextOutput,
    WatchedOutput,
)
from golem_cli.cli.exit_codes import DONE, FAILED
from golem_cli.core.errors import GolemError, RunError

if TYPE_CHECKING:
    from golem_cli.chat.session import Session
    from golem_cli.cli.environment import Environment
    from golem_cli.core.result import Result

Work = Callable[["Session", WatchedOutput], Awaitable["Result[str]"]]
"""Starts the run with the output as its observer."""

_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP")
"""The signals that ask a program to end. Windows has no SIGHUP."""


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
    """Run the turn in an event loop of its own, close the session, and return the exit code.

    An answer that could not be kept is on standard output all the same; the exit code says it. An error of
    something that never became a run is raised: the command line words it.
    """
    try:
        code = asyncio.run(_take(session, work, output, environment))
    finally:
        session.close()
    return FAILED if code == DONE and session.writer.unsaved else code


async def _take(session: Session, work: Work, output: AnswerOutput, environment: Environment) -> int:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 (`asyncio.run` made it)
    came: list[signal.Signals] = []
    watched = WatchedOutput(output, task.cancel)
    earlier = _runs(session)
    try:
        with _signals_stop(task, came):
            result = await work(session, watched)
        watched.finish(session, result)
        if watched.fault is None:
            _remark(session, result, environment)
        elif not isinstance(watched.fault, BrokenPipeError):
            unwritten = GolemError("the answer cannot be written")
            _report(session, watched, unwritten, environment, began=True)
    except asyncio.CancelledError as stopped:
        if not came and watched.fault is None:
            raise
        if not isinstance(watched.fault, BrokenPipeError):
            began = _began(session, earlier)
            _report(session, watched, _why_stopped(stopped, came), environment, began=began)
    except GolemError as error:
        if not _began(session, earlier):
            watched.fail(session, error, began=False)
            raise
        _report(session, watched, error, environment, began=True)
        return FAILED
    finally:
        await session.model.aclose()
    if came:
        return 128 + came[0]  # as a shell reports a program that a signal ended
    if watched.fault is not None:
        raise watched.fault  # who owns the stream says why
    return DONE


def _runs(session: Session) -> frozenset[str]:
    return frozenset(run.run_id for run in session.conversation.runs)


def _began(session: Session, earlier: frozenset[str]) -> bool:
    """Whether a run began, beside the `earlier` ones."""
    return not _runs(session) <= earlier


@contextmanager
def _signals_stop(task: asyncio.Task[int], came: list[signal.Signals]) -> Iterator[None]:
    """Have the signals that end programs cancel `task` in this block; `came` tells afterwards which came.

    One that was ignored when golem began (`nohup`, a background job) stays ignored. The second is not
    caught: whoever insists is obeyed.
    """
    loop = asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        if came:
            loop.remove_signal_handler(number)
            signal.raise_signal(number)
        came.append(number)
        task.cancel()

    numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    caught = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows; a thread beside the main one
        for number in caught:
            loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        with suppress(NotImplementedError):
            for number in caught:
                loop.remove_signal_handler(number)


def _why_stopped(stopped: BaseException, came: list[signal.Signals]) -> GolemError:
    why = GolemError(f"stopped by {came[0].name}" if came else "stopped, since the output cannot be written")
    return RunError(stopped.stage, why) if isinstance(stopped, RunError) else why


def _report(
    session: Session, output: WatchedOutput, error: GolemError, environment: Environment, *, began: bool
) -> None:
    """Write the failure and one line about it. Neither can fail: the terminal itself may be gone."""
    cause = error.cause if isinstance(error, RunError) else error
    text = str(cause) or type(cause).__name__
    if session.writer.path is not None and not session.writer.unsaved:
        text += f"; the conversation is kept: golem resume {session.conversation.conversation_id} goes on"
    output.fail(session, error, began=began)
    with suppress(OSError):
        environment.complain(f"golem: {text}")


def _remark(session: Session, result: Result[str], environment: Environment) -> None:
    """Say what a reader of the bare answer cannot see: that it is none, or that it was cut."""
    if result.finish_reason == "length":
        again = f": golem ask -r {session.conversation.conversation_id} continue"
        goes_on = again if session.writer.path is not None else ""
        environment.complain(f"golem: the answer was ended by its length{goes_on}")
    elif not result.output:
        environment.complain("golem: the model gave an empty answer")
