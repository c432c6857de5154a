"""What a command goes on with: the newest conversation, the one that is named, or a copy of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from golem_cli.chat import lineage
from golem_cli.chat.memory import MemoryLibrary
from golem_cli.chat.session import utc_now
from golem_cli.cli.failures import WrongUsage
from golem_cli.cli.home import newest_conversation, open_store, tell_losses

if TYPE_CHECKING:
    from golem_cli.chat.ports import Library, Writer
    from golem_cli.cli.environment import Environment
    from golem_cli.core.conversation import Conversation


def newest(environment: Environment) -> str:
    """The id of the conversation that was changed last."""
    conversation_id = newest_conversation(environment)
    if conversation_id is None:
        raise WrongUsage("there is no conversation to continue yet; golem opens the first one")
    return conversation_id


def by_reference(
    reference: str, environment: Environment, *, trust: bool = False, salvage: bool | None = None
) -> str | Conversation:
    """The id of a conversation of the store, or a copy for the store of a file outside it.

    A file is never written: its sanitized copy goes into the store, and the same file leads there again.
    """
    from golem_cli.cli.sources import find_conversation

    conversation_id = find_conversation(reference, environment)
    if conversation_id and salvage:
        _salvage(conversation_id, environment)
    return conversation_id or _copy_of(Path(reference), environment, trust=trust, salvage=salvage)


def open_writer(conversation: str | Conversation, library: Library, environment: Environment) -> Writer:
    """Open what is kept, or keep the copy. In a library that keeps nothing, what is kept stays untouched."""
    if not isinstance(conversation, str):
        writer = library.create(conversation)
        writer.save()
        if writer.path is not None:
            environment.complain(
                f"golem: the file stays as it is; its copy is {conversation.conversation_id}"
            )
        return writer
    if isinstance(library, MemoryLibrary):
        found = open_store(environment).look(conversation)
        tell_losses(conversation, found.losses, environment)
        return library.create(found.conversation)
    writer = library.open(conversation)
    tell_losses(conversation, writer.losses, environment)
    return writer


def _salvage(conversation_id: str, environment: Environment) -> None:
    """Write a conversation of the store that is cut off without what was torn; its file stays beside it."""
    store = open_store(environment)
    if salvaged := store.look(conversation_id, salvage=True).salvaged:
        with store.open(conversation_id, salvage=True) as writer:
            environment.complain(f"golem: {conversation_id}: {salvaged}; the original is {writer.original}")


def _copy_of(
    path: Path, environment: Environment, *, trust: bool, salvage: bool | None
) -> str | Conversation:
    from golem_cli.cli.cleaning.sanitizing import about_copy
    from golem_cli.cli.sources import read_source
    from golem_cli.store.imports import note_import

    source = read_source(str(path), environment, salvage=salvage)
    if earlier := earlier_copy(path, source.original, environment, trust=trust):
        return earlier
    if source.transcript.salvaged:
        environment.complain(f"golem: {path}: {source.transcript.salvaged}")
    adopted = lineage.adopt(source.transcript, now=utc_now(), source=path.name, trust=trust)
    if adopted.report is not None:
        environment.complain(about_copy(source, adopted.report))
    return note_import(adopted.conversation, path, source.original)


def earlier_copy(path: Path, data: bytes, environment: Environment, *, trust: bool) -> str:
    """Return the id of the copy that the store has of the file at `path`, "" when there is none; say so.

    `data` is what the file holds now.
    """
    from golem_cli.store.imports import is_copy_of

    store = open_store(environment)
    earlier = store.copy_of(path)
    if earlier is None:
        return ""
    same = is_copy_of(store.read(earlier), path, data)
    anew = " the file has changed since," if not same else " --trust changes nothing in it;" if trust else ""
    hint = f";{anew} golem fork copies the file anew" if anew else ""
    environment.complain(f"golem: going on with the copy made earlier, {earlier}{hint}")
    return earlier
