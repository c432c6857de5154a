"""Usage limits: bounds on what a run may use, checked after each response and before each request."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from golem_cli.core.errors import UsageLimitError
from golem_cli.core.run.active import ActiveRun
from golem_cli.core.run.ledger import Ledger
from golem_cli.core.usage import UsageLimit

_COST_DIGITS: Final = 12


def check_response(run: ActiveRun, requested_calls: int) -> None:
    """Raise `UsageLimitError` when the newest response crossed a bound; reaching one is no crossing.

    `requested_calls` are the calls of that response which would run now: they count, so that the bound on
    tool calls holds before the tools run.
    """
    limit = run.configuration.usage_limit
    if limit is None:
        return
    for kind, bound, used in _bounds(limit, run.ledger, requested_calls):
        if bound is not None and used is not None and not used <= bound:  # a cost that is no number crosses
            raise UsageLimitError(f"run exceeded the {kind} limit of {bound} (used {used})")


def _bounds(
    limit: UsageLimit, ledger: Ledger, requested_calls: int
) -> Iterator[tuple[str, float | None, float | None]]:
    yield "input token", limit.input_tokens, ledger.usage.input_tokens
    yield "output token", limit.output_tokens, ledger.usage.output_tokens
    yield "total token", limit.total_tokens, ledger.usage.total_tokens
    yield "request", limit.requests, ledger.requests
    yield "tool call", limit.tool_calls, ledger.tool_calls + requested_calls
    # Binary fractions do not add up as money does: 0.1 + 0.1 + 0.1 is above 0.3.
    yield "cost", limit.cost, None if ledger.cost is None else round(ledger.cost, _COST_DIGITS)


async def check_request(run: ActiveRun) -> None:
    """Raise `UsageLimitError` when the next request alone would carry more input tokens than allowed."""
    limit = run.configuration.usage_limit
    counter = run.configuration.counter
    if limit is None or limit.request_input_tokens is None or counter is None:
        return
    counted = counter(run.ledger.messages)
    tokens = await counted if inspect.isawaitable(counted) else counted
    if tokens > limit.request_input_tokens:
        raise UsageLimitError(
            f"the request would exceed the input token limit of {limit.request_input_tokens} "
            f"(counted {tokens})"
        )
