"""Leaves a journal as a process does that was killed: with what nobody has folded into a file yet."""

from __future__ import annotations

from golem_cli.core.message import Message
from golem_cli.store.store import Store
from golem_cli.store.writer import ConversationWriter


def leave_journal(writer: ConversationWriter) -> bytes:
    """Let go of a conversation as if killed: file and journal stay as they are. Return the journal."""
    file, journal = writer.path, writer.path.with_suffix(".journal")
    written, journaled = file.read_bytes(), journal.read_bytes()
    writer.close()
    file.write_bytes(written)
    journal.touch(mode=0o600)  # as golem makes it
    journal.write_bytes(journaled)
    return journaled


def journal_of_another(store: Store, message: Message) -> tuple[str, bytes]:
    """Begin one more conversation; return its id, and its journal from when it had just that message."""
    with store.create() as writer:
        writer.save()
        writer.add_message(message)
        return writer.path.stem, writer.path.with_suffix(".journal").read_bytes()
