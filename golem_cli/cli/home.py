"""Where golem keeps its things for this environment: the store and the settings, opened for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.chat.ports import Library
    from golem_cli.cli.environment import Environment
    from golem_cli.store.paths import Paths
    from golem_cli.store.shelf import Shelf
    from golem_cli.store.store import Store
    from golem_cli.store.summary import Summary


_NAMED: Final = 3
"""Damaged conversations that a line names at most."""


def paths_of(environment: Environment) -> Paths:
    """Return the folders that the variables of `environment` name."""
    from golem_cli.store.paths import resolve_paths

    return resolve_paths(environment.variables)


def open_store(environment: Environment) -> Store:
    """Return the store of `environment`; it is made when something is first written."""
    from golem_cli.store.store import Store

    return Store(paths_of(environment).data)


def open_shelf(environment: Environment) -> Shelf:
    """Return the same conversations for a look at them: what writes is not loaded."""
    from golem_cli.store.shelf import Shelf

    return Shelf(paths_of(environment).data)


def newest_conversation(environment: Environment) -> str | None:
    """Return the id of the conversation changed last, None when there is none; say which were passed over.

    Those are damaged: who goes on with the newest one believes it to be another.
    """
    found, skipped = open_shelf(environment).newest_readable()
    if skipped:
        environment.complain(f"golem: {_passed_over(skipped)}{_goes_on_with(found)}")
    return found.conversation_id if found else None


def tell_losses(conversation_id: str, losses: str, environment: Environment) -> None:
    """Say what of a conversation could not be read, unless that is ""."""
    if losses:
        environment.complain(f"golem: {conversation_id}: {losses}")


def _passed_over(skipped: Sequence[Summary]) -> str:
    ids = ", ".join(each.conversation_id for each in skipped[:_NAMED])
    more = f" and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
    are = "is" if len(skipped) == 1 else "are"
    return f"skipped {ids}{more}, which {are} damaged (golem doctor says how)"


def _goes_on_with(found: Summary | None) -> str:
    from golem_cli.core.quote import quoted

    if found is None:
        return "; no other can be read"
    title = f" {quoted(found.title)}" if found.title else ""
    return f"; the newest that can be read is {found.conversation_id}{title}"


def open_library(environment: Environment, *, save: bool) -> Library:
    """Return where conversations live: the store, or memory for those that are not to be kept."""
    if save:
        return open_store(environment)
    from golem_cli.chat.memory import MemoryLibrary

    return MemoryLibrary()
