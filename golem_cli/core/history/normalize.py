"""Normalize: the repair that every run does silently, with a report of what it changed and saw."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from golem_cli.core.history.json_object import is_json_object
from golem_cli.core.history.pairing import pair
from golem_cli.core.history.repair import apply_pairing
from golem_cli.core.message import ASSISTANT, Message


@dataclass(frozen=True, kw_only=True)
class HistoryRepair:
    """What a repair did and saw, as call ids in order of position ("" for a result or call without one).

    Changes: `synthesized` (calls that got a result), `dropped` (ids on the results that were dropped). Only
    seen, and listed again on every pass: `truncated` (calls whose args are not a JSON object; the bytes stay)
    and `displaced` (results that are kept although another message separates them from their call's turn).
    """

    synthesized: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    truncated: list[str] = field(default_factory=list)
    displaced: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether the repaired history differs from the one that was given."""
        return bool(self.synthesized or self.dropped)


def normalize_history(
    history: Sequence[Message], *, pending: Collection[str] = ()
) -> tuple[list[Message], HistoryRepair]:
    """Repair `history` and report. The input stays as it is; deterministic and idempotent.

    `pending` names calls that wait for an answer: they are no damage and stay open.

    >>> messages, report = normalize_history([Message(role="tool", tool_call_id="lost")])
    >>> messages, report.dropped
    ([], ['lost'])
    """
    pairing = pair(history, pending=pending)
    report = HistoryRepair(
        synthesized=[call.id for calls in pairing.unanswered.values() for call in calls],
        dropped=[history[position].tool_call_id for position in pairing.orphans],
        truncated=[
            call.id
            for message in history
            if message.role == ASSISTANT
            for call in message.tool_calls
            if not is_json_object(call.args)
        ],
        displaced=[history[position].tool_call_id for position in pairing.displaced],
    )
    return apply_pairing(history, pairing), report
