"""The ledger of one run: its identity, what it has completed so far, and the evidence drawn from that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from golem_cli.core.message import Message, replace
from golem_cli.core.model import ModelResponse
from golem_cli.core.result import PartialResult, PendingCall, Result
from golem_cli.core.run.configuration import Price
from golem_cli.core.usage import Usage


class Ledger:
    """What a run has completed. It starts with what the run was given, and only grows.

    Every message that is added gets the run's stamps; what was given keeps its own.
    """

    def __init__(
        self, *, run_id: str, conversation_id: str, given: Sequence[Message], price: Price | None
    ) -> None:
        self.run_id = run_id
        self.conversation_id = conversation_id
        self.messages = list(given)
        self.new_messages: list[Message] = []
        self.usage = Usage()
        self.requests = 0
        self.tool_calls = 0
        self.cost: float | None = None
        self.finish_reason = ""
        self._turns = 0
        self._price = price

    def stamp(self, message: Message) -> Message:
        """Return `message` with this run's identity."""
        return replace(message, run_id=self.run_id, conversation_id=self.conversation_id)

    def add(self, message: Message) -> Message:
        """Stamp `message`, append it, and return it as it stands now."""
        stamped = self.stamp(message)
        self.append((stamped,))
        return stamped

    def append(self, stamped: Sequence[Message]) -> None:
        """Append messages of this run that are stamped already."""
        self.messages.extend(stamped)
        self.new_messages.extend(stamped)

    def insert_results(self, position: int, results: Sequence[Message], new: Sequence[Message]) -> None:
        """Make `results` what stands behind the turn at `position`; `new` are those that this run added."""
        self.messages[position + 1 :] = results
        self.new_messages.extend(new)

    def add_turn(self, response: ModelResponse) -> Message:
        """Record a completed model turn: its message, usage, cost and finish reason."""
        self._turns += 1
        self.usage += response.usage
        self.finish_reason = response.finish_reason
        message = self.add(response.message)
        cost = response.cost
        if cost is None and self._price is not None:
            cost = self._price(response)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        return message

    def partial(self) -> PartialResult | None:
        """Return the evidence of a run that fails now; None when it has completed nothing."""
        if not self._turns and not self.tool_calls:
            return None
        return PartialResult(
            messages=list(self.messages),
            new_messages=list(self.new_messages),
            usage=self.usage,
            requests=self.requests,
            tool_calls=self.tool_calls,
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            cost=self.cost,
            finish_reason=self.finish_reason,
        )

    def result(self, output: Any, pending: Sequence[PendingCall] = ()) -> Result[Any]:
        """Return the result of a run that ends well, or pauses with `pending` calls."""
        return Result(
            output=output,
            messages=list(self.messages),
            new_messages=list(self.new_messages),
            usage=self.usage,
            requests=self.requests,
            tool_calls=self.tool_calls,
            run_id=self.run_id,
            conversation_id=self.conversation_id,
            cost=self.cost,
            finish_reason=self.finish_reason,
            pending=list(pending),
        )
