"""Counts what messages cost on the embedded model: message by message, so that a sum can only grow.

The engine's own tokenizer counts each text; what the chat template puts around a message, and around the
whole, is measured once. A little is added for what may be tokenized otherwise at the seams: the count is
never below what the engine then counts itself, and never decreases as messages are added in front.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ModelError
from golem_cli.core.history import scalar_text
from golem_cli.providers.wire.flatten import OPENING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.message import Message, ToolCall
    from golem_cli.providers.local.engine_api import EngineApi

_SEAM: Final = 2  # tokens that the two ends of a text may cost when it is embedded
_PER_CALL: Final = 24  # what templates write around a call or a result: names of fields, braces, tags
_UNKNOWN_FRAME: Final = 16  # for a template that takes no probe
_UNKNOWN_BASE: Final = 64
_CACHED_TEXTS: Final = 20_000


class TokenCounter:
    """A `Counter` for one loaded model. Remembers the tokens of each text that it has seen."""

    def __init__(self, api: EngineApi) -> None:
        self._api = api
        self._known: dict[str, int] = {}
        self._frame: tuple[int, int] | None = None

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a request of `messages`. Raises `ModelError`."""
        if not messages:
            return 0
        if self._frame is None:
            self._frame = await self._measure()
        base, per_message = self._frame
        total = base
        for message in messages:
            total += per_message + await self._tokens(message.content)
            if message.tool_call_id or message.tool_name:
                total += _PER_CALL + await self._tokens(f"{message.tool_call_id} {message.tool_name}")
            for call in message.tool_calls:
                total += _PER_CALL + await self._tokens(_call_text(call))
        return total

    async def _tokens(self, text: str) -> int:
        if not text:
            return 0
        text = scalar_text(text)
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= _CACHED_TEXTS:
                self._known.clear()
            known = self._known[text] = await self._api.tokens(text, special=False)
        return known

    async def _measure(self) -> tuple[int, int]:
        """The tokens around a whole request, and around each message of it."""
        probe = await self._tokens("x")
        try:
            short, long = await self._probe("uau"), await self._probe("uauau")
        except ModelError as error:
            if error.status_code is None:  # not the template: the engine is gone
                raise
            return _UNKNOWN_BASE, _UNKNOWN_FRAME
        each = max(0, -(-(long - short) // 2))
        base = short - 3 * each
        try:
            base = max(base, await self._probe("suau") - 4 * each)
        except ModelError as error:
            if error.status_code is None:
                raise
        base += await self._tokens(OPENING)  # what `alternating` may put in front
        return max(0, base) + 4 * _SEAM, max(0, each - probe) + _SEAM

    async def _probe(self, roles: str) -> int:
        """The tokens of a request with a message of one letter for each letter of `roles`."""
        names = {"s": "system", "u": "user", "a": "assistant"}
        messages = [{"role": names[letter], "content": "x"} for letter in roles]
        prompt = await self._api.render(msgspec.json.encode({"messages": messages}))
        return await self._api.tokens(prompt, special=True)


def _call_text(call: ToolCall) -> str:
    """All that a template may write of a call; quoted, since some write the arguments as a string."""
    return f"{call.id} {call.name} {json.dumps(call.args, ensure_ascii=False)}"
