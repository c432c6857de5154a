"""Findings: everything that repair would do, or only sees, in plain words: what `golem normalize` lists."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from golem_cli.core.history.json_object import is_json_object
from golem_cli.core.history.pairing import Pairing, pair
from golem_cli.core.history.validate import malformed_parts
from golem_cli.core.message import ASSISTANT, ROLES, SYSTEM, TOOL, Message, ToolCall
from golem_cli.core.quote import quoted

Rule = Literal[
    "unanswered-call",
    "orphan-result",
    "duplicate-result",
    "result-before-call",
    "result-without-id",
    "truncated-args",
    "displaced-result",
    "call-without-id",
    "pending-call",
    "ignored-calls",
    "malformed-part",
    "misplaced-thinking",
    "unknown-role",
    "system-message",
    "empty-message",
]

CHANGES: Final[frozenset[Rule]] = frozenset(
    {"unanswered-call", "orphan-result", "duplicate-result", "result-before-call", "result-without-id"}
)
"""The rules for which repair changes the history; of the others it only takes note."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing found: the rule's name, the message's number from 1, the call and run it concerns, and why.

    `call_id` and `run_id` are "" where there is none. `text` is one line; foreign text in it is quoted and
    harmless. `changes` says whether repair changes the history for it.
    """

    rule: Rule
    message: int
    call_id: str = ""
    run_id: str = ""
    text: str

    @property
    def changes(self) -> bool:
        """Whether repair changes the history for this, or only takes note."""
        return self.rule in CHANGES


def find_findings(history: Sequence[Message], *, pending: Collection[str] = ()) -> list[Finding]:
    """Return what repair does to `history` and what it only sees, in order of the messages.

    `pending` names calls that wait for an answer, as for `normalize_history`.

    >>> [(f.rule, f.message) for f in find_findings([Message(role="tool", tool_call_id="lost")])]
    [('orphan-result', 1)]
    """
    pairing = pair(history, pending=pending)
    found = [
        *_message_findings(history),
        *_call_findings(history, pairing),
        *_result_findings(history, pairing),
    ]
    return sorted(found, key=lambda finding: finding.message)


def _finding(rule: Rule, position: int, message: Message, text: str, call_id: str = "") -> Finding:
    return Finding(rule=rule, message=position + 1, call_id=call_id, run_id=message.run_id, text=text)


def _message_findings(history: Sequence[Message]) -> Iterator[Finding]:
    """What is seen of each message by itself."""
    for position, message in enumerate(history):
        if message.role not in ROLES:
            text = f"the role {quoted(message.role)} is none that a run knows; the message is kept"
            yield _finding("unknown-role", position, message, text)
        elif message.role == SYSTEM:
            text = "a run replaces system messages in the history by its own instructions; it is kept"
            yield _finding("system-message", position, message, text)
        if message.thinking and message.role != ASSISTANT:
            text = "only assistant messages may have thinking; a run refuses it here"
            yield _finding("misplaced-thinking", position, message, text)
        if message.tool_calls and message.role != ASSISTANT:
            text = "only an assistant's tool calls count; those on this message are ignored"
            yield _finding("ignored-calls", position, message, text)
        for malformed in malformed_parts(message, position + 1):
            text = f"part {malformed.part}: {malformed.reason}; the part is kept, and left out of requests"
            yield _finding("malformed-part", position, message, text)
        if message.role != TOOL and not (
            message.content or message.parts or message.thinking or message.tool_calls
        ):
            text = "the message has nothing in it; it is kept, and left out of requests"
            yield _finding("empty-message", position, message, text)


def _call_findings(history: Sequence[Message], pairing: Pairing) -> Iterator[Finding]:
    """What repair does for calls without a result, and what is seen of calls."""
    for position, message in enumerate(history):
        if message.role != ASSISTANT or not message.tool_calls:
            continue
        for call in pairing.unanswered.get(position, ()):
            text = f"{_name(call)} has no result; one that says so is added after this message"
            yield _finding("unanswered-call", position, message, text, call.id)
        for call in pairing.pending.get(position, ()):
            text = f"{_name(call)} waits for an answer; it is no damage and stays open"
            yield _finding("pending-call", position, message, text, call.id)
        for call in message.tool_calls:
            if not call.id:
                text = f"{_name(call)} cannot be paired with a result; it is kept, and requests give it an id"
                yield _finding("call-without-id", position, message, text)
            if not is_json_object(call.args):
                yield _finding("truncated-args", position, message, _args_text(call), call.id)


def _result_findings(history: Sequence[Message], pairing: Pairing) -> Iterator[Finding]:
    """What repair does with results that answer no open call, and which results stand in the wrong place."""
    calls = [
        (call.id, position)
        for position, message in enumerate(history)
        if message.role == ASSISTANT
        for call in message.tool_calls
    ]
    last_call = dict(calls)
    first_call = dict(reversed(calls))
    for position in pairing.orphans:
        message = history[position]
        call_id = message.tool_call_id
        rule: Rule
        if not call_id:
            rule, why = "result-without-id", "a result without a call id cannot be paired"
        elif first_call.get(call_id, position) < position:
            rule, why = (
                "duplicate-result",
                f"the newest call {quoted(call_id)} before it has its result already",
            )
        elif last_call.get(call_id, position) > position:
            rule, why = "result-before-call", f"the call {quoted(call_id)} comes only after it"
        else:
            rule, why = "orphan-result", f"no message has a call {quoted(call_id)}"
        yield _finding(rule, position, message, f"{why}; providers refuse it, so it is dropped", call_id)
    for position in pairing.displaced:
        message = history[position]
        text = (
            f"the result stands apart from its call in message {pairing.answers[position][0] + 1}; it is "
            "kept here, and sent right after the call"
        )
        yield _finding("displaced-result", position, message, text, message.tool_call_id)


def _name(call: ToolCall) -> str:
    call_id = f"call {quoted(call.id)}" if call.id else "a call without an id"
    return f"{call_id} of {quoted(call.name)}"


def _args_text(call: ToolCall) -> str:
    if not call.args.strip():
        return f"{_name(call)} has no arguments; they are kept as they are, and sent as {{}}"
    return (
        f"the arguments of {_name(call)} are not one JSON object (cut off, perhaps); they are kept as they "
        "are, and sent wrapped as truncated_args"
    )
