"""The child process that runs llama.cpp; started by its path, it imports nothing of golem.

Protocol: one JSON line of parameters comes on stdin, one JSON line goes to stdout: `{"url": …}` when the
server listens, or `{"error": …}`. After that stdin says only one thing, by its end: the parent is gone.
Loading holds Python's global lock, so that no thread of ours runs meanwhile: on Linux the kernel is asked to
end this process with its parent; elsewhere it ends as soon as it has loaded.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PARENT_POLL_SECONDS = 1.0
_LOG_SECONDS = 0.2  # a thread of llama.cpp writes its log, and the cause is only there
_ERRORS_ONLY = 1  # llama.cpp's log levels: -1 nothing, 1 errors


def main() -> None:
    """Load the model, report, and serve until the parent is gone."""
    born_of = os.getppid()  # under a virtual environment on Windows not golem but its launcher
    parameters = json.loads(_read_line() or _exit(1))
    report = _take_stdout()
    _die_with_parent(parameters["parent"], bound=True)
    threading.Thread(target=_watch_stdin, daemon=True).start()
    try:
        server = _load(parameters)
    except ImportError as error:
        _answer(report, error=f"xllamacpp cannot be imported ({error})")
        _exit(1)
    except Exception as error:  # noqa: BLE001 (whatever it is, the parent tells the user)
        _answer(report, error=str(error))
        time.sleep(_LOG_SECONDS)
        _exit(1)
    # The signal comes when the *thread* that started us ends, which may be earlier than the process.
    _die_with_parent(parameters["parent"], bound=False)
    _answer(report, url=server.listening_address)
    while os.getppid() == born_of:  # stdin may be held open by a fork of the parent
        time.sleep(_PARENT_POLL_SECONDS)
    _exit(0)


def _load(parameters: dict[str, Any]) -> Any:
    """The running server. Its constructor loads the model and returns when it listens."""
    # OpenMP threads spin while they wait for one another. Where another process wants a core too, that made
    # answers thirty times slower (0.9 instead of 27 tokens/s): they sleep unless the user says otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = parameters["model"]
    wanted.model_alias = {parameters["name"]}  # else answers would name the path
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0  # it picks one
    wanted.api_keys = [parameters["key"]]
    wanted.endpoint_slots = wanted.endpoint_props = wanted.endpoint_metrics = wanted.ui = False
    wanted.cors_origins, wanted.cors_origins_explicit, wanted.cors_credentials = "", True, False
    wanted.verbosity = _ERRORS_ONLY  # they go to our stderr, which the parent keeps away from the screen
    wanted.n_ctx = parameters["context"]  # 0: all that the model was trained for
    wanted.n_parallel = 1
    wanted.n_batch = wanted.n_ubatch = parameters["batch"]
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = parameters["threads"]
    wanted.fit_params = parameters["fit"]
    for name, value in parameters["sampling"].items():
        setattr(wanted.sampling, name, value)
    wanted.cache_ram_mib, wanted.cache_idle_slots = 0, False  # else up to 8 GB hold earlier prompts
    return xllamacpp.Server(wanted)


def _read_line() -> bytes:
    """One line of stdin, without reading ahead."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 65536)
        if not piece:
            return b""
        line += piece
    return bytes(line)


def _take_stdout() -> int:
    """A descriptor of the parent's pipe that nothing else writes to: whatever prints goes nowhere."""
    pipe = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return pipe


def _answer(pipe: int, **fields: str) -> None:
    """Tell the parent, and close the pipe."""
    try:
        os.write(pipe, json.dumps(fields).encode() + b"\n")
        os.close(pipe)
    except OSError:
        _exit(1)  # nobody listens


def _watch_stdin() -> None:
    while os.read(0, 4096):
        pass
    _exit(0)


def _die_with_parent(parent: int, *, bound: bool) -> None:
    """On Linux, have the kernel kill this process when the thread that started it ends; or no longer."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if bound else 0, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        _exit(1)


def _exit(code: int) -> NoReturn:
    """End at once: the engine's threads are in no state that needs care."""
    os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    main()
