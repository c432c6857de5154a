"""Answering: one run in a task of its own, shown in a panel, stopped by a key; the REPL lives on."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from golem_cli.core.errors import GolemError, RunError, StoreError
from golem_cli.render.words import duration, tokens
from golem_cli.repl.end_notice import QUIET, EndNotice
from golem_cli.repl.mishaps import line_about
from golem_cli.repl.signals import on_resize
from golem_cli.repl.stops import stop_line
from golem_cli.repl.waiting import WaitingSign

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from golem_cli.chat.session import Session
    from golem_cli.core.events import OnEvent, RunEvent
    from golem_cli.core.model import Delta, OnDelta
    from golem_cli.core.result import Result
    from golem_cli.render.answer import AnswerView
    from golem_cli.repl.terminal import Terminal
    from golem_cli.repl.watch import KeyWatch

    Work = Callable[[OnDelta, OnEvent], Awaitable[Result[str]]]
    """Starts a run with these two observers."""


class Leaving(asyncio.CancelledError):
    """Golem itself was told to end while an answer ran; the run is stopped and kept."""


class Answering:
    """Runs answers of a session on a terminal, one at a time.

    `keys` watches the keyboard meanwhile; `end_notice` is given when a long one has ended.
    """

    def __init__(
        self,
        session: Session,
        terminal: Terminal,
        keys: KeyWatch | None = None,
        end_notice: EndNotice = QUIET,
    ) -> None:
        self._session = session
        self._end_notice = end_notice
        self._terminal = terminal
        self.keys = keys
        self._view: AnswerView | None = None
        self._task: asyncio.Future[Result[str]] | None = None

    def notice(self, text: str) -> None:
        """Show one line of golem's own, inside the panel when an answer runs."""
        if self._view is not None:
            self._view.notice(text)
        else:
            self._terminal.say(f"! {text}", "dim")

    def tell_hidden(self, hidden: int, total: int) -> None:
        """Say that from now on not everything is sent."""
        self.notice(
            f"from now on the oldest messages stay here but are not sent ({hidden} of {total}); "
            "/context shows which"
        )

    def tell_left_behind(self, conversation_id: str) -> None:
        """Say where a cut left what it cut off; "" is: in the record of its run."""
        until = "" if self._session.writer.path else ", until golem ends: nothing is saved"
        if conversation_id:
            self.notice(
                f"what is left behind stays as a fork: /open {conversation_id} goes back to it{until}"
            )
        else:
            self.notice(f"the turn stays beside the conversation: /history shows it{until}")

    def stop(self) -> bool:
        """Stop the answer that runs; False when none does."""
        if self._task is None or self._task.done():
            return False
        self._task.cancel()
        return True

    async def answer(self, work: Work) -> Result[str] | None:
        """Run `work` and show it; None when it failed or was stopped, which has been said then.

        Only a cancellation of the caller itself passes on.
        """
        sign = WaitingSign(self._terminal)
        view = self._view = self._terminal.answer_view(self._session.conversation.model, sign.write)
        sign.show()
        runs = len(self._session.conversation.runs)
        started = time.monotonic()
        task = self._task = asyncio.ensure_future(work(*_observers(view)))
        end = "stopped"
        say: Callable[[], None] = self._say_where_it_stopped
        stopped = False
        result: Result[str] | None = None
        try:
            with self._watched(view), on_resize(lambda: view.resize(*self._terminal.size)):
                result = await _finished(task)
            say = partial(self._say_end, result)
            end = _foot(result, time.monotonic() - started, self._session.answering)
        except Leaving:
            raise
        except asyncio.CancelledError:  # the run was stopped, not we: `_finished` tells them apart
            stopped = True
        except GolemError as error:
            say, end = partial(self._say_failed, error, runs), "failed"
        finally:
            sign.clear()
            view.close(end)
            self._task = self._view = None
        say()
        if not stopped:  # whoever stopped it looks at it
            seconds = time.monotonic() - started
            self._end_notice.give(self._terminal, seconds=seconds, well=result is not None)
        self._offer_another_place()
        return result

    @contextmanager
    def _watched(self, view: AnswerView) -> Iterator[None]:
        if self.keys is None:
            yield
            return
        with self.keys.watching(stop=self.stop, leave=view.leave):
            yield

    def _offer_another_place(self) -> None:
        if self._session.writer.unsaved:
            self._terminal.say(
                "Not saved yet: it is as soon as that works; /export FILE.json keeps it in another place.",
                "error",
            )

    def _say_where_it_stopped(self) -> None:
        if (stop := self._session.stop) is not None:
            self._terminal.say(stop_line(stop), "dim")

    def _say_failed(self, error: GolemError, runs_before: int) -> None:
        cause = error.cause if isinstance(error, RunError) else error
        self._terminal.say(line_about(cause), "error")
        if isinstance(cause, StoreError):
            self._terminal.say(
                "Nothing was sent: a prompt is kept first. golem --no-save chats without keeping.",
                "dim",
            )
        elif len(self._session.conversation.runs) > runs_before:  # else it was refused, and no run began
            self._say_where_it_stopped()

    def _say_end(self, result: Result[str]) -> None:
        if result.finish_reason == "length":
            self._terminal.say("The answer was ended by its length; /resume goes on with it.", "dim")
        elif not result.output and not result.pending:
            self._terminal.say("The model gave an empty answer; /retry asks again.", "dim")


def _foot(result: Result[str], seconds: float, model: str) -> str:
    """What stands below an answer: its tokens, time, cost where it is known, and model."""
    cost = [] if result.cost is None else [f"cost {result.cost:.4f}"]
    return " · ".join([tokens(result.usage), duration(seconds), *cost, model])


async def _finished(task: asyncio.Future[Result[str]]) -> Result[str]:
    """Wait for the run. When golem itself is told to end, the run is stopped and kept first: `Leaving`."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if task.done():
            raise
        task.cancel()
        await asyncio.wait([task])
        raise Leaving from None


def _observers(view: AnswerView) -> tuple[OnDelta, OnEvent]:
    """What shows a run's fragments and steps in `view`."""

    def show_delta(delta: Delta) -> None:
        if delta.thinking:
            view.thinking(delta.thinking)
        if delta.content:
            view.feed(delta.content)

    def show_event(event: RunEvent) -> None:
        if event.kind == "tool_start":
            view.tool_started(event.tool_name, event.args)
        elif event.kind == "tool_end":
            view.tool_ended(event.tool_name, event.error or event.result, failed=bool(event.error))

    return show_delta, show_event
