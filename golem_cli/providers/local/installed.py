"""Whether the embedded engine can run here at all; a module of its own because every start asks."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from golem_cli.core.errors import ConfigurationError


def check_installed() -> None:
    """Raise `ConfigurationError` when the engine's package, or an interpreter to run it, is missing."""
    if find_spec("xllamacpp") is None:
        raise ConfigurationError(
            "the embedded model needs the package xllamacpp: install it with `pip install 'golem-cli[local]'`"
        )
    if not sys.executable:
        raise ConfigurationError("the embedded model needs Python's own program, which cannot be found here")
