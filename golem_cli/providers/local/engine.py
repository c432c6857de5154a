"""The embedded engine seen from golem: a child process, its readiness, its death, its restart.

The child is started by `start` and awaited by `ready`, from whatever event loop asks. Nothing secret is on
its command line or in its environment: parameters and key go through its stdin.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from golem_cli.core.errors import ConfigurationError, GolemError, ModelError
from golem_cli.providers.local.gguf import check_gguf
from golem_cli.providers.local.installed import check_installed

_CHILD: Final = Path(__file__).with_name("child.py")
_LARGE: Final = 1024**3
_ALL_CORES_UP_TO: Final = 4
_LOG_TAIL: Final = 16 * 1024
_CAUSES: Final = ("error loading model:", "failed to initialize the context:")
"""What stands before the cause in llama.cpp's log."""


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """What the engine loads and how.

    `name` is what its answers call the model. `batch` tokens of a prompt are evaluated between two looks at
    whether the client is still there: less stops sooner, more is faster. `threads` 0 means as many as suit
    this machine. `context` 0 means the whole window of the model. `sampling` replaces llama.cpp's defaults,
    by the names that it uses.
    """

    path: Path
    name: str
    batch: int = 128
    threads: int = 0
    context: int = 0
    sampling: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a started engine listens, and the key of this start. The key is not shown."""

    url: str
    key: str = field(repr=False)


class _Child:
    """One process: started when made, its outcome in `outcome`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.outcome: Future[Address] = Future()
        self.outcome.set_running_or_notify_cancel()  # a request that is cancelled must not cancel the loading
        self.path = settings.path
        self._key = secrets.token_urlsafe(32)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self.process = _spawn(self._log)
        self._tell(settings)
        threading.Thread(target=self._await_report, name="golem-engine", daemon=True).start()

    def _tell(self, settings: EngineSettings) -> None:
        parameters = {
            "model": str(settings.path),
            "name": settings.name,
            "key": self._key,
            "parent": os.getpid(),
            "batch": settings.batch,
            "context": settings.context,
            "sampling": dict(settings.sampling),
            "threads": settings.threads or sensible_threads(usable_cores()),
            "fit": settings.path.stat().st_size
            > _LARGE,  # a second pass over the model; small ones always fit
        }
        assert self.process.stdin is not None  # noqa: S101 (asked for in _spawn)
        with suppress(OSError):  # it has ended: `_await_report` says how
            self.process.stdin.write(json.dumps(parameters).encode() + b"\n")
            self.process.stdin.flush()

    def _await_report(self) -> None:
        assert self.process.stdout is not None  # noqa: S101 (asked for in _spawn)
        with self.process.stdout as pipe:
            line = pipe.readline()
        try:
            report = json.loads(line or b"{}")
        except ValueError:
            report = {}
        if url := report.get("url"):
            self.outcome.set_result(Address(url=url, key=self._key))
            return
        code = self.process.wait()
        self.outcome.set_exception(self._failure(report.get("error", ""), code))

    def _failure(self, error: str, code: int) -> GolemError:
        if error:
            return ConfigurationError(f"{self.path}: cannot be loaded: {self._reason() or error}")
        return ModelError(
            f"the embedded engine ended while it loaded {self.path} ({how(code)})", retryable=True
        )

    def _reason(self) -> str:
        try:
            size = self._log.seek(0, os.SEEK_END)
            self._log.seek(max(0, size - _LOG_TAIL))
            return reason_in(self._log.read().decode("utf-8", "replace"))
        except (OSError, ValueError):
            return ""

    def stop(self) -> None:
        """End the process, whatever it is doing, and wait until it is gone: it has nothing to save."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with suppress(OSError):  # a line that it never read
                self.process.stdin.close()
        self._log.close()


class Engine:
    """The engine of one model file. At most one child lives at a time; a dead one is replaced when needed."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._child: _Child | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the child unless it runs or is loading; returns at once.

        Raises `ConfigurationError` when the file is no model, or xllamacpp is not installed.
        """
        with self._lock:
            if self._child is not None:
                if self._child.process.poll() is None:
                    return
                self._child.stop()
                self._child = None
            check_gguf(self._settings.path)
            check_installed()
            self._child = _Child(self._settings)

    async def ready(self) -> Address:
        """Start if need be, and return the address once the model is loaded.

        Cancelling returns at once; loading goes on. Raises `ConfigurationError` for a model that cannot be
        loaded, `ModelError` when the child died.
        """
        import asyncio

        self.start()
        child = self._child
        if child is None:
            raise ModelError("the embedded engine was closed", retryable=True)
        return await asyncio.wrap_future(child.outcome)

    def death(self) -> str:
        """How the child ended, in words; empty while it lives or when there is none."""
        child = self._child
        code = child.process.poll() if child is not None else None
        return "" if code is None else how(code)

    @property
    def pid(self) -> int | None:
        """The child's process id; None when there is no child."""
        return self._child.process.pid if self._child is not None else None

    def stop(self) -> None:
        """End the child, if any."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.stop()


def _spawn(log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the child: no descriptor of ours but the three, no terminal, no signal from a terminal's keys."""
    new_group: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # Windows has these two,
    no_window: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        return subprocess.Popen(  # noqa: S603 (our own interpreter and our own file)
            [sys.executable, "-P", str(_CHILD)],  # -P: a file in the working folder is never imported
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            creationflags=new_group | no_window,
            start_new_session=True,  # … POSIX this
        )
    except OSError as error:
        raise ModelError(f"the embedded engine cannot be started ({error.strerror or error})") from error


def reason_in(log: str) -> str:
    """Return what llama.cpp logged as the cause of a start that failed, and what to do; "" when it did not.

    >>> reason_in("0.01 E llama_model_load: error loading model: mmap failed: Cannot allocate memory")
    'mmap failed: Cannot allocate memory; close other programs, or choose a smaller model'
    """
    for line in log.splitlines():
        for mark in _CAUSES:
            reason = " ".join(line.partition(mark)[2].split())[:300]
            if "failed to load model from" in reason:  # the path again, and no cause
                return "its header is damaged or cut off; download the model again"
            if "allocate" in reason:
                return f"{reason}; close other programs, or choose a smaller model"
            if reason:
                return reason
    return ""


def usable_cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def sensible_threads(cores: int) -> int:
    """How many threads compute: all of few cores, half of many, which are usually two to a physical one.

    >>> [sensible_threads(cores) for cores in (1, 2, 4, 6, 16)]
    [1, 2, 4, 4, 8]
    """
    return cores if cores <= _ALL_CORES_UP_TO else max(_ALL_CORES_UP_TO, cores // 2)


def how(code: int) -> str:
    """How a process with the return code `code` ended.

    >>> how(-9), how(3)
    ('killed by SIGKILL', 'exit code 3')
    """
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
