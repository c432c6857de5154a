"""A real disk that refuses in mid-turn: full, read-only, out of descriptors, gone: the answer goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("POSIX limits and mounts", allow_module_level=True)

OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]
"""Runs a program that may mount file systems which nobody else sees, and which end with it."""
UNPRIVILEGED = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
"""Runs a program of the superuser for which permissions hold."""
ROOT = Path(__file__).parents[2]


def works(*command: str) -> bool:
    try:
        return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


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
    if not works(*OWN_MOUNTS):
        pytest.skip("this system lets us mount nothing")
    turn(fault, tmp_path / "golem", *OWN_MOUNTS)


@pytest.mark.parametrize("request_number", [1, 2], ids=["before the journal", "with an open journal"])
@pytest.mark.parametrize("fault", ["forbidden", "unsearchable", "closed", "home_closed"])
def test_an_answer_goes_on_where_permission_is_denied(
    tmp_path: Path, fault: str, request_number: int
) -> None:
    """A journal that is open is written on in a folder that was closed: that refuses nothing."""
    prefix = [] if os.geteuid() else UNPRIVILEGED
    if prefix and not works(*prefix):
        pytest.skip("permissions do not hold for the superuser, and setpriv is not here")
    outcome = "whole" if request_number == 1 else "served"
    turn(fault, tmp_path / "golem", *prefix, request=request_number, outcome=outcome)
