"""Every test: away from the real home folder and from addresses beyond loopback."""

from __future__ import annotations

import ipaddress
import os
import socket
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from golem_cli.providers.local import weights_path
from golem_cli.store.paths import resolve_paths

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Where `golem models fetch` put the weights before pytest began; read here, before any test moves home.
_FETCHED = weights_path(resolve_paths(os.environ).cache)

# A machine that is busy fails no test: of Hypothesis' own limits those that look at a clock are off.
settings.register_profile("golem", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("golem")

_FOREIGN = ("OPENAI_", "ANTHROPIC_", "GEMINI_", "AZURE_", "AWS_", "GOLEM_", "XDG_")
"""How variables begin that would lead a test to what belongs to the person who runs it."""
_SIZE = ("COLUMNS", "LINES")
"""They overrule the size of each terminal; Python's `readline` sets them for what its process starts."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for a core, since tests wait as long as they work; none for files that are named."""
    if any(".py" in argument for argument in config.args):
        return 0
    return min(2 * (os.cpu_count() or 1), 8)


@pytest.fixture(scope="session")
def weights_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder of the tests' own that leads to the fetched weights, which are large and read-only."""
    cache = tmp_path_factory.mktemp("cache")
    if _FETCHED.is_file():
        weights_path(cache).symlink_to(_FETCHED)
    return cache


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Paths of home folders to come; pytest reads all its folders before it makes one, so these are apart."""
    parent = tmp_path_factory.mktemp("homes")
    return (parent / str(number) for number in count(1))


@pytest.fixture(autouse=True)
def away(homes: Iterator[Path], weights_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test's home would be, golem's in it; no provider key of the person who runs the tests."""
    folder = next(homes)
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name.endswith("_API_KEY") or name in _SIZE:
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # nor is the machine asked for credentials
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("GOLEM_HOME", str(folder / "golem"))
    monkeypatch.setenv("GOLEM_CACHE", str(weights_cache))
    return folder


@pytest.fixture
def home(away: Path) -> Path:
    """A home folder of the test's own. Most tests need none, and thousands of folders take their time."""
    away.mkdir(mode=0o700)
    return away


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but loopback fails the test."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def check(address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host and host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise AssertionError(f"a test tried to leave loopback: {host}")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        check(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        check(address)
        return connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
