"""What to put before a command so that it has fewer rights than the tests, or mounts of its own."""

from __future__ import annotations

import os
import subprocess
from typing import Final

import pytest

_OWN_MOUNTS: Final = ("unshare", "--user", "--map-root-user", "--mount")
_UNPRIVILEGED: Final = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


def own_mounts() -> tuple[str, ...]:
    """Return what lets a program mount file systems which nobody else sees, and which end with it.

    Skips the test where the system lets us mount nothing.
    """
    if not _works(_OWN_MOUNTS):
        pytest.skip("this system lets us mount nothing")
    return _OWN_MOUNTS


def unprivileged() -> tuple[str, ...]:
    """Return what makes permissions hold for a program: nothing, unless the superuser runs the tests.

    Skips the test where they would not hold.
    """
    if os.geteuid():
        return ()
    if not _works(_UNPRIVILEGED):
        pytest.skip("permissions do not hold for the superuser, and setpriv is not here")
    return _UNPRIVILEGED


def _works(prefix: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
