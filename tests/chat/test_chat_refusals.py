"""A real disk that refuses in mid-turn: full, read-only, out of descriptors, gone: the answer goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.rights import own_mounts, unprivileged

if sys.platform == "win32":
    pytest.skip("POSIX limits and mounts", allow_module_level=True)

ROOT = Path(__file__).parents[2]


def turn(fault: str, folder: Path, *prefix: str, request: int = 1, outcome: str = "whole") -> None:
    """A turn in a process of its own, which holds it against the promise."""
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "tests.support.faulty_turn", fault, str(folder), str(request)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == (f"{outcome}\n", 0), done.stderr


@pytest.mark.parametrize("fault", ["too_large", "descriptors", "vanished"])
def test_an_answer_goes_on_and_is_saved_in_the_end(tmp_path: Path, fault: str) -> None:
    """No byte more for any file; no descriptor left; the folder gone and a file in its place."""
    turn(fault, tmp_path / "golem")


@pytest.mark.parametrize("fault", ["full", "read_only"])
def test_an_answer_goes_on_where_the_file_system_refuses(tmp_path: Path, fault: str) -> None:
    """A tmpfs of 64 KiB, filled to its last page or mounted anew for reading only."""
    turn(fault, tmp_path / "golem", *own_mounts())


@pytest.mark.parametrize("request_number", [1, 2], ids=["before the journal", "with an open journal"])
@pytest.mark.parametrize("fault", ["forbidden", "unsearchable", "closed", "home_closed"])
def test_an_answer_goes_on_where_permission_is_denied(
    tmp_path: Path, fault: str, request_number: int
) -> None:
    """A journal that is open is written on in a folder that was closed: that refuses nothing."""
    outcome = "whole" if request_number == 1 else "served"
    turn(fault, tmp_path / "golem", *unprivileged(), request=request_number, outcome=outcome)
