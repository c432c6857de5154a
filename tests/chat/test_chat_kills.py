"""A chat with tools, killed at 44 moments: every prompt and every completed step is there, and it goes on.

`benchmarks/kills.py` does this more than 500 times, the whole program and the embedded model among them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

if sys.platform == "win32":
    pytest.skip("fork and SIGKILL are POSIX's", allow_module_level=True)

from tests.support.kills import MOMENTS, Killer

SEEDS = range(11)


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    with Killer(tmp_path_factory.mktemp("golem")) as killer:
        yield killer


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_chat_has_all_that_the_world_has_seen_of_it_and_goes_on(
    killer: Killer, moment: str, seed: int
) -> None:
    """Killed a few milliseconds after a prompt, a fragment, the beginning of a tool or that of a fold."""
    killer.kill(moment, random.Random(f"{moment} {seed}"))  # noqa: S311 (a seed, no secret)
