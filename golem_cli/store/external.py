"""Files outside the store: read in any form, written back in their own, the original kept."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from golem_cli.core.codec import Transcript, dump_transcript, load_transcript
from golem_cli.core.conversation import FORMAT_VERSION
from golem_cli.core.errors import ConversationChanged, NewerFormatError, StoreError, TranscriptError
from golem_cli.store import originals
from golem_cli.store.atomic import (
    discard,
    discarded_on_error,
    keep_original,
    put_in_place,
    read_regular,
    second_name,
    sync_folder,
    write_aside,
)
from golem_cli.store.failures import store_errors
from golem_cli.store.originals import ORIGINAL, refuse_misread

_AS_THE_UMASK_SAYS = 0o666


@dataclass(frozen=True, kw_only=True)
class ExternalFile:
    """A transcript file as it was read: where it really is (links resolved), its bytes and what they say."""

    path: Path
    data: bytes
    transcript: Transcript


def read_external(path: Path, *, salvage: bool = False) -> ExternalFile:
    """Read a transcript file of any form; with `salvage`, one that is cut off too.

    Raises `StoreError` for what cannot be read (missing, a folder, a pipe, no permission) and
    `TranscriptError` for what is no transcript, with the path in front.
    """
    with store_errors("read", path):
        real = _resolved(path)
        data = read_regular(real, follow=True)
    try:
        transcript = load_transcript(data, salvage=salvage)
    except TranscriptError as error:
        error.place = str(path)
        raise
    return ExternalFile(path=real, data=data, transcript=transcript)


def write_in_form(file: ExternalFile, transcript: Transcript, *, force: bool = False) -> Path | None:
    """Put `transcript` in the file's place, in its form, and return where the untouched original is now.

    None when the bytes would be the same. The new file is read back and compared before it takes the place;
    mode bits are kept, the owner where the system permits, and a symbolic link keeps pointing at it. Raises
    `ConversationChanged` when the file is no longer what was read, `NewerFormatError` for the form of a newer
    golem unless `force`.
    """
    newer = transcript.conversation is not None and transcript.conversation.version > FORMAT_VERSION
    if newer and not force:
        raise NewerFormatError(f"{file.path} was written by a newer golem: it is read, not written")
    data = dump_transcript(transcript)
    if data == file.data:
        return None
    refuse_misread(file.path, data, transcript.messages)
    with store_errors("write", file.path):
        temporary = write_aside(file.path, data, like=file.path.stat())
        with discarded_on_error(temporary):
            _refuse_changed(file)
            backup = keep_original(file.path, suffix=ORIGINAL)
        put_in_place(temporary, file.path)
    return backup


def undo(path: Path) -> Path:
    """Bring back the newest original that `write_in_form` kept; return where the undone file is kept now.

    Raises `StoreError` when there is nothing to bring back.
    """
    with store_errors("undo", path):
        real = _resolved(path)
    return originals.undo(real)


def write_new(path: Path, data: bytes) -> None:
    """Write a new file, whole or not at all, with the permissions that the user's umask gives.

    What exists under that name, a link or a device too, is never replaced: `StoreError`.
    """
    _refuse_impossible(path)
    with store_errors("write", path):
        try:
            _write_where_nothing_is(path, data)
        except FileExistsError:
            raise StoreError(f"{path} exists already and is not replaced; give another name") from None


def _write_where_nothing_is(path: Path, data: bytes) -> None:
    """The name comes last, by a link, which unlike a rename replaces nothing."""
    if os.path.lexists(path):  # looked at first, so that nothing is written beside a device
        raise FileExistsError(path)
    temporary = write_aside(path, data, mode=_AS_THE_UMASK_SAYS)
    try:
        second_name(temporary, path)
    finally:
        discard(temporary)
    sync_folder(path.parent)


def _resolved(path: Path) -> Path:
    _refuse_impossible(path)
    try:
        return path.resolve(strict=True)
    except (RuntimeError, OSError) as error:  # a circle of links is a RuntimeError until Python 3.12
        if isinstance(error, OSError) and error.errno != errno.ELOOP:
            raise
        raise StoreError(f"cannot follow {path}: its symbolic links lead in a circle") from error


def _refuse_impossible(path: Path) -> None:
    """Raise `StoreError` for a name that the system cannot even be asked about."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise StoreError(f"{path} cannot be the name of a file: it has a character that no name may have")


def _refuse_changed(file: ExternalFile) -> None:
    if read_regular(file.path, follow=True) != file.data:
        raise ConversationChanged(f"{file.path} was changed by somebody else meanwhile; nothing was written")
