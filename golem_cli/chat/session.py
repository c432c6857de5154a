"""A session: one conversation, the model that answers in it, and what is kept of both. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.chat import lineage, rewind
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.costs import Costs
from golem_cli.chat.overlay import OverlayWriter
from golem_cli.chat.planner import Planner
from golem_cli.chat.secret_guard import NO_FILES, Origins, SecretGuard
from golem_cli.core import recovery
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import ConfigurationError, StoreError
from golem_cli.core.identity import new_id
from golem_cli.core.run_status import INTERRUPTED

if TYPE_CHECKING:
    from golem_cli.chat.ports import ChatModel, Clock, Library, OnNotice, Writer
    from golem_cli.chat.request import Preview, RequestPlan
    from golem_cli.core.events import OnEvent
    from golem_cli.core.history import HistoryRepair, SanitizeReport
    from golem_cli.core.message import Message, Part
    from golem_cli.core.model import OnDelta
    from golem_cli.core.result import Result
    from golem_cli.core.run import Agent, RetryWait


_LOST: Final = "the newest of the conversation was not kept"


def utc_now() -> str:
    """Now, as RFC 3339 in UTC to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Session:
    """Asks, stops, forks and cuts; every prompt is kept before it is sent.

    `notice` is told what a person should know; what it missed while it was None, before the next prompt goes.
    `first_hidden` is told, when messages of a conversation first stay behind, how many of how many do;
    `left_behind`, where a cut leaves what it cuts off: the id of a fork, or "" when that stays in the record
    of its run.
    """

    def __init__(
        self,
        *,
        library: Library,
        writer: Writer,
        model: ChatModel,
        settings: ChatSettings | None = None,
        notice: OnNotice | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.library = library
        self.writer = OverlayWriter(writer, self._notify)
        self.model = model
        self.settings = settings or ChatSettings()
        self.notice = notice
        self._missed: list[str] = []
        self.clock = clock
        self.first_hidden: Callable[[int, int], object] = lambda hidden, total: None
        self.left_behind: Callable[[str], object] = self._tell_left_behind
        self.planner = self._new_planner()
        self.guard = SecretGuard(self.settings.secrets, self._notify)
        self.costs = Costs(self.settings, self._notify)

    @property
    def conversation(self) -> Conversation:
        """The conversation as it stands."""
        return self.writer.conversation

    @property
    def seen(self) -> Conversation:
        """The conversation as a reader sees it: what a stopped last run left stands among the messages."""
        return recovery.settle(self.conversation)

    @property
    def answering(self) -> str:
        """The name of the model that answered last: of several, the one that did."""
        answering: ChatModel = getattr(self.model, "answering", self.model)
        return answering.name

    def _notify(self, text: str) -> None:
        if self.notice is None:  # a chat that opens its screen later listens from then on
            self._missed.append(text)
        else:
            self.notice(text)

    def _tell_what_was_missed(self) -> None:
        missed, self._missed = self._missed, []
        for text in missed:
            self._notify(text)

    def _tell_hidden(self, hidden: int, total: int) -> None:
        self.first_hidden(hidden, total)

    def _tell_left_behind(self, conversation_id: str) -> None:
        if conversation_id:
            self._notify(f"what is left behind stays as {conversation_id}")

    def _new_planner(self) -> Planner:
        return Planner(self.settings, self._notify, self._tell_hidden)

    # -- asking -----------------------------------------------------------------------------------------

    def look_at(self, prompt: str, parts: Sequence[Part], origins: Origins = NO_FILES) -> None:
        """Let the guard look at what is about to be sent, as `SecretGuard.check`."""
        self._tell_what_was_missed()
        self.guard.check(self.conversation, prompt=prompt, parts=parts, origins=origins)

    async def ask(
        self,
        prompt: str,
        *,
        parts: Sequence[Part] = (),
        origins: Origins = NO_FILES,
        after: Conversation | None = None,
        on_delta: OnDelta | None = None,
        on_event: OnEvent | None = None,
    ) -> Result[str]:
        """Send a prompt and return the run's result, kept. `origins` are the files that it is from.

        The prompt goes on from `after`, by default from `going_on`; both are kept in one step, or neither is.
        A run that fails raises its error after it was kept: `RunError`, or another `GolemError` when it
        failed before its first model call. When the task is cancelled, that is `RunCanceled`, and the run is
        kept as interrupted.
        """
        from golem_cli.chat.turn import Turn

        if not prompt.strip() and not parts:
            raise ConfigurationError("the prompt is empty: type something, or attach a file")
        self.look_at(prompt, parts, origins)
        seen = after or self.going_on
        run = RunRecord(
            run_id=new_id(),
            model=self.conversation.model,
            prompt=prompt,
            prompt_parts=tuple(parts),
            started_at=self.clock(),
        )

        async def prepare() -> tuple[Agent[None, str], list[Message]]:
            plan = await self.planner.plan(self.conversation, self.model, prompt=prompt, parts=parts)
            return self._agent(plan), plan.history

        turn = Turn(
            writer=self.writer,
            conversation_id=self.conversation.conversation_id,
            run=run,
            clock=self.clock,
            answering=lambda: self.answering,
            after=None if seen is self.conversation else seen,
        )
        result = await turn.take(prepare, on_delta=on_delta, on_event=on_event)
        self.costs.check(result, self.answering)
        return result

    def _agent(self, plan: RequestPlan) -> Agent[None, str]:
        from golem_cli.chat.fallback import FallbackModel
        from golem_cli.core.run import Agent, jittered

        if isinstance(self.model, FallbackModel):
            self.model.notice = self._notify
        return Agent(
            self.model,
            instructions=self.conversation.instructions,
            tools=self.settings.tools,
            history_processor=plan.processor,
            max_attempts=self.settings.max_attempts,
            max_iterations=self.settings.max_iterations,
            usage_limit=self.settings.usage_limit,
            settings=replace(self.settings.model, max_tokens=plan.max_tokens),
            unknown_tool="report",
            price=lambda response: self.costs.of(response, self.answering),
            backoff=jittered(self.settings.retry_jitter),
            on_wait=self._say_wait,
        )

    def _say_wait(self, wait: RetryWait) -> None:
        self._notify(f"{wait.error}; trying again in {wait.seconds:.1f} s")

    async def preview(self, prompt: str = "") -> Preview:
        """What a request with `prompt` would send now, and what would be left out of it."""
        plan = await self.planner.plan(self.going_on, self.model, prompt=prompt, quiet=True)
        return await plan.preview(self.conversation.instructions)

    # -- going back, and what a stopped run left --------------------------------------------------------

    @property
    def stop(self) -> recovery.Stop | None:
        """Where the last run stopped short, if it did."""
        return recovery.last_stop(self.conversation)

    @property
    def going_on(self) -> Conversation:
        """What the next prompt goes on from: only what was stopped on purpose is among its messages."""
        stop = self.stop
        if stop is not None and stop.run.status == INTERRUPTED:
            return recovery.settle(self.conversation)
        return self.conversation

    def take_back(self, number: int | None = None) -> Message:
        """Go back to before a prompt (the last, or the one with message `number`) and return it."""
        stop = self.stop
        if number is None and stop is not None:
            prompt = recovery.prompt_of(self.conversation, stop.run)
            self.drop_stopped()
            return prompt
        index, prompt = rewind.last_prompt(self.seen, number)
        self.rewind(index)
        return prompt

    def drop_stopped(self) -> str:
        """Drop the stopped last run; return the id of the fork that keeps its messages, "" if it had none."""
        stop = self.stop
        if stop is None:
            raise ConfigurationError("the last run ended well: there is nothing to drop")
        left_behind = self._leave_behind() if stop.added else ""
        self._keep_instead(recovery.drop(self.conversation))
        if not left_behind:
            self.left_behind("")
        return left_behind

    def rewind(self, keep: int) -> str:
        """Cut to the first `keep` messages that are seen; return the id of the fork that keeps the whole.

        "" when that is all of them: then nothing changes.
        """
        seen = self.seen
        shorter = rewind.cut(seen, keep)
        if shorter is seen:
            return ""
        left_behind = self._leave_behind()
        self._keep_instead(shorter)
        return left_behind

    def _keep_instead(self, conversation: Conversation) -> None:
        self.writer.replace_now(conversation)
        self.planner.sent = 0

    def _leave_behind(self) -> str:
        whole = lineage.fork(self.conversation, now=self.clock())
        self._saved(whole).close()
        self.left_behind(whole.conversation_id)
        return whole.conversation_id

    def instruct(self, text: str) -> None:
        """Change the instructions. Raises `ConfigurationError` where a secret in them is to be refused."""
        if text != self.conversation.instructions:
            self.guard.check_instructions(text)
            self.writer.update(instructions=text)

    # -- moving between conversations -------------------------------------------------------------------

    def fork(self, keep: int | None = None) -> str:
        """Fork at the first `keep` of the messages seen (all when None); go there, return the parent's id.

        A whole fork has what is here in memory only, so it may leave a conversation that cannot be saved.
        """
        if not self.conversation.messages and not self.conversation.runs:
            raise ConfigurationError("there is nothing to fork yet: this conversation has no messages")
        count = len(self.seen.messages)
        if keep is not None and not 1 <= keep <= count:
            raise ConfigurationError(f"no message {keep} here: there are {count}")
        if keep is not None:
            self.writer.catch_up()
        child = lineage.fork(self.conversation, now=self.clock(), keep=keep)
        parent = self.conversation.conversation_id
        writer = self._saved(child)
        self._move_to(writer, lost="the newest of it is in the fork only")
        return parent

    def _saved(self, conversation: Conversation) -> Writer:
        """Return the writer of a new conversation that is kept already; what cannot be kept is let go."""
        writer = self.library.create(conversation)
        try:
            writer.save()
        except StoreError:
            writer.close()
            raise
        return writer

    def go_to(self, writer: Writer) -> None:
        """Leave this conversation, kept, for the one of `writer`.

        Raises `StoreError` and stays while something here is in memory only.
        """
        try:
            self.writer.catch_up()
        except StoreError:
            writer.close()
            raise
        self._move_to(writer)

    def _move_to(self, writer: Writer, *, lost: str = _LOST) -> None:
        self.close(lost=lost)
        self.writer = OverlayWriter(writer, self._notify)
        self.planner = self._new_planner()
        self.guard = SecretGuard(self.settings.secrets, self._notify)

    def start_new(self) -> None:
        """Leave this conversation for a new one with the same model and instructions."""
        now = self.conversation
        self.go_to(
            self.library.create(
                lineage.start(
                    now=self.clock(), model=now.model, instructions=now.instructions, settings=now.settings
                )
            )
        )

    def close(self, *, lost: str = _LOST) -> None:
        """Fold what is open; a store that cannot is told, and what it holds stays recoverable.

        `lost` says what became of what is in memory only.
        """
        try:
            self.writer.close()
        except StoreError as error:
            kept = "what is kept is in the journal beside it"
            self._notify(f"{error}; {lost if self.writer.unsaved else kept}")

    async def use_model(self, model: ChatModel) -> None:
        """Let another model answer from the next run on; say what of the history it cannot take."""
        previous, self.model = self.model, model
        self.writer.update(model=model.name)
        self.planner.say_left_out(self.conversation, model, kept=self.writer.path is not None)
        await previous.aclose()

    # -- cleaning ---------------------------------------------------------------------------------------

    @property
    def pending_calls(self) -> frozenset[str]:
        """The ids of calls that wait for an answer."""
        return recovery.pending_calls(self.conversation)

    def normalize(self) -> HistoryRepair:
        """Repair the kept transcript; calls that wait for an answer are left alone."""
        from golem_cli.core.history import normalize_history

        repaired, report = normalize_history(list(self.conversation.messages), pending=self.pending_calls)
        self._replace_messages(repaired)
        return report

    def sanitize(self) -> SanitizeReport:
        """Sanitize the kept transcript; what waited for an answer waits no more."""
        from golem_cli.core.history import sanitize_history

        clean, report = sanitize_history(list(self.conversation.messages))
        closed = recovery.waits_no_more(self.conversation)
        self._clean(msgspec.structs.replace(closed, messages=tuple(clean)))
        return report

    def _replace_messages(self, messages: list[Message]) -> None:
        self._clean(msgspec.structs.replace(self.conversation, messages=tuple(messages)))

    def _clean(self, cleaned: Conversation) -> None:
        if cleaned != self.conversation:
            self._leave_behind()
            self._keep_instead(cleaned)
