"""Deferred calls: which calls of a paused run wait, the answers to them, and the results they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from golem_cli.core.errors import HistoryError
from golem_cli.core.history import pair
from golem_cli.core.history.validate import malformed_parts
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, Message, Part, ToolCall
from golem_cli.core.quote import quoted
from golem_cli.core.run.active import ActiveRun
from golem_cli.core.run.batch import closing, end_canceled, first_verdict, jobs_for, run_jobs
from golem_cli.core.run.tool_call import Answered, Settled

Decision = Literal["approve", "deny", "external"]


@dataclass(frozen=True, kw_only=True)
class DeferredAnswer:
    """Somebody's answer to the waiting call with `call_id`; make one with the class methods.

    An approval runs the tool again, with `approved` true in its context. A denial and an external result
    become the call's result: `content` is the denial's reason or the result's text.

    >>> DeferredAnswer.denied("call_1", "not on a Friday").content
    'not on a Friday'
    """

    call_id: str
    decision: Decision
    content: str = ""
    parts: tuple[Part, ...] = ()
    failed: bool = False

    @classmethod
    def approved(cls, call_id: str) -> DeferredAnswer:
        """Let the call happen."""
        return cls(call_id=call_id, decision="approve")

    @classmethod
    def denied(cls, call_id: str, reason: str = "") -> DeferredAnswer:
        """Forbid the call; the model is told, with the reason."""
        return cls(call_id=call_id, decision="deny", content=reason)

    @classmethod
    def external(
        cls, call_id: str, content: str, *, parts: Sequence[Part] = (), failed: bool = False
    ) -> DeferredAnswer:
        """Give the result that came from outside; `failed` marks a definitive failure."""
        return cls(call_id=call_id, decision="external", content=content, parts=tuple(parts), failed=failed)


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """A waiting call, its index in its turn, and the answer to it."""

    index: int
    call: ToolCall
    answer: DeferredAnswer


def waiting_calls(history: Sequence[Message]) -> list[tuple[int, ToolCall]]:
    """Return the calls that wait in `history`, with their index in their turn.

    They are the calls without a result of the last turn, when nothing but results follows it: once the
    conversation has gone on, nobody waits any more.
    """
    position = last_turn(history)
    if position is None:
        return []
    answered = {index for at, index in pair(history).answers.values() if at == position}
    calls = enumerate(history[position].tool_calls)
    return [(index, call) for index, call in calls if call.id and index not in answered]


def last_turn(history: Sequence[Message]) -> int | None:
    """Return the position of the turn with calls that ends `history`, but for results and system messages."""
    for position in range(len(history) - 1, -1, -1):
        message = history[position]
        if message.role == ASSISTANT and message.tool_calls:
            return position
        if message.role not in (TOOL, SYSTEM):
            break
    return None


def resolutions(history: Sequence[Message], answers: Sequence[DeferredAnswer]) -> list[Resolution]:
    """Pair each waiting call with its answer, in call order.

    Raises `HistoryError` when no call waits, when an answer names none, or when a call has no answer or one
    too many. Calls that share an id take the answers with that id in order.
    """
    waiting = waiting_calls(history)
    if not waiting:
        raise HistoryError("no call in this history waits for an answer: use run_with_history instead")
    left: dict[str, list[DeferredAnswer]] = {}
    for answer in answers:
        _check_answer(answer, {call.id for _, call in waiting})
        left.setdefault(answer.call_id, []).append(answer)
    resolved: list[Resolution] = []
    for index, call in waiting:
        if not left.get(call.id):
            raise HistoryError(
                f"call {quoted(call.id)} of tool {quoted(call.name)} waits, and no answer is for it"
            )
        resolved.append(Resolution(index=index, call=call, answer=left[call.id].pop(0)))
    for call_id, surplus in left.items():
        if surplus:
            raise HistoryError(f"call {quoted(call_id)} has more than one answer: give exactly one")
    return resolved


def _check_answer(answer: DeferredAnswer, waiting: set[str]) -> None:
    if not isinstance(answer, DeferredAnswer):
        raise HistoryError(f"an answer is a {type(answer).__name__}, not a DeferredAnswer")
    if answer.decision not in get_args(Decision):
        decisions = ", ".join(get_args(Decision))
        raise HistoryError(
            f"answer to call {quoted(answer.call_id)}: {answer.decision!r} is not one of {decisions}"
        )
    if answer.call_id not in waiting:
        raise HistoryError(f"an answer is for call {quoted(answer.call_id)}, and no call with that id waits")
    for fault in malformed_parts(Message(role=TOOL, parts=answer.parts)):
        raise HistoryError(f"answer to call {quoted(answer.call_id)}, part {fault.part}: {fault.reason}")


async def resolve(run: ActiveRun, resolved: Sequence[Resolution]) -> None:
    """Turn the answers into results, in call order among those that stand already; approved calls run now.

    Fails as a batch does: a failing tool adds nothing, a tool that stops the run closes what it left open.
    """
    with run.stage("tool"):
        approved = [item for item in resolved if item.answer.decision == "approve"]
        jobs = jobs_for(run, [item.call for item in approved], approved=True)
        settled = await run_jobs(run, 0, jobs, {})
        await run.cancellation.checkpoint()
        stop = first_verdict(settled)
        outcomes = dict(zip((item.index for item in approved), settled, strict=True))
        _insert(run, {item.index: _result(run, item, outcomes.get(item.index)) for item in resolved})
    if stop is not None:
        end_canceled(run, 0, approved[settled.index(stop)].call, stop)


def _insert(run: ActiveRun, new: dict[int, Message]) -> None:
    messages = run.ledger.messages
    position = last_turn(messages)
    assert position is not None  # noqa: S101 (resolutions() has found it, and repair removes no turn)
    answers = pair(messages).answers
    results = {slot[1]: messages[at] for at, slot in answers.items() if slot[0] == position} | new
    run.ledger.insert_results(
        position, [results[index] for index in sorted(results)], [new[index] for index in sorted(new)]
    )


def _result(run: ActiveRun, item: Resolution, outcome: Settled | None) -> Message:
    if item.answer.decision == "approve":
        return outcome.message if isinstance(outcome, Answered) else closing(run, item.call)
    message = Message(
        role=TOOL,
        content=_denial(item.answer.content) if item.answer.decision == "deny" else item.answer.content,
        parts=item.answer.parts,
        failed=item.answer.failed,
        tool_call_id=item.call.id,
        tool_name=item.call.name,
    )
    return run.ledger.stamp(message)


def _denial(reason: str) -> str:
    because = f": {reason}" if reason else ""
    return f"This tool call was not allowed{because}. It was not carried out; go on without its result."
