"""Every error that golem-cli raises, in one tree.

    GolemError
    ├── TranscriptError            the bytes are no transcript (exit code 3)
    │   └── CutTranscriptError     … because they stop in the middle; `whole` messages precede the cut
    ├── HistoryError               a history that no run may take: names the message by its number
    │   └── ProcessorError         the history processor failed, or left nothing to send
    ├── ConfigurationError         an agent, a model or a setting that cannot be used as given
    ├── ModelError                 a provider refused, failed or could not be reached
    ├── ToolError                  a tool raised; carries its name and the call's id
    │   └── UnknownToolError       the model called a tool that was not declared
    ├── LoopLimitError             more model turns than `max_iterations`
    ├── UsageLimitError            a response or request crossed a bound
    ├── RunError                   a run failed after its first model call; carries `partial`
    │   └── RunCanceled            … because its task was cancelled; also an asyncio.CancelledError
    │                              (in golem_cli.core.canceled: asyncio takes long to import)
    ├── ModelRetry                 raised by tools and decoders: say why, and let the model try again
    ├── ToolFailed                 raised by tools: a definitive failure that the model is told
    ├── ToolCanceled               raised by tools: stop the run, keep the batch
    ├── ToolDeferred               raised by tools: pause until somebody answers
    └── StoreError                 the store cannot do what was asked
        ├── ConversationNotFound   no conversation by that id, prefix or name; `nearest` suggests some
        ├── AmbiguousReference     several conversations match
        ├── ConversationLocked     another process writes to it; says which
        ├── ConversationChanged    somebody else replaced the file meanwhile; nothing was overwritten
        └── NewerFormatError       written by a newer golem: read, not written

Foreign exceptions (httpx, OSError, JSON) are translated once, where they enter. Only `cli` and `repl` turn an
error into text for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from golem_cli.core.result import PartialResult

Stage = Literal["model", "decode", "tool", "loop", "usage", "canceled"]
"""Where a run failed: what was going on, or which rule ended it."""


class GolemError(Exception):
    """The base of all. Its text says where, what and what to do: `PLACE: what; ADVICE`.

    `place` and `advice` may be "": who knows better sets them, on the way of the error to a person.
    """

    place: str = ""
    advice: str = ""

    @property
    def problem(self) -> str:
        """The text without the advice."""
        what = super().__str__()
        return f"{self.place}: {what}" if self.place else what

    def __str__(self) -> str:
        return f"{self.problem}; {self.advice}" if self.advice else self.problem


class TranscriptError(GolemError):
    """The bytes are not a transcript. The text is one line: what, where, what to do.

    `message` is the message's number counted from 1, `line` the line counted from 1, `offset` the byte from
    0, `field` the JSON name; None or "" where they do not apply.
    """

    def __init__(
        self,
        text: str,
        *,
        message: int | None = None,
        field: str = "",
        line: int | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(text)
        self.message = message
        self.field = field
        self.line = line
        self.offset = offset


class CutTranscriptError(TranscriptError):
    """The text stops in the middle. `whole` is the number of whole messages before the cut.

    `keeps` says in words what salvage keeps, "" for nothing.
    """

    def __init__(
        self,
        text: str,
        *,
        whole: int,
        keeps: str = "",
        line: int | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(text, line=line, offset=offset)
        self.whole = whole
        self.keeps = keeps
        self.salvaged_by("--salvage")

    def salvaged_by(self, command: str) -> None:
        """Advise `command`, when there is anything to keep."""
        self.advice = f"{command} keeps {self.keeps}" if self.keeps else ""


class HistoryError(GolemError):
    """A history (or prompt) that no run may take. Raised before any model call."""


class ProcessorError(HistoryError):
    """The history processor failed or left nothing that can open a request."""


class ConfigurationError(GolemError):
    """An agent, a model or a setting cannot be used as given."""


class ModelError(GolemError):
    """A provider refused or failed, or could not be reached.

    `retryable` says whether the same request may succeed later; `status_code` is the HTTP status (None when
    there was no answer); `code` the provider's own word; `retry_after` in seconds, when the provider said it.
    The text never holds a key.
    """

    def __init__(
        self,
        text: str,
        *,
        retryable: bool = False,
        status_code: int | None = None,
        code: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(text)
        self.retryable = retryable
        self.status_code = status_code
        self.code = code
        self.retry_after = retry_after


class ToolError(GolemError):
    """A tool raised, or gave nothing usable. The original is the `__cause__`."""

    def __init__(self, text: str, *, tool_name: str, call_id: str) -> None:
        super().__init__(text)
        self.tool_name = tool_name
        self.call_id = call_id


class UnknownToolError(ToolError):
    """The model called a tool that was not declared for this run."""


class LoopLimitError(GolemError):
    """More model turns than `max_iterations`."""


class UsageLimitError(GolemError):
    """A bound of `UsageLimit` was crossed; the text names it, its value and what was used."""


class RunError(GolemError):
    """A run failed after its first model call began. Raised `from` its cause.

    `partial` holds the evidence, None when nothing was completed.
    """

    def __init__(self, stage: Stage, cause: BaseException, partial: PartialResult | None = None) -> None:
        super().__init__(f"{stage} stage: {str(cause) or type(cause).__name__}")
        self.stage = stage
        self.cause = cause
        self.partial = partial


class ModelRetry(GolemError):  # noqa: N818 (the seed's name; a request to the model, not a failure)
    """Reject the model's output or arguments with a reason and let it try again."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"model output rejected: {self.reason}"


class ToolFailed(GolemError):  # noqa: N818 (the seed's name)
    """A definitive failure: the model is told `reason`, the message is marked `failed`, the run goes on."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ToolCanceled(GolemError):  # noqa: N818 (the seed's name)
    """Stop the run deliberately; the results recorded so far stay."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or "a tool stopped the run")
        self.reason = reason


class ToolDeferred(GolemError):  # noqa: N818 (the seed's name)
    """Pause this call until an approval or an external result comes.

    `kind` is `approval` or `external`; `reason` is shown to whoever decides.
    """

    def __init__(self, kind: Literal["approval", "external"], reason: str = "") -> None:
        super().__init__(reason or kind)
        self.kind = kind
        self.reason = reason


class StoreError(GolemError):
    """The store cannot do what was asked; nothing on disk was damaged."""


class ConversationNotFound(StoreError):  # noqa: N818 (reads as what happened)
    """No conversation by that reference; `nearest` lists ids or titles that are close."""

    def __init__(self, text: str, *, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.nearest = nearest


class AmbiguousReference(StoreError):  # noqa: N818 (reads as what happened)
    """Several conversations match; `matches` are their ids."""

    def __init__(self, text: str, *, matches: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.matches = matches


class ConversationLocked(StoreError):  # noqa: N818 (reads as what happened)
    """Another process holds the conversation; `holder` says which, in words."""

    def __init__(self, text: str, *, holder: str) -> None:
        super().__init__(text)
        self.holder = holder


class ConversationChanged(StoreError):  # noqa: N818 (reads as what happened)
    """The file changed under our hands; nothing was overwritten."""


class NewerFormatError(StoreError):
    """The file was written by a newer golem; it is read but not written."""
