"""A file and its journal brought together: what of the journal counts, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import TranscriptError
from golem_cli.store.changes import (
    ABOUT,
    BASE,
    Described,
    Draft,
    MessageAdded,
    PartialText,
    change_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.conversation import Conversation
    from golem_cli.store.changes import Change
    from golem_cli.store.journal import Entry


def replay(
    conversation: Conversation | None, revision: str, entries: Sequence[Entry]
) -> tuple[Conversation | None, int]:
    """Bring a file's conversation up to date with its journal; also return how many entries were of no use.

    `revision` is the file's, `conversation` None when there is no file. Entries count from the last mark that
    names this revision, so that a fold that was completed is not applied twice. When no mark names it,
    somebody edited the file: everything is applied, but for messages that its end already has; nothing, when
    the edit came after a fold that was completed.
    """
    start = _start(entries, revision) if conversation is not None else 0
    if start is None and conversation is not None and _is_folded(entries, conversation):
        start = len(entries)
    changes = [
        (change_of(entry), entry) for entry in entries[start or 0 :] if entry.kind not in {BASE, ABOUT}
    ]
    unusable = sum(change is None for change, _ in changes)
    base = conversation if conversation is not None else _first_about(entries)
    if base is None:
        return None, unusable
    known = 0 if start is not None and conversation is not None else _overlap(base, changes)
    draft = Draft(base)
    for change, entry in changes:
        if isinstance(change, MessageAdded) and known:
            known -= 1
        elif isinstance(change, PartialText) and not draft.goes_on_with(change):
            unusable += 1  # its run, or what came before it, is gone
        elif change is not None:
            draft.apply(change, entry.at)
    return draft.conversation, unusable


def owner_of(entries: Sequence[Entry], revision: str) -> str:
    """Return the id of the conversation that a journal says it is of.

    "" when it has a mark of this `revision`, the file's own whatever it says, and when it says nothing.
    """
    if _start(entries, revision) is not None:
        return ""
    return next(filter(None, map(_owner_in, entries)), "")


def _owner_in(entry: Entry) -> str:
    if entry.kind == ABOUT:
        about = _first_about([entry])
        return about.conversation_id if about is not None else ""
    match change_of(entry):
        case Described(about):
            return about.conversation_id
        case MessageAdded(message):
            return message.conversation_id
        case _:
            return ""


def _start(entries: Sequence[Entry], revision: str) -> int | None:
    marks = [
        index
        for index, entry in enumerate(entries)
        if entry.kind == BASE and entry.payload == revision.encode()
    ]
    return marks[-1] + 1 if marks else None


def _is_folded(entries: Sequence[Entry], conversation: Conversation) -> bool:
    """Whether an edited file has all of the journal: a fold was under way, and the messages are there."""
    if not entries or entries[-1].kind != BASE:
        return False
    new = [change.message for change in map(change_of, entries) if isinstance(change, MessageAdded)]
    old = list(conversation.messages)
    places = range(len(old) - len(new) + 1)
    return bool(new) and any(old[place : place + len(new)] == new for place in places)


def _first_about(entries: Sequence[Entry]) -> Conversation | None:
    from golem_cli.core.codec import load_conversation

    for entry in entries:
        if entry.kind == ABOUT:
            try:
                return load_conversation(entry.payload)
            except TranscriptError:
                continue
    return None


def _overlap(conversation: Conversation, changes: Sequence[tuple[Change | None, Entry]]) -> int:
    """How many of the journal's first messages are already the conversation's last ones."""
    new = [change.message for change, _ in changes if isinstance(change, MessageAdded)]
    old = list(conversation.messages)
    return next((n for n in range(min(len(new), len(old)), 0, -1) if old[-n:] == new[:n]), 0)
