"""The store: one folder, one JSON file for each conversation; read, open, rename and delete them."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.conversation import FORMAT_VERSION, Conversation
from golem_cli.core.errors import (
    ConversationChanged,
    ConversationNotFound,
    GolemError,
    NewerFormatError,
    StoreError,
    TranscriptError,
)
from golem_cli.core.identity import is_canonical_uuid, new_id
from golem_cli.store.changes import mark_crashed
from golem_cli.store.failures import store_errors
from golem_cli.store.loading import SUFFIXES, journal_path_of, load
from golem_cli.store.lock import ConversationLock, holder_of, is_held
from golem_cli.store.obstacles import is_there
from golem_cli.store.originals import newest_original, undo
from golem_cli.store.shelf import Shelf
from golem_cli.store.times import Clock, rfc3339, system_clock
from golem_cli.store.writer import ConversationWriter, keep_journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golem_cli.store.loading import Loaded
    from golem_cli.store.trash import Trash


class Store(Shelf):
    """The conversations under a data folder, to read and to write.

    Beside what a `Shelf` knows, `root/trash` holds what was deleted; nothing leaves it by itself. Folders are
    made when first needed.
    """

    def __init__(self, root: Path, *, clock: Clock = system_clock) -> None:
        super().__init__(root)
        self.trash = root / "trash"
        self._clock = clock

    def create(self, conversation: Conversation | None = None) -> ConversationWriter:
        """Return a writer for a new conversation; nothing is on disk until its first run begins or `save`.

        An id that is no canonical UUID gives way to a fresh one, and is kept as `forked_from`.
        """
        new = _with_file_name(conversation or Conversation())
        path = self.path_of(new.conversation_id)
        if self._is_kept(path):
            raise ConversationChanged(
                f"conversation {new.conversation_id} exists already; open it, or fork it"
            )
        now = rfc3339(self._clock())
        new = msgspec.structs.replace(
            new, created_at=new.created_at or now, updated_at=new.updated_at or now, version=FORMAT_VERSION
        )
        return ConversationWriter(path, new, self._lock(new.conversation_id), self._clock)

    def open(self, conversation_id: str, *, salvage: bool = False) -> ConversationWriter:
        """Return the writer of a kept conversation, its journal folded and its crashed runs marked as such.

        With `salvage` a file that is cut off is written again without what was torn, itself kept beside it.
        Raises `ConversationNotFound`, `ConversationLocked`, `NewerFormatError`, `TranscriptError` or
        `StoreError`.
        """
        path = self.path_of(conversation_id)
        self._must_exist(conversation_id)
        lock = self._lock(conversation_id)
        lock.acquire()
        try:
            loaded = load(path, salvage=salvage)
            _refuse_newer(path, loaded.conversation)
            conversation = mark_crashed(loaded.conversation)
            writer = ConversationWriter(path, conversation, lock, self._clock)
            writer.adopt(loaded, conversation)
        except BaseException:  # a Ctrl-C too gives the lock back
            lock.release()
            raise
        return writer

    def read(self, conversation_id: str) -> Conversation:
        """Return the conversation as it is now, also while another process writes it.

        A run that nobody works on any more shows as failed, stage `crashed`; the file stays as it is.
        """
        return self.look(conversation_id).conversation

    def look(self, conversation_id: str, *, salvage: bool = False) -> Loaded:
        """Read a conversation as `read` does; also return what of it is not there, or was salvaged.

        With `salvage` a file that is cut off gives what precedes the cut.
        """
        loaded = load(self._existing(conversation_id), salvage=salvage)
        seen = self._seen(conversation_id, loaded.conversation)
        return msgspec.structs.replace(loaded, conversation=seen)

    def holder(self, conversation_id: str) -> str:
        """Say which process writes the conversation now, "" when none does. The words are untrusted."""
        held = is_held(self._locks, conversation_id)
        return holder_of(self._locks, conversation_id) if held else ""

    def rename(self, conversation_id: str, title: str) -> str:
        """Give the conversation another title. White space becomes single spaces; empty is refused.

        Return what of the conversation could not be read, in one line; "" for nothing.
        """
        line = " ".join(title.split())
        if not line:
            raise StoreError("a title needs at least one character")
        with self.open(conversation_id) as writer:
            writer.update(title=line)
            return writer.losses

    def delete(self, conversation_id: str) -> Path:
        """Move the conversation to the trash, damaged or not, and return where it is now.

        Whatever bears its name goes there, as it is: a folder, a pipe, or a link, which is not followed. But
        the journal of another conversation, which may be all that is left of that, is set aside.
        Raises `ConversationNotFound`, `ConversationLocked` or `StoreError`.
        """
        path = self.path_of(conversation_id)
        self._must_exist(conversation_id)
        with self._held(conversation_id):
            _set_foreign_aside(path)
            with store_errors("move to the trash", path):
                return self.deleted.put(path)

    @property
    def deleted(self) -> Trash:
        """What is in the trash."""
        from golem_cli.store.trash import Trash

        return Trash(self.trash, self.conversations, self._lock)

    def empty_trash(self) -> int:
        """Erase what is in the trash, and the index, which may have words of it; return how many it was."""
        try:
            return self.deleted.empty()
        finally:  # also when something stays
            self._catalogue().forget_words()

    def undo(self, conversation_id: str) -> Path:
        """Bring back the newest copy that `ConversationWriter.replace(…, backup=True)` kept.

        What the conversation is now is kept too; its path is returned.
        """
        path = self._existing(conversation_id)
        with store_errors("look for the original of", path):
            if not newest_original(path):
                raise StoreError(f"there is nothing to undo for conversation {conversation_id}")
        with suppress(TranscriptError), self.open(conversation_id):  # folds: what is kept is one file then
            return undo(path, journal=journal_path_of(path))
        with self._held(conversation_id):  # it cannot be read, and is kept as it is, with its journal
            return undo(path, journal=journal_path_of(path))

    def path_of(self, conversation_id: str) -> Path:
        """Return where the conversation's file is or would be. Only a canonical UUID names one."""
        if not is_canonical_uuid(conversation_id):
            from golem_cli.core.quote import quoted

            raise ConversationNotFound(f"{quoted(conversation_id)} is no conversation id")
        return self.conversations / f"{conversation_id}.json"

    def _seen(self, conversation_id: str, conversation: Conversation) -> Conversation:
        crashed = mark_crashed(conversation)
        if crashed is conversation or is_held(self._locks, conversation_id):
            return conversation
        return crashed

    def _existing(self, conversation_id: str) -> Path:
        self._must_exist(conversation_id)
        return self.path_of(conversation_id)

    def _must_exist(self, conversation_id: str) -> None:
        if not self._is_kept(self.path_of(conversation_id)):
            raise ConversationNotFound(f"there is no conversation {conversation_id}")

    @staticmethod
    def _is_kept(path: Path) -> bool:
        """Whether anything bears the name, as lists see it: also what cannot be read, such as a folder."""
        with store_errors("look at", path):
            return any(is_there(path.with_suffix(suffix)) for suffix in SUFFIXES)

    @contextmanager
    def _held(self, conversation_id: str) -> Iterator[None]:
        """Keep other writers of the conversation away."""
        lock = self._lock(conversation_id)
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _lock(self, conversation_id: str) -> ConversationLock:
        return ConversationLock(self._locks, conversation_id, since=rfc3339(self._clock()))


def _set_foreign_aside(path: Path) -> None:
    journal = journal_path_of(path)
    if not journal.is_file():
        return
    try:
        loaded = load(path)
    except GolemError:
        return  # what cannot be read goes as it is
    if loaded.foreign:
        keep_journal(journal, loaded)


def _with_file_name(conversation: Conversation) -> Conversation:
    if is_canonical_uuid(conversation.conversation_id):
        return conversation
    return msgspec.structs.replace(
        conversation,
        conversation_id=new_id(),
        forked_from=conversation.conversation_id or conversation.forked_from,
    )


def _refuse_newer(path: Path, conversation: Conversation) -> None:
    if conversation.version > FORMAT_VERSION:
        raise NewerFormatError(
            f"{path} was written by a newer golem (format {conversation.version}): it can be read, "
            f"not written; fork it or update golem"
        )
