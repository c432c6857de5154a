"""Every test: away from the real home folder and from addresses beyond loopback."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Weights are large and read-only: tests share the cache that `golem models fetch` filled before pytest began.
_WEIGHTS_CACHE = os.environ.get("GOLEM_CACHE")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder and a golem home of the test's own; no provider key of the person who runs the tests."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOLEM_", "XDG_")) or name.endswith(
            "_API_KEY"
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("GOLEM_HOME", str(folder / "golem"))
    if _WEIGHTS_CACHE:
        monkeypatch.setenv("GOLEM_CACHE", _WEIGHTS_CACHE)
    return folder


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
