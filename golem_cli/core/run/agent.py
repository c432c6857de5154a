"""The agent: a model with instructions, tools and rules, and the methods that run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, Unpack, cast, overload

from golem_cli.core.errors import ProcessorError
from golem_cli.core.history import repair
from golem_cli.core.message import Message
from golem_cli.core.model import Model, OnDelta
from golem_cli.core.result import Result
from golem_cli.core.run.active import ActiveRun
from golem_cli.core.run.blocking import block_on
from golem_cli.core.run.cancellation import Cancellation
from golem_cli.core.run.configuration import (
    AgentConfiguration,
    AgentOptions,
    AsyncDecoder,
    Decoder,
    RunOptions,
    RunSettings,
)
from golem_cli.core.run.deferred import DeferredAnswer, resolutions, resolve, waiting_calls
from golem_cli.core.run.loop import converse
from golem_cli.core.run.opening import active_run, check_streaming, processed, prompt_message

Deps = TypeVar("Deps")
Output = TypeVar("Output")


class Agent(Generic[Deps, Output]):
    """Runs prompts against a model, with tools, and keeps the evidence of whatever fails.

    `model` answers; `decoder` turns the final text into the output (the text itself without one). The other
    options are those of `AgentConfiguration`: `instructions`, `tools`, `history_processor`, `max_iterations`,
    `max_attempts`, `usage_limit`, …. They are checked here: `ConfigurationError` names what is wrong. An
    agent holds no state of a run; any number of runs may use it at the same time.

    Every run method takes the options of `RunSettings`: `deps`, `parts`, `run_id`, `conversation_id`,
    `model`, `instructions`, `tools`, `history_processor`, `usage_limit`, `settings`, `on_event`, `on_wait`.
    What is wrong before the first model call raises `HistoryError` or `ConfigurationError`; after that
    `RunError`, whose `partial` holds what was completed. Cancelling the task raises `RunCanceled`, which is
    both a `RunError` and an `asyncio.CancelledError`.

    >>> from golem_cli.testing import ScriptedModel
    >>> agent = Agent(ScriptedModel("Hello!", "Again!"), instructions="Be brief.")
    >>> first = agent.run_sync("Hi")
    >>> first.output, [message.role for message in first.messages]
    ('Hello!', ['system', 'user', 'assistant'])
    >>> second = agent.run_with_history_sync(first.messages, "And again")
    >>> second.conversation_id == first.conversation_id, second.run_id == first.run_id
    (True, False)
    """

    @overload
    def __init__(
        self: Agent[Any, str], model: Model, *, decoder: None = None, **options: Unpack[AgentOptions]
    ) -> None: ...

    @overload
    def __init__(
        self: Agent[Any, Output],
        model: Model,
        *,
        decoder: AsyncDecoder[Output],
        **options: Unpack[AgentOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: Agent[Any, Output], model: Model, *, decoder: Decoder[Output], **options: Unpack[AgentOptions]
    ) -> None: ...

    def __init__(
        self,
        model: Model,
        *,
        decoder: Decoder[Any] | AsyncDecoder[Any] | None = None,
        **options: Unpack[AgentOptions],
    ) -> None:
        tools = tuple(options.pop("tools", ()))
        self.configuration = AgentConfiguration(
            model=model, decoder=decoder, tools=tools, **cast("dict[str, Any]", options)
        )

    async def run(self, prompt: str, **options: Unpack[RunOptions[Deps]]) -> Result[Output]:
        """Run `prompt` as a new conversation."""
        return await self._run((), prompt, None, options)

    async def run_with_history(
        self, history: Sequence[Message], prompt: str, **options: Unpack[RunOptions[Deps]]
    ) -> Result[Output]:
        """Run `prompt` after `history`: that is processed, validated and repaired first, not changed."""
        return await self._run(history, prompt, None, options)

    async def run_stream(
        self, prompt: str, on_delta: OnDelta | None, **options: Unpack[RunOptions[Deps]]
    ) -> Result[Output]:
        """As `run`, and hand out every fragment to `on_delta` as it arrives.

        An exception from `on_delta` ends the stream and fails the run. None asks for whole answers, and only
        checks that the model could stream. A model that cannot raises `ConfigurationError`.

        >>> from golem_cli.testing import ScriptedModel
        >>> heard = []
        >>> agent = Agent(ScriptedModel("Hello!", fragment_size=3))
        >>> agent.run_stream_sync("Hi", lambda delta: heard.append(delta.content)).output, heard
        ('Hello!', ['Hel', 'lo!'])
        """
        return await self._run((), prompt, on_delta, options, streaming=True)

    async def run_stream_with_history(
        self,
        history: Sequence[Message],
        prompt: str,
        on_delta: OnDelta | None,
        **options: Unpack[RunOptions[Deps]],
    ) -> Result[Output]:
        """As `run_with_history`, streaming as `run_stream` does."""
        return await self._run(history, prompt, on_delta, options, streaming=True)

    async def run_with_deferred_results(
        self,
        history: Sequence[Message],
        answers: Sequence[DeferredAnswer],
        prompt: str = "",
        *,
        on_delta: OnDelta | None = None,
        **options: Unpack[RunOptions[Deps]],
    ) -> Result[Output]:
        """Go on with a paused run: `history` is its `messages`, `answers` has one for each pending call.

        Approved calls run now, before the first model call; denials and external results stand for their
        calls' results. An empty `prompt` adds no message. Answers that do not fit raise `HistoryError`. The
        new run may pause again.
        """
        settings = _settings(options)
        configuration = settings.applied_to(self.configuration)
        if on_delta is not None:
            check_streaming(configuration)
        cancellation = Cancellation()
        resolutions(history, answers)  # what does not fit is an error before the processor runs
        sent = await processed(configuration, history, cancellation)
        if not waiting_calls(sent):
            raise ProcessorError(
                "the history processor left out the calls that wait for an answer: keep more"
            )
        resolved = resolutions(sent, answers)
        last = prompt_message(prompt, settings)
        paired = repair(sent, pending={item.call.id for item in resolved})
        run = await active_run(configuration, settings, paired, on_delta, cancellation)
        await resolve(run, resolved)
        return await _converse(run, last if prompt or settings.parts else None)

    def run_sync(self, prompt: str, **options: Unpack[RunOptions[Deps]]) -> Result[Output]:
        """As `run`, from code without an event loop; inside one it raises `ConfigurationError`."""
        return block_on(lambda: self.run(prompt, **options))

    def run_with_history_sync(
        self, history: Sequence[Message], prompt: str, **options: Unpack[RunOptions[Deps]]
    ) -> Result[Output]:
        """As `run_with_history`, from code without an event loop."""
        return block_on(lambda: self.run_with_history(history, prompt, **options))

    def run_stream_sync(
        self, prompt: str, on_delta: OnDelta | None, **options: Unpack[RunOptions[Deps]]
    ) -> Result[Output]:
        """As `run_stream`, from code without an event loop."""
        return block_on(lambda: self.run_stream(prompt, on_delta, **options))

    def run_stream_with_history_sync(
        self,
        history: Sequence[Message],
        prompt: str,
        on_delta: OnDelta | None,
        **options: Unpack[RunOptions[Deps]],
    ) -> Result[Output]:
        """As `run_stream_with_history`, from code without an event loop."""
        return block_on(lambda: self.run_stream_with_history(history, prompt, on_delta, **options))

    def run_with_deferred_results_sync(
        self,
        history: Sequence[Message],
        answers: Sequence[DeferredAnswer],
        prompt: str = "",
        *,
        on_delta: OnDelta | None = None,
        **options: Unpack[RunOptions[Deps]],
    ) -> Result[Output]:
        """As `run_with_deferred_results`, from code without an event loop."""
        return block_on(
            lambda: self.run_with_deferred_results(history, answers, prompt, on_delta=on_delta, **options)
        )

    async def _run(
        self,
        history: Sequence[Message],
        prompt: str,
        on_delta: OnDelta | None,
        options: RunOptions[Deps],
        *,
        streaming: bool = False,
    ) -> Result[Output]:
        settings = _settings(options)
        configuration = settings.applied_to(self.configuration)
        if streaming:
            check_streaming(configuration)
        cancellation = Cancellation()
        sent = await processed(configuration, history, cancellation)
        last = prompt_message(prompt, settings)
        run = await active_run(configuration, settings, repair(sent), on_delta, cancellation)
        return await _converse(run, last)


def _settings(options: RunOptions[Any]) -> RunSettings:
    given = cast("dict[str, Any]", dict(options))
    given["parts"] = tuple(given.get("parts") or ())
    if given.get("tools") is not None:
        given["tools"] = tuple(given["tools"])
    return RunSettings(**given)


async def _converse(run: ActiveRun, prompt: Message | None) -> Result[Any]:
    if prompt is not None:
        run.ledger.add(prompt)
    return await converse(run)
