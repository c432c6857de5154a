"""What a run returns, and the evidence that a failed one leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from golem_cli.core.message import Message, ToolCall
from golem_cli.core.usage import Usage

Output = TypeVar("Output")


@dataclass(frozen=True, kw_only=True)
class PendingCall:
    """A call that waits for an answer from outside the run. `kind` is `approval` or `external`."""

    call: ToolCall
    kind: Literal["approval", "external"]
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PartialResult:
    """What a failed run had completed; `messages` is resume-ready history.

    `messages` go through the last completed model turn; `new_messages` are those of them that this run
    added. `requests` counts the failed attempt too.
    """

    messages: list[Message]
    new_messages: list[Message]
    usage: Usage
    requests: int
    tool_calls: int
    run_id: str
    conversation_id: str
    cost: float | None = None
    finish_reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Result(Generic[Output]):
    """A finished run.

    `messages` is the whole reconstructed conversation as it was sent, the system message first;
    `new_messages` is what this run added (append those to a full transcript). `pending` is non-empty when
    the run paused for answers: `output` is then None.
    """

    output: Output
    messages: list[Message]
    new_messages: list[Message]
    usage: Usage
    requests: int
    tool_calls: int
    run_id: str
    conversation_id: str
    cost: float | None = None
    finish_reason: str = ""
    pending: list[PendingCall] = field(default_factory=list)
