"""What `ask` and `resume --prompt` write to standard output: the bare answer, one object, or JSON lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from golem_cli.core.errors import GolemError, RunError
from golem_cli.core.events import RunEvent
from golem_cli.core.model import Delta

if TYPE_CHECKING:
    from golem_cli.chat.session import Session
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.result import Result
    from golem_cli.core.usage import Usage


class AnswerOutput(Protocol):
    """Observes one run and writes what becomes of it. JSON escapes every character beyond ASCII."""

    def on_delta(self, delta: Delta) -> None:
        """A fragment arrived."""
        ...

    def on_event(self, event: RunEvent) -> None:
        """A step began or ended."""
        ...

    def finish(self, session: Session, result: Result[str]) -> None:
        """The run ended well."""
        ...

    def fail(self, session: Session, error: GolemError, *, began: bool) -> None:
        """The run failed, or never `began`; the error itself is reported elsewhere."""
        ...


class WatchedOutput:
    """Another output, watched: when it cannot be written, the run is stopped as by its user, and is kept.

    `fault` is then why: the reader went away, or the disk is full. `stop` cancels the run's task.
    """

    def __init__(self, inner: AnswerOutput, stop: Callable[[], object]) -> None:
        self._inner = inner
        self._stop = stop
        self.fault: OSError | None = None

    async def on_delta(self, delta: Delta) -> None:
        """Pass on the fragment, or stop."""
        self._write(lambda: self._inner.on_delta(delta))
        if self.fault is not None:
            self._stop()
            await asyncio.sleep(0)  # it stops here

    def on_event(self, event: RunEvent) -> None:
        """Pass on the step; a fault stops the run with its next fragment."""
        self._write(lambda: self._inner.on_event(event))

    def finish(self, session: Session, result: Result[str]) -> None:
        """Pass on the result."""
        self._write(lambda: self._inner.finish(session, result))

    def fail(self, session: Session, error: GolemError, *, began: bool) -> None:
        """Pass on the failure."""
        self._write(lambda: self._inner.fail(session, error, began=began))

    def _write(self, write: Callable[[], None]) -> None:
        if self.fault is None:
            try:
                write()
            except OSError as error:
                self.fault = error


class TextOutput:
    """The answer's text as it arrives, and a newline at its end; neutralized, unless raw output is wanted."""

    def __init__(self, environment: Environment) -> None:
        from golem_cli.render.neutralize import Neutralizer

        self._environment = environment
        self._neutralizer = None if environment.raw_output else Neutralizer()
        self._ends_with_newline = True

    def on_delta(self, delta: Delta) -> None:
        """Write the fragment at once."""
        self._write(self._neutralizer.feed(delta.content) if self._neutralizer else delta.content)

    def on_event(self, event: RunEvent) -> None:
        """Nothing but the answer is on standard output."""

    def finish(self, session: Session, result: Result[str]) -> None:
        """End the last line."""
        self._end()

    def fail(self, session: Session, error: GolemError, *, began: bool) -> None:
        """End the last line."""
        self._end()

    def _end(self) -> None:
        self._write(self._neutralizer.close() if self._neutralizer else "")
        if not self._ends_with_newline:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._environment.write(text)
            self._environment.flush()
            self._ends_with_newline = text.endswith("\n")


class JsonOutput:
    """One object when the run has ended."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def on_delta(self, delta: Delta) -> None:
        """Nothing yet."""

    def on_event(self, event: RunEvent) -> None:
        """Nothing yet."""

    def finish(self, session: Session, result: Result[str]) -> None:
        """Write the result."""
        self._write(result_object(session, result.output, result.finish_reason))

    def fail(self, session: Session, error: GolemError, *, began: bool) -> None:
        """Write the failure; it names the conversation all the same."""
        self._write(failure_object(session, error, began=began))

    def _write(self, value: object) -> None:
        self._environment.say_json(value)
        self._environment.flush()


class StreamJsonOutput:
    """One object a line: `run_start`, `delta`, the run's events, and last `result`."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._started = False

    def on_delta(self, delta: Delta) -> None:
        """Write the fragment."""
        for name, text in (("thinking", delta.thinking), ("text", delta.content)):
            if text:
                self._line({"type": "delta", name: text})

    def on_event(self, event: RunEvent) -> None:
        """Write the step."""
        if not self._started:
            self._started = True
            self._line({"type": "run_start", "runId": event.run_id, "conversationId": event.conversation_id})
        self._line({"type": event.kind, **_event_fields(event)})

    def finish(self, session: Session, result: Result[str]) -> None:
        """Write the result as the last line."""
        self._line({"type": "result", **result_object(session, result.output, result.finish_reason)})

    def fail(self, session: Session, error: GolemError, *, began: bool) -> None:
        """Write the failure as the last line."""
        self._line({"type": "result", **failure_object(session, error, began=began)})

    def _line(self, value: Mapping[str, object]) -> None:
        self._environment.write(f"{json.dumps(value)}\n")
        self._environment.flush()


def result_object(session: Session, output: str, finish_reason: str) -> dict[str, object]:
    """The object that `--output-format json` writes."""
    return _object(session, session.conversation.runs[-1], output, finish_reason)


def failure_object(session: Session, error: GolemError, *, began: bool) -> dict[str, object]:
    """The object for a run that failed, or never `began`: what there is, and the error."""
    run = session.conversation.runs[-1] if began else None
    cause = error.cause if isinstance(error, RunError) else error
    stage = error.stage if isinstance(error, RunError) else ""
    return {
        **_object(session, run, run.partial_text if run else "", ""),
        "error": {"stage": stage, "message": str(cause) or type(cause).__name__},
    }


def _object(session: Session, run: RunRecord | None, output: str, finish_reason: str) -> dict[str, object]:
    found: dict[str, object] = {"conversationId": session.conversation.conversation_id}
    if run is not None:
        found["runId"] = run.run_id
    found |= {"model": session.model.name, "output": output}
    if run is not None:
        found |= _run_fields(run)
    found["finishReason"] = finish_reason
    if run is not None and session.writer.path is not None and not session.writer.unsaved:
        found["file"] = str(session.writer.path)
    return found


def _run_fields(run: RunRecord) -> dict[str, object]:
    fields: dict[str, object] = {
        "usage": usage_object(run.usage),
        "requests": run.requests,
        "toolCalls": run.tool_calls,
    }
    if run.cost is not None:
        fields["cost"] = run.cost
    return fields


def usage_object(usage: Usage) -> dict[str, int]:
    """Input and output always; what is part of them when there is some."""
    found = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    more = {
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "reasoningTokens": usage.reasoning_tokens,
    }
    return found | {name: value for name, value in more.items() if value}


def _event_fields(event: RunEvent) -> dict[str, object]:
    fields = {
        "runId": event.run_id,
        "turn": event.turn,
        "attempt": event.attempt or None,
        "toolName": event.tool_name,
        "callId": event.call_id,
        "args": event.args,
        "result": event.result,
        "error": event.error,
        "usage": usage_object(event.usage) if event.kind == "model_end" and not event.error else None,
    }
    return {name: value for name, value in fields.items() if value not in ("", None)}
