"""Token usage: what model responses report, how it adds up, and the limits on it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Tokens of one response or a whole run.

    `cache_read_tokens` and `cache_write_tokens` are part of `input_tokens`; `reasoning_tokens` are part of
    `output_tokens`. `extra` holds unknown fields of a file; sums have none.

    >>> (Usage(input_tokens=3) + Usage(input_tokens=4, output_tokens=1)).total_tokens
    8
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    extra: dict[str, str] = {}

    @property
    def total_tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, kw_only=True)
class UsageLimit:
    """Bounds on a run; None means no bound. All must be positive.

    Checked after each model response, before its tools run. `request_input_tokens` bounds each request
    before it is sent and needs the agent's `counter`. `cost` is in the currency of the price table.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    requests: int | None = None
    tool_calls: int | None = None
    cost: float | None = None
    request_input_tokens: int | None = None
