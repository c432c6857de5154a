"""The chat's history processors: a cut never leaves the chat stuck, and says so when it had to be patient."""

from __future__ import annotations

import math
from collections.abc import Awaitable
from inspect import isawaitable
from typing import TypeVar

from golem_cli.chat.ports import OnNotice
from golem_cli.core.errors import ProcessorError
from golem_cli.core.history import HistoryProcessor, budget_history, can_open_request, trim_history
from golem_cli.core.message import Message
from golem_cli.core.model import Counter

T = TypeVar("T")


def patient_trim(max_messages: int, notice: OnNotice) -> HistoryProcessor:
    """`trim_history(max_messages)`, but when the cut leaves nothing, go back to where a request can open.

    A long tool loop can leave twenty messages none of which may open a request.
    """
    trim = trim_history(max_messages)

    async def process(history: list[Message]) -> list[Message]:
        try:
            return await _settled(trim(history))
        except ProcessorError:
            start = _newest_opening(history)
        if start is None:
            notice("nothing of the earlier conversation can open a request; sending the prompt alone")
            return []
        kept = history[start:]
        notice(
            f"the newest {max_messages} messages are one tool loop; sending the newest {len(kept)} instead"
        )
        return kept

    return process


def patient_budget(counter: Counter, max_tokens: int, notice: OnNotice) -> HistoryProcessor:
    """`budget_history`, in pages of half a budget, so that the cut stays where it is for many turns.

    A cut that moves with every turn makes the model read the whole window again each time; one that moves a
    page at a time keeps its prompt cache warm. When not even the newest turn fits, nothing of it is sent.
    """

    async def process(history: list[Message]) -> list[Message]:
        total = await _settled(counter(history)) if history else 0
        if total <= max_tokens:
            return history
        page = max(max_tokens // 2, 1)
        dropped = math.ceil((total - max_tokens) / page) * page
        for allowed in (total - dropped, max_tokens):
            if allowed > 0:
                try:
                    return await _settled(budget_history(counter, allowed)(history))
                except ProcessorError:
                    continue
        notice("not even the newest earlier message fits beside this prompt; sending the prompt alone")
        return []

    return process


def in_turn(*processors: HistoryProcessor) -> HistoryProcessor:
    """One processor that hands the history through several."""

    async def process(history: list[Message]) -> list[Message]:
        for processor in processors:
            history = await _settled(processor(history))
        return history

    return process


def _newest_opening(history: list[Message]) -> int | None:
    return next((i for i in range(len(history) - 1, -1, -1) if can_open_request(history[i])), None)


async def _settled(value: T | Awaitable[T]) -> T:
    return await value if isawaitable(value) else value
