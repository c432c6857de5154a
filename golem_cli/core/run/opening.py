"""The opening of a run: history in, an active run out; no model call yet, and no `RunError`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from golem_cli.core.errors import ConfigurationError, GolemError, HistoryError, ProcessorError
from golem_cli.core.history.validate import malformed_parts, validate_history
from golem_cli.core.identity import new_id
from golem_cli.core.message import SYSTEM, USER, Message, Part
from golem_cli.core.model import OnDelta, StreamingModel
from golem_cli.core.run.active import ActiveRun
from golem_cli.core.run.cancellation import Cancellation
from golem_cli.core.run.configuration import AgentConfiguration, RunSettings
from golem_cli.core.run.ledger import Ledger
from golem_cli.core.tool import RunContext


def check_streaming(configuration: AgentConfiguration) -> None:
    """Raise `ConfigurationError` when the model cannot hand out its turn in fragments."""
    model = configuration.model
    if not isinstance(model, StreamingModel):
        name = getattr(model, "name", type(model).__name__)
        raise ConfigurationError(f"model {name} does not support streaming: use run instead of run_stream")


@contextmanager
def failing_as(kind: type[GolemError], whose: str, cancellation: Cancellation) -> Iterator[None]:
    """Turn whatever a function of the application raises inside into `kind`; a cancellation stays one.

    It passes as a plain one: that of a run inside the function would carry that run's evidence as ours.
    """
    try:
        yield
    except asyncio.CancelledError as error:
        if cancellation.is_foreign:
            raise kind(f"{whose}: something in it was canceled") from error
        raise asyncio.CancelledError from error
    except kind:
        raise
    except Exception as error:  # the application's function may raise anything
        raise kind(f"{whose}: {error}") from error


async def processed(
    configuration: AgentConfiguration, history: Sequence[Message], cancellation: Cancellation
) -> list[Message]:
    """Return what the history processor makes of exactly what the caller gave, validated."""
    messages = list(history)
    if configuration.history_processor is not None:
        with failing_as(ProcessorError, "history processor", cancellation):
            outcome = configuration.history_processor(messages)
            messages = list(await outcome if inspect.isawaitable(outcome) else outcome)
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Message):
            raise HistoryError(f"history entry {number} is a {type(message).__name__}, not a Message")
    validate_history(messages)
    return messages


def prompt_message(prompt: str, settings: RunSettings) -> Message:
    """Return the prompt as a message. Raises `HistoryError` when it is no text, or a part is malformed."""
    if not isinstance(prompt, str):
        raise HistoryError(f"the prompt is a {type(prompt).__name__}, not text")
    parts: Sequence[object] = settings.parts
    for number, part in enumerate(parts, 1):
        if not isinstance(part, Part):
            raise HistoryError(f"prompt part {number} is a {type(part).__name__}, not a Part")
    message = Message(role=USER, content=prompt, parts=settings.parts)
    for fault in malformed_parts(message):
        raise HistoryError(f"prompt part {fault.part}: {fault.reason}")
    return message


async def active_run(
    configuration: AgentConfiguration,
    settings: RunSettings,
    history: Sequence[Message],
    on_delta: OnDelta | None,
    cancellation: Cancellation,
) -> ActiveRun:
    """Return the run that starts from processed, repaired `history`, the current instructions in front."""
    run_id = settings.run_id or new_id()
    conversation_id = settings.conversation_id or conversation_of(history) or new_id()
    context = RunContext(deps=settings.deps, run_id=run_id, conversation_id=conversation_id)
    instructions = await resolved_instructions(configuration, context, cancellation)
    given = [message for message in history if message.role != SYSTEM]
    if instructions:
        given.insert(0, Message(role=SYSTEM, content=instructions))
    return ActiveRun(
        configuration=configuration,
        ledger=Ledger(run_id=run_id, conversation_id=conversation_id, given=given, price=configuration.price),
        context=context,
        cancellation=cancellation,
        observers=tuple(told for told in (configuration.on_event, settings.on_event) if told is not None),
        waiting_observers=tuple(
            told for told in (configuration.on_wait, settings.on_wait) if told is not None
        ),
        on_delta=on_delta,
    )


def conversation_of(history: Sequence[Message]) -> str:
    """Return the conversation id of the most recent message that has one, "" when none has."""
    return next((message.conversation_id for message in reversed(history) if message.conversation_id), "")


async def resolved_instructions(
    configuration: AgentConfiguration, context: RunContext[object], cancellation: Cancellation
) -> str:
    """Return the static instructions, a blank line, the function's text; an empty one adds nothing."""
    texts = [configuration.instructions]
    if configuration.instructions_func is not None:
        with failing_as(ConfigurationError, "instructions function", cancellation):
            outcome = configuration.instructions_func(context)
            text = await outcome if inspect.isawaitable(outcome) else outcome
            if not isinstance(text, str | None):
                raise ConfigurationError(f"instructions function: it gave a {type(text).__name__}, not text")
            texts.append(text or "")
    return "\n\n".join(text for text in texts if text)
