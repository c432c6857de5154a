"""What a turn costs, and how long a retry waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.price import Rates
from golem_cli.core.run import exponential_backoff, jittered
from golem_cli.core.usage import Usage


@pytest.mark.parametrize(
    ("rates", "cost"),
    [
        # 100k fresh at 3, 700k read at 0.3, 200k written at 3.75, 10k answered at 15
        (Rates(input=3, output=15, cache_read=0.3, cache_write=3.75), 0.3 + 0.21 + 0.75 + 0.15),
        (Rates(input=3, output=15), 3 + 0.15),
        (Rates(input=3, output=15, cache_read=0), 0.3 + 0.6 + 0.15),
        (Rates(input=0, output=0), 0),
    ],
)
def test_cached_tokens_are_part_of_the_input_and_cost_their_own_rate(rates: Rates, cost: float) -> None:
    usage = Usage(
        input_tokens=1_000_000, output_tokens=10_000, cache_read_tokens=700_000, cache_write_tokens=200_000
    )
    assert rates.cost(usage) == pytest.approx(cost)


def test_reasoning_is_part_of_the_output_and_costs_nothing_besides() -> None:
    rates = Rates(input=1, output=8)
    assert rates.cost(Usage(output_tokens=1_000_000, reasoning_tokens=900_000)) == 8


def test_a_provider_that_counts_more_cached_tokens_than_input_makes_nothing_negative() -> None:
    assert Rates(input=5, output=0, cache_read=1).cost(Usage(cache_read_tokens=1_000_000)) == 1


@given(st.integers(1, 50), st.floats(0, 1))
def test_jitter_only_lengthens_a_wait_and_by_no_more_than_its_share(attempt: int, share: float) -> None:
    least = exponential_backoff(attempt)
    assert least <= jittered(share)(attempt) <= least * (1 + share)


def test_jitter_spreads_waits() -> None:
    assert len({jittered(0.5)(1) for _ in range(20)}) > 1
    assert {jittered(0)(1) for _ in range(20)} == {0.5}
