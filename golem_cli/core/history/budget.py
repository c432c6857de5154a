"""Trimming by tokens: as many of the newest messages as a budget holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from golem_cli.core.errors import ProcessorError
from golem_cli.core.history.trim import can_open_request
from golem_cli.core.message import Message
from golem_cli.core.model import Counter


def budget_history(counter: Counter, max_tokens: int) -> Callable[[list[Message]], Awaitable[list[Message]]]:
    """Return a processor that drops the oldest messages until `counter` finds at most `max_tokens` tokens.

    A history that fits comes back unchanged; else it begins with a message that may open a request. The
    counter may be asynchronous and must not decrease as messages are added in front: a bisection asks it
    O(log n) times. The processor raises `ProcessorError` when `max_tokens` is below 1, when no message may
    open a request, or when the newest turn alone is over the budget. The application subtracts instructions,
    tools, prompt and the answer's reserve from `max_tokens` first. Source: the semantics page, section 6.

    >>> import asyncio
    >>> by_length = budget_history(lambda messages: sum(len(m.content) for m in messages), 5)
    >>> history = [Message(role="user", content=text) for text in ("four", "two", "ab")]
    >>> [message.content for message in asyncio.run(by_length(history))]
    ['two', 'ab']
    """
    return _Budget(counter=counter, max_tokens=max_tokens)


@dataclass(frozen=True, kw_only=True)
class _Budget:
    counter: Counter
    max_tokens: int

    async def __call__(self, history: list[Message]) -> list[Message]:
        if self.max_tokens < 1:
            raise ProcessorError(f"the token budget must be at least 1, not {self.max_tokens}: raise it")
        if not history or await self._count(history) <= self.max_tokens:
            return list(history)
        openings = [index for index, message in enumerate(history) if can_open_request(message)]
        if not openings:
            raise ProcessorError(
                f"the history is over the budget of {self.max_tokens} tokens and none of its {len(history)} "
                "messages may open a shorter request (all are tool calls and their results): raise the budget"
            )
        fitting = await self._first_fitting(history, openings)
        if fitting is None:
            raise ProcessorError(
                f"the newest turn (from message {openings[-1] + 1} of {len(history)} on) alone is over the "
                f"budget of {self.max_tokens} tokens: raise the budget or start a new conversation"
            )
        return history[fitting:]

    async def _count(self, messages: list[Message]) -> int:
        counted = self.counter(messages)
        return await counted if isinstance(counted, Awaitable) else counted

    async def _first_fitting(self, history: list[Message], openings: list[int]) -> int | None:
        """Return the first opening from which on the history fits, None when not even the last does."""
        low, high = 0, len(openings)
        while low < high:
            middle = (low + high) // 2
            if await self._count(history[openings[middle] :]) <= self.max_tokens:
                high = middle
            else:
                low = middle + 1
        return openings[low] if low < len(openings) else None
