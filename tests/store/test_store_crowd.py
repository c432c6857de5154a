"""Processes that add to and fork the same conversations: no update is lost, no file torn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.crowds import crowd


@pytest.mark.parametrize(("processes", "conversations"), [(2, 1), (8, 3)])
def test_a_crowd_loses_and_doubles_nothing(tmp_path: Path, processes: int, conversations: int) -> None:
    """For a second; `benchmarks/crowd.py` does it for a minute."""
    added, _ = crowd(tmp_path, processes=processes, seconds=1, conversations=conversations)
    assert added >= processes
