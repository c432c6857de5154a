"""What a request of the chat will hold: which history goes, which stays behind, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import Final

from golem_cli.chat.ports import ChatModel, OnNotice
from golem_cli.chat.processor import in_turn, patient_budget, patient_trim
from golem_cli.core.conversation import Conversation
from golem_cli.core.history import HistoryProcessor, leave_out_malformed_parts, repair
from golem_cli.core.message import SYSTEM, USER, Message, Part, replace
from golem_cli.core.model import CountingModel, WindowedModel

DEFAULT_TRIM: Final = 20
LARGEST_RESERVE: Final = 1024
"""Tokens that a model with a window keeps free for its answer, unless `max_tokens` says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Preview:
    """`messages` that would be sent, the system message first; `hidden` messages of `total` stay behind."""

    messages: list[Message]
    hidden: int
    total: int


@dataclass(frozen=True, kw_only=True)
class RequestPlan:
    """The history to supply to a run, and the processor that decides what of it is sent.

    `max_tokens` bounds the answer; a model with a window gets the reserve that was kept free for it.
    """

    history: list[Message]
    processor: HistoryProcessor
    max_tokens: int | None = None

    @classmethod
    async def make(
        cls,
        conversation: Conversation,
        *,
        prompt: str,
        parts: Sequence[Part],
        model: ChatModel,
        trim: int | None,
        budget: int | None,
        reserve: int | None,
        notice: OnNotice,
        sent: Callable[[int, int], None],
    ) -> RequestPlan:
        """Plan a request. `sent` is told how many messages of the history go, and how many stay behind."""
        history, left_out = carried(conversation, model)
        for reason in left_out:
            notice(f"left out of the request: {reason}")
        window = None
        if isinstance(model, WindowedModel):
            size = await model.context_window()
            reserve = reserve or min(LARGEST_RESERVE, size // 4)
            window = max(size - reserve - await model.count(_rest(conversation, prompt, parts)), 0)
        bounds = [bound for bound in (window, budget or None) if bound is not None]
        processors: list[HistoryProcessor] = []
        if isinstance(model, CountingModel) and bounds:
            processors.append(patient_budget(model.count, min(bounds), notice))
        else:
            trim = DEFAULT_TRIM if trim is None else trim
            if bounds:
                notice(f"the budget of {budget} tokens waits: {model.name} has no token counter")
        if trim:
            processors.insert(0, patient_trim(trim, notice))
        return cls(history=history, processor=_counted(in_turn(*processors), sent), max_tokens=reserve)

    async def preview(self, instructions: str) -> Preview:
        """Run the processor and what follows it, without sending."""
        processed = self.processor(self.history)
        kept = await processed if isawaitable(processed) else processed
        messages = [message for message in repair(kept) if message.role != SYSTEM]
        if instructions:
            messages.insert(0, Message(role=SYSTEM, content=instructions))
        return Preview(messages=messages, hidden=len(self.history) - len(kept), total=len(self.history))


def carried(conversation: Conversation, model: ChatModel) -> tuple[list[Message], list[str]]:
    """The history without the parts that no request may carry or that `model` cannot take, and why each.

    One bad part bricks no conversation, and neither does a change of model.
    """
    history, malformed = leave_out_malformed_parts(conversation.messages)
    taken, refused = without_refused(history, model)
    return taken, [*map(str, malformed), *refused]


def without_refused(messages: Sequence[Message], model: ChatModel) -> tuple[list[Message], list[str]]:
    """`messages` without the parts that `model` cannot take, and why each."""
    history = list(messages)
    left_out: list[str] = []
    for index, message in enumerate(history):
        refused = [reason for part in message.parts if (reason := model.refusal_of(part))]
        if refused:
            taken = tuple(part for part in message.parts if not model.refusal_of(part))
            history[index] = replace(message, parts=taken)
            left_out += [f"message {index + 1}: {reason}" for reason in refused]
    return history, left_out


def _counted(processor: HistoryProcessor, sent: Callable[[int, int], None]) -> HistoryProcessor:
    async def process(history: list[Message]) -> list[Message]:
        processed = processor(history)
        kept = await processed if isawaitable(processed) else processed
        sent(len(kept), len(history) - len(kept))
        return kept

    return process


def _rest(conversation: Conversation, prompt: str, parts: Sequence[Part]) -> list[Message]:
    """What a request holds beside the history."""
    rest = [Message(role=USER, content=prompt, parts=tuple(parts))]
    if conversation.instructions:
        rest.insert(0, Message(role=SYSTEM, content=conversation.instructions))
    return rest
