"""A conversation as the disk has it: its file and its journal, read together and without a lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ConversationNotFound, CutTranscriptError, StoreError, TranscriptError
from golem_cli.store.atomic import read_regular, revision_of
from golem_cli.store.failures import store_errors
from golem_cli.store.file_identity import identity_of
from golem_cli.store.journal import decode
from golem_cli.store.replay import owner_of, replay

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.core.conversation import Conversation
    from golem_cli.store.file_identity import Identity

SUFFIXES: Final = (".json", ".journal")
"""What a conversation is on disk: its file and its journal, the one without the other at times."""

_BEGINNING: Final = b'{"golem":'
"""How every file that golem writes begins."""

_TRIES = 20
"""A file that is replaced more often than this while we read it once is not ours to read."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """What the disk has.

    `salvaged` is "" or one sentence that says what of the file was cut off.
    `revision` and `identity` are the file's ("" and None when there is only a journal). `journaled` tells
    that there is a journal, `journal_size` its bytes, `damaged` how many of its entries could not be used,
    `torn` that its last one was never completed. `foreign` is the id of the conversation whose journal lies
    there instead, "" for none: nothing of it counts.
    """

    conversation: Conversation
    revision: str
    identity: Identity
    journaled: bool
    journal_size: int
    damaged: int
    torn: bool
    foreign: str = ""
    salvaged: str = ""

    @property
    def orphaned(self) -> bool:
        """Whether there is a journal and no file."""
        return self.journaled and not self.revision

    @property
    def losses(self) -> str:
        """Say what of the conversation could not be read, "" when all could; `salvaged` is told apart."""
        told = (
            "its file is gone: only what its journal has is here" if self.orphaned else "",
            "its journal has lines that cannot be used" if self.damaged else "",
            f"beside it lies the journal of another conversation, {self.foreign}" if self.foreign else "",
        )
        return "; ".join(filter(None, told))


def journal_path_of(path: Path) -> Path:
    """Return where the journal of the conversation file at `path` is."""
    return path.with_suffix(".journal")


def load(path: Path, *, salvage: bool = False) -> Loaded:
    """Read the conversation whose file is at `path`, with everything its journal adds.

    With `salvage` a file that is cut off gives what precedes the cut.
    Raises `ConversationNotFound`, `TranscriptError` for a file that is no conversation, or `StoreError`.
    """
    with store_errors("read", path):
        data, journal, identity = _read_together(path)
    if data is None and journal is None:
        raise ConversationNotFound(f"there is no conversation {path.stem}")
    revision = revision_of(data) if data is not None else ""
    entries, damaged = decode(journal or b"")
    owner = owner_of(entries, revision)
    ours = bool(entries) and owner in {"", path.stem}
    base, salvaged = _base(path, data, journaled=ours, salvage=salvage)
    foreign = owner if base is not None and owner not in {"", path.stem, base.conversation_id} else ""
    if foreign:
        journal, entries, damaged = None, [], 0
    conversation, unreadable = replay(base, revision, entries)
    if conversation is None:
        raise StoreError(f"cannot read {path}: it is gone, and its journal does not say what it was")
    return Loaded(
        conversation=_under_its_name(conversation, path.stem),
        revision=revision,
        identity=identity,
        journaled=journal is not None,
        journal_size=len(journal or b""),
        damaged=damaged + unreadable,
        torn=not (journal or b"\n").endswith(b"\n"),
        foreign=foreign,
        salvaged=salvaged,
    )


def _read_together(path: Path) -> tuple[bytes | None, bytes | None, Identity]:
    for _ in range(_TRIES):
        identity = identity_of(path)
        data, journal = _read_if_there(path), _read_if_there(journal_path_of(path))
        if identity_of(path) == identity:  # no fold came between the two
            return data, journal, identity
    raise StoreError(f"cannot read {path}: it changes all the time")


def _read_if_there(path: Path) -> bytes | None:
    with store_errors("read", path):
        try:
            return read_regular(path)
        except FileNotFoundError:
            return None


def _base(
    path: Path, data: bytes | None, *, journaled: bool, salvage: bool
) -> tuple[Conversation | None, str]:
    """Return what the file says, None when that is nothing, and "" or what was cut off."""
    if data is None:
        return None, ""
    try:
        if says_nothing(data):
            return None, _left_beside_nothing(path.stem, journaled=journaled, salvage=salvage)
        return _parse(data, salvage=salvage)
    except TranscriptError as error:
        error.place = str(path)
        if isinstance(error, CutTranscriptError):  # few commands that read it take the flag
            error.salvaged_by(f"golem normalize --salvage -w {path.stem}")
        raise


def says_nothing(data: bytes) -> bool:
    """Whether nothing is left of a file: it is empty, space, zeros (a loss of power), or its first few bytes.

    >>> says_nothing(b""), says_nothing(bytes(4096)), says_nothing(b'{"gol'), says_nothing(b'{"golem":1')
    (True, True, True, False)
    """
    return _BEGINNING.startswith(data.strip(b"\0 \t\r\n"))


def _left_beside_nothing(conversation_id: str, *, journaled: bool, salvage: bool) -> str:
    """Return what is kept of a conversation whose file says nothing, or raise what says how to go on."""
    if not journaled:
        error = TranscriptError("its text is gone")
        error.advice = f"golem delete {conversation_id} moves it to the trash"
        raise error
    if not salvage:
        raise CutTranscriptError("its text is gone", whole=0, keeps="what its journal has")
    return "its text is gone; what its journal has was kept"


def _parse(data: bytes, *, salvage: bool) -> tuple[Conversation, str]:
    """Return what the file says, and "" or what was cut off."""
    from golem_cli.core.codec import load_conversation, load_transcript

    if salvage:
        cut = load_transcript(data, salvage=True)
        if cut.salvaged and cut.conversation is not None:
            return msgspec.structs.replace(cut.conversation, messages=tuple(cut.messages)), cut.salvaged
    return load_conversation(data), ""


def _under_its_name(conversation: Conversation, name: str) -> Conversation:
    """Return the conversation with the id that names its file; another id in it was copied from elsewhere."""
    if conversation.conversation_id == name:
        return conversation
    return msgspec.structs.replace(
        conversation,
        conversation_id=name,
        forked_from=conversation.forked_from or conversation.conversation_id,
    )
