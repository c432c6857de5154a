"""The one who writes a conversation: every change is on disk before the call returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import msgspec

from golem_cli.core.errors import ConversationChanged, StoreError
from golem_cli.store.atomic import (
    discard_leftovers,
    discarded_on_error,
    keep_original,
    make_folder,
    put_in_place,
    read_regular,
    revision_of,
    write_aside,
)
from golem_cli.store.changes import (
    Change,
    Described,
    Draft,
    MessageAdded,
    PartialText,
    RunPut,
    entry_of,
    mark,
    prelude_of,
)
from golem_cli.store.failures import store_errors
from golem_cli.store.file_identity import Identity, identity_of
from golem_cli.store.journal import JournalFile
from golem_cli.store.loading import Loaded, journal_path_of
from golem_cli.store.originals import DAMAGED, FOREIGN, ORIGINAL, ORPHANED, refuse_misread
from golem_cli.store.times import Clock, later, rfc3339
from golem_cli.store.titles import title_from

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
    from golem_cli.core.message import Message
    from golem_cli.store.journal import Entry
    from golem_cli.store.lock import ConversationLock

_FOLD_ABOVE = 1 << 20
"""A journal of more bytes than this, and than half of its file, is folded when a run ends."""


class ConversationWriter:
    """A conversation held for writing. `Store.create` and `Store.open` make them; close it, or use `with`.

    A call that cannot save raises `StoreError` and changes nothing, in memory or on disk: the same call can
    be made again later. `ConversationChanged` means that somebody edited the file meanwhile; what was
    journaled stays in the journal, and the next `Store.open` brings both together.
    """

    def __init__(self, path: Path, conversation: Conversation, lock: ConversationLock, clock: Clock) -> None:
        self.path = path
        self._draft = Draft(conversation)
        self._lock = lock
        self._clock = clock
        self._revisions = {""}
        self._identity: Identity = None
        self._saved = False
        self._journal: JournalFile | None = None
        self._closed = False
        self.original: Path | None = None
        """Where the file is kept that was cut off, when opening it salvaged the rest."""
        self.losses = ""
        """What opening it could not read, and where that is kept, in one line; "" for nothing."""

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now, saved or not."""
        return self._draft.conversation

    @property
    def saved(self) -> bool:
        """Whether the conversation is on disk. A new one is not, until its first run or `save`."""
        return self._saved

    def adopt(self, loaded: Loaded, conversation: Conversation) -> None:
        """Go on from the disk; `conversation` is that with its crashed runs marked. For `Store.open`."""
        self._draft = Draft(conversation)
        self._revisions, self._identity = {loaded.revision}, loaded.identity
        self._saved = True
        leftover = journal_path_of(self.path)
        if loaded.losses:
            self.losses = f"{loaded.losses}; the journal is kept as {keep_journal(leftover, loaded)}"
        if loaded.salvaged:
            with store_errors("keep a copy of", self.path):
                self.original = keep_original(
                    self.path, suffix=ORIGINAL, journal=leftover if loaded.journaled else None
                )
        if loaded.journaled:
            # without a prelude: its own marks tell what it changes
            self._journal = JournalFile(leftover, size=loaded.journal_size)
        if loaded.journaled or loaded.salvaged or conversation != loaded.conversation:
            self._rewrite(conversation)
        discard_leftovers(self.path)  # a process that died while it wrote left one

    def begin_run(self, run: RunRecord, *, after: Conversation | None = None) -> None:
        """Record that a run begins. Its prompt is on disk when this returns, and titles an untitled chat.

        With `after`, that is kept instead of the conversation as it is, with the same write.
        """
        title = self._draft.about.title or title_from(run.prompt)
        if after is not None or not self._saved:
            at = self._now()
            draft = Draft(msgspec.structs.replace(after or self.conversation, title=title))
            draft.apply(RunPut(run), at)
            self._rewrite(draft.conversation)
        elif title != self._draft.about.title:
            self._record(
                Described(msgspec.structs.replace(self._draft.about, title=title)),
                RunPut(run),
            )
        else:
            self._record(RunPut(run))

    def add_message(self, message: Message) -> None:
        """Append one message of the conversation; on disk when this returns."""
        self._record(MessageAdded(message))

    def note_partial(self, run_id: str, text: str) -> None:
        """Keep the whole text streamed so far of a run's open turn. Written, but not forced to the disk.

        How often is the caller's choice; only what is new since the last call is written.
        """
        run = self._draft.run(run_id)
        if run is None:
            raise StoreError(f"cannot keep the text of run {run_id}: the conversation has no such run")
        known = run.partial_text
        if text == known:
            return
        start = len(known) if text.startswith(known) else 0
        self._record(PartialText(run_id, start, text[start:]), sync=False)

    def end_run(self, run: RunRecord) -> None:
        """Record how a run ended: the whole record, which takes the place of the one with its id."""
        self._record(RunPut(run))
        if self._journal is not None and self._journal.size > max(_FOLD_ABOVE, self._file_size() // 2):
            self._fold_if_possible()

    def update(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
        settings: ConversationSettings | None = None,
    ) -> None:
        """Change what is given. In a conversation that was never saved this stays in memory for now."""
        given = {"title": title, "model": model, "instructions": instructions, "settings": settings}
        changes = {name: value for name, value in given.items() if value is not None}
        about = msgspec.structs.replace(self._draft.about, **changes)
        if about == self._draft.about:
            return
        if self._saved:
            self._record(Described(about))
        else:
            self._draft.apply(Described(about), self._now())

    def replace(self, conversation: Conversation, *, backup: bool = False) -> Path | None:
        """Rewrite the conversation, after a repair or a rewind. Its id cannot change.

        With `backup` the file as it was is kept beside it, with all that the journal holds, and its path
        returned.
        """
        if conversation.conversation_id != self.conversation.conversation_id:
            raise StoreError("a conversation cannot change its id; fork it instead")
        kept = None
        at = later(self._now(), conversation.updated_at)
        new = msgspec.structs.replace(conversation, updated_at=at)
        if backup and self._saved:
            self._refuse_misread(new)
            if self._journal is not None:
                self._rewrite(self.conversation)
            with store_errors("keep a copy of", self.path):
                kept = keep_original(self.path, suffix=ORIGINAL)
        self._rewrite(new)
        return kept

    def save(self) -> None:
        """Bring everything into the JSON file, one that was never saved too."""
        self._check_open()
        if not self._saved or self._journal is not None:
            self._rewrite(self.conversation)

    def close(self) -> None:
        """Fold the journal into the file and let the conversation go.

        It is let go even when the fold fails: then everything is still in the journal.
        """
        if self._closed:
            return
        try:
            if self._journal is not None:
                self._rewrite(self.conversation)
        finally:
            self._closed = True
            self._close_journal()
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except StoreError as unsaved:
            if error is None:
                raise
            error.add_note(str(unsaved))  # what ended the block, a cancellation perhaps, matters more

    def _record(self, *changes: Change, sync: bool = True) -> None:
        self._check_open()
        at = self._now()
        entries = [entry_of(change, at) for change in changes]
        with store_errors("save", self.path):
            if not self._append(entries, at, sync=sync):  # the journal is gone, with all that it had
                self._close_journal()
                self._saved = False
                self._append(entries, at, sync=sync)
        for change in changes:
            self._draft.apply(change, at)

    def _append(self, entries: list[Entry], at: str, *, sync: bool) -> bool:
        if self._journal is None and identity_of(self.path) is None:
            self._saved = False  # new, or taken away by somebody: a journal alone would not have it all
        if not self._saved:
            self._rewrite(self.conversation)
        return self._open_journal(at).append(entries, sync=sync)

    def _open_journal(self, at: str) -> JournalFile:
        if self._journal is None:
            prelude = prelude_of(self._draft, self._revisions, at)
            self._journal = JournalFile(journal_path_of(self.path), prelude=prelude)
        return self._journal

    def _close_journal(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _rewrite(self, conversation: Conversation) -> None:
        """Make `conversation` the whole content of the file, then drop the journal.

        A crash before the rename leaves file and journal as they were; one after it leaves a journal whose
        last mark names the new file, so that nothing in it counts any more.
        """
        from golem_cli.core.codec import dump_conversation

        self._check_open()
        self._lock.acquire()
        data = dump_conversation(conversation)
        revision = revision_of(data)
        with store_errors("save", self.path):
            make_folder(self.path.parent)
            self._check_unchanged()
            temporary = write_aside(self.path, data)
            with discarded_on_error(temporary):
                if self._journal is not None:
                    self._journal.append([mark(revision, self._now())])
            self._revisions.add(revision)  # from here on either of them may be on disk
            put_in_place(temporary, self.path)
            self._revisions, self._identity = {revision}, identity_of(self.path)
        if self._journal is not None:
            self._journal.drop()
            self._journal = None
        self._draft, self._saved = Draft(conversation), True

    def _refuse_misread(self, conversation: Conversation) -> None:
        from golem_cli.core.codec import dump_conversation

        refuse_misread(self.path, dump_conversation(conversation), conversation.messages)

    def _check_unchanged(self) -> None:
        """Refuse to replace a file that is not the one we know. One that was removed loses nothing."""
        identity = identity_of(self.path)
        if identity in {None, self._identity}:
            return
        if revision_of(read_regular(self.path)) not in self._revisions:
            raise ConversationChanged(
                f"{self.path} was changed by somebody else; nothing was overwritten: "
                "open it again to have both"
            )

    def _fold_if_possible(self) -> None:
        try:
            self._rewrite(self.conversation)
        except StoreError:
            return  # what was asked is in the journal already; `close` folds again, and says what is wrong

    def _file_size(self) -> int:
        return self._identity[1] if self._identity else 0

    def _now(self) -> str:
        return rfc3339(self._clock())

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"conversation {self.path.stem} was closed; open it again to change it")


def keep_journal(path: Path, loaded: Loaded) -> Path:
    """Keep a journal that does not say what it should, and return where; a foreign one is moved there."""
    with store_errors("keep", path):
        if loaded.foreign:
            kept = keep_original(path, suffix=FOREIGN)
            path.unlink()
            return kept
        return keep_original(path, suffix=DAMAGED if loaded.damaged else ORPHANED, copied=True)
