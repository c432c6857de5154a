"""Sampling and length settings of a model; a module of its own because every start of the chat needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Sampling and length settings; None leaves the provider's default.

    `thinking` is `adaptive` (the model decides how much), `off`, or a budget of tokens; a model that cannot
    do as it says refuses it before the request, and an adapter whose format has no such setting ignores it.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    thinking: Literal["adaptive", "off"] | int | None = None
