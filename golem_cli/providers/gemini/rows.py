"""What each Gemini model takes: the longest answer, how it thinks, sampling, signatures. A table.

Sources: Gemini API docs (ai.google.dev/gemini-api/docs), the pages of the models, "Gemini thinking" (budgets
and levels), "Thought signatures", "What's new in Gemini 3.6 Flash and 3.5 Flash-Lite" and "What's new in
Gemini 3.8 Flash" (sampling parameters without effect), "Structured outputs" (with tools since Gemini 3),
"Function calling" (media in function responses since Gemini 3).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Thinking = Literal["none", "budget", "always"]
"""How a model thinks: not at all; within a budget, as much as it likes by default; always as it likes."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row: the `name` that a model's name holds, and what such a model takes.

    `max_tokens` is the longest answer in tokens, thinking included, `window` the longest input; 0 when it is
    not known. `budgets` are the least and the most tokens of thinking; `off` says whether it can be left out.
    `sampling` says whether `temperature` and `top_p` have an effect. `signed` models refuse calls without a
    signature; they also take an output schema beside tools, and images in results.
    """

    name: str
    max_tokens: int
    thinking: Thinking
    budgets: tuple[int, int] = (0, 0)
    off: bool = False
    sampling: bool = True
    signed: bool = False
    window: int = 1_048_576


_ROWS: Final[tuple[Row, ...]] = (  # the longer name before the one that it holds
    Row(name="gemini-2.5-flash-image", max_tokens=32_768, thinking="none", window=0),
    Row(name="gemini-2.5-flash-lite", max_tokens=65_536, thinking="budget", budgets=(512, 24_576), off=True),
    Row(name="gemini-2.5-flash", max_tokens=65_536, thinking="budget", budgets=(1, 24_576), off=True),
    Row(name="gemini-2.5-pro", max_tokens=65_536, thinking="budget", budgets=(128, 32_768)),
    Row(name="gemini-2", max_tokens=8192, thinking="none"),
    Row(name="gemini-1", max_tokens=8192, thinking="none"),
    Row(name="gemini-3.5-flash-lite", max_tokens=65_536, thinking="always", sampling=False, signed=True),
    Row(name="gemini-3.5", max_tokens=65_536, thinking="always", signed=True),
    Row(name="gemini-3.1", max_tokens=65_536, thinking="always", signed=True),
    Row(name="gemini-3-", max_tokens=65_536, thinking="always", signed=True),
    Row(name="gemini-3", max_tokens=65_536, thinking="always", sampling=False, signed=True),
    Row(name="gemini-", max_tokens=0, thinking="always", sampling=False, signed=True),  # newer ones, aliases
)

OTHER: Final = Row(name="", max_tokens=0, thinking="none", window=0)
"""A model of another family behind the same format: nothing is known, so little is asked and refused."""


def row_of(model: str) -> Row:
    """The row of `model`: a Gemini that the table does not name is taken for one of the newest.

    >>> row_of("gemini-2.5-flash-lite").budgets, row_of("gemma-4-31b-it") is OTHER
    ((512, 24576), True)
    """
    return next((row for row in _ROWS if row.name in model), OTHER)
