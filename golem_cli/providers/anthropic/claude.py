"""What each Claude model takes: the longest answer, how it thinks, which sampling it has. A table.

Sources: Claude docs, "Models overview" and the pages of its models (platform.claude.com/docs/en/models),
"Context windows", "Thinking", "Thinking in tool and multi-turn workflows", "Migration guide" (sampling
parameters and prefill that newer models refuse), and "Structured outputs".
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Thinking = Literal["none", "budget", "either", "adaptive", "on", "always"]
"""How a model thinks: not at all; within a budget; either way; adaptively when asked; adaptively unless told
not to; adaptively whatever it is told."""

Sampling = Literal["free", "one", "none"]
"""Which of `temperature` and `top_p` may be set: both, one of them, none."""

ADAPTIVE: Final[frozenset[Thinking]] = frozenset({"either", "adaptive", "on", "always"})
BUDGETED: Final[frozenset[Thinking]] = frozenset({"budget", "either"})


class Claude(msgspec.Struct, frozen=True, kw_only=True):
    """A row: the `name` that a model's name holds, and what such a model takes.

    `max_tokens` is the longest answer in tokens, thinking included, `window` the context window, 0 when it is
    not known. `prefill` says whether a request may end with an assistant turn, `forced_tools` whether
    `tool_choice` may demand a call while it thinks adaptively.
    """

    name: str
    max_tokens: int
    thinking: Thinking
    sampling: Sampling = "none"
    prefill: bool = False
    forced_tools: bool = True
    window: int = 200_000


_LONG: Final = 1_000_000
"""Tokens of the longer window."""

_ROWS: Final[tuple[Claude, ...]] = (  # the longer name before the one that it holds
    Claude(name="claude-fable-5-1", max_tokens=128_000, thinking="always", forced_tools=False, window=_LONG),
    Claude(name="claude-mythos-5-1", max_tokens=128_000, thinking="always", forced_tools=False, window=_LONG),
    Claude(name="claude-fable", max_tokens=128_000, thinking="always", window=_LONG),
    Claude(name="claude-mythos", max_tokens=128_000, thinking="always", window=_LONG),
    Claude(name="claude-opus-5-5", max_tokens=128_000, thinking="always", forced_tools=False, window=_LONG),
    Claude(name="claude-sonnet-5-5", max_tokens=128_000, thinking="on", forced_tools=False, window=_LONG),
    Claude(name="claude-opus-4-8", max_tokens=128_000, thinking="adaptive", window=_LONG),
    Claude(name="claude-opus-4-7", max_tokens=128_000, thinking="adaptive", window=_LONG),
    Claude(name="claude-opus-4-6", max_tokens=128_000, thinking="either", sampling="one", window=_LONG),
    Claude(name="claude-sonnet-4-6", max_tokens=128_000, thinking="either", sampling="one", window=_LONG),
    Claude(name="claude-opus-4-5", max_tokens=64_000, thinking="budget", sampling="one", prefill=True),
    Claude(name="claude-sonnet-4-5", max_tokens=64_000, thinking="budget", sampling="one", prefill=True),
    Claude(name="claude-haiku-4-5", max_tokens=64_000, thinking="budget", sampling="one", prefill=True),
    Claude(name="claude-opus-4-1", max_tokens=32_000, thinking="budget", sampling="one", prefill=True),
    Claude(name="claude-opus-4", max_tokens=32_000, thinking="budget", sampling="free", prefill=True),
    Claude(name="claude-sonnet-4", max_tokens=64_000, thinking="budget", sampling="free", prefill=True),
    Claude(name="claude-3-7-sonnet", max_tokens=64_000, thinking="budget", sampling="free", prefill=True),
    Claude(name="claude-3-5", max_tokens=8192, thinking="none", sampling="free", prefill=True),
    Claude(name="claude-3", max_tokens=4096, thinking="none", sampling="free", prefill=True),
    Claude(name="claude-", max_tokens=128_000, thinking="on", window=_LONG),  # Opus 5, Sonnet 5, and newer
)

OTHER: Final = Claude(name="", max_tokens=8192, thinking="either", sampling="free", prefill=True, window=0)
"""A model of somebody else's behind the same format: nothing is known, so little is refused."""


def claude(model: str) -> Claude:
    """The row of `model`: a Claude that the table does not name is taken for one of the newest.

    >>> claude("claude-haiku-4-5-20251001").max_tokens, claude("kimi-k3") is OTHER
    (64000, True)
    """
    return next((row for row in _ROWS if row.name in model), OTHER)
