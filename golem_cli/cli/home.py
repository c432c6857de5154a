"""Where golem keeps its things for this environment: the store and the settings, opened for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golem_cli.chat.ports import Library
    from golem_cli.cli.environment import Environment
    from golem_cli.store.paths import Paths
    from golem_cli.store.store import Store


def paths_of(environment: Environment) -> Paths:
    """Return the folders that the variables of `environment` name."""
    from golem_cli.store.paths import resolve_paths

    return resolve_paths(environment.variables)


def open_store(environment: Environment) -> Store:
    """Return the store of `environment`; it is made when something is first written."""
    from golem_cli.store.store import Store

    return Store(paths_of(environment).data)


def open_library(environment: Environment, *, save: bool) -> Library:
    """Return where conversations live: the store, or memory for those that are not to be kept."""
    if save:
        return open_store(environment)
    from golem_cli.chat.memory import MemoryLibrary

    return MemoryLibrary()
