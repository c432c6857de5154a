"""What may happen to a conversation between two rewrites of its file, as the journal spells it; replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import TranscriptError
from golem_cli.core.message import ASSISTANT, Message
from golem_cli.core.run_status import FAILED, RUNNING
from golem_cli.store.journal import Entry
from golem_cli.store.times import later

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

CRASHED: Final = "crashed"

BASE: Final = "base"
"""A mark: what follows changes the file whose revision is the payload."""
ABOUT: Final = "about"
"""The conversation but for messages and runs, as it was at the mark; needed when the file is gone."""


class Described(msgspec.Struct, frozen=True):
    """Title, model, instructions, settings, … are now those of `about`, whatever its messages and runs."""

    about: Conversation


class RunPut(msgspec.Struct, frozen=True):
    """A run began, changed or ended: the record with its id is now this one."""

    run: RunRecord


class MessageAdded(msgspec.Struct, frozen=True):
    """A message was added at the end."""

    message: Message


class PartialText(msgspec.Struct, frozen=True):
    """The text streamed so far of a run's open turn is its first `start` characters and then `text`."""

    run_id: str
    start: int
    text: str


Change = Described | RunPut | MessageAdded | PartialText


def entry_of(change: Change, at: str) -> Entry:
    """Return the journal's entry for `change`."""
    import json

    from golem_cli.core.codec import dump_message, dump_run

    match change:
        case Described(about):
            return Entry(kind="update", at=at, payload=_about_line(about))
        case RunPut(run):
            return Entry(kind="run", at=at, payload=_one_line(dump_run(run)))
        case MessageAdded(message):
            return Entry(kind="message", at=at, payload=_one_line(dump_message(message)))
        case PartialText(run_id, start, text):
            value = {"runId": run_id, "start": start, "text": text}
            return Entry(kind="partial", at=at, payload=json.dumps(value).encode())


def change_of(entry: Entry) -> Change | None:
    """Return what `entry` tells of; None for a kind that this version does not know or cannot read."""
    import json

    from golem_cli.core.codec import load_conversation, load_message, load_run

    try:
        match entry.kind:
            case "update":
                return Described(load_conversation(entry.payload))
            case "run":
                return RunPut(load_run(entry.payload))
            case "message":
                return MessageAdded(load_message(entry.payload))
            case "partial":
                value = json.loads(entry.payload)
                return PartialText(str(value["runId"]), max(0, int(value["start"])), str(value["text"]))
    except (TranscriptError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return None


def prelude_of(draft: Draft, revisions: Collection[str], at: str) -> tuple[Entry, ...]:
    """Return the entries that open a journal for the file that has one of `revisions`.

    A run that is under way is among them: without the file too its prompt and what it streams are there.
    """
    marks = (mark(revision, at) for revision in sorted(revisions))
    about = Entry(kind=ABOUT, at=at, payload=_about_line(draft.about))
    return *marks, about, *(entry_of(RunPut(run), at) for run in draft.running)


def mark(revision: str, at: str) -> Entry:
    """Return the entry that says: what follows changes the file with `revision`."""
    return Entry(kind=BASE, at=at, payload=revision.encode())


def _about_line(conversation: Conversation) -> bytes:
    from golem_cli.core.codec import dump_conversation

    return _one_line(dump_conversation(msgspec.structs.replace(conversation, messages=(), runs=())))


def _one_line(document: bytes) -> bytes:
    return document.replace(b"\n", b"")  # JSON escapes line breaks in strings: these stand between tokens


class Draft:
    """A conversation under construction: applies changes in place, gives the value when asked.

    Applying a change costs the same however long the conversation is.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._about = msgspec.structs.replace(conversation, messages=(), runs=())
        self._messages = list(conversation.messages)
        self._runs = list(conversation.runs)
        # the newest of two with one id, which damage may make
        self._places = {run.run_id: index for index, run in enumerate(self._runs)}
        self._value: Conversation | None = conversation

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now."""
        if self._value is None:
            self._value = msgspec.structs.replace(
                self._about, messages=tuple(self._messages), runs=tuple(self._runs)
            )
        return self._value

    @property
    def about(self) -> Conversation:
        """The conversation but for its messages and runs."""
        return self._about

    def run(self, run_id: str) -> RunRecord | None:
        """Return the record of a run; None when there is none."""
        place = self._places.get(run_id)
        return None if place is None else self._runs[place]

    @property
    def running(self) -> list[RunRecord]:
        """The record of the last run, if that has not ended."""
        return [run for run in self._runs[-1:] if run.status == RUNNING]

    def apply(self, change: Change, at: str) -> None:
        """Make `change`, which happened at `at`, part of the conversation."""
        match change:
            case Described(about):
                self._about = msgspec.structs.replace(about, messages=(), runs=())
            case RunPut(run):
                self._put(run)
            case MessageAdded(message):
                self._add(message)
            case PartialText(run_id, start, text):
                self._stream(run_id, start, text)
        self._about = msgspec.structs.replace(self._about, updated_at=later(at, self._about.updated_at))
        self._value = None

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        if message.role == ASSISTANT and message.run_id:
            run = self.run(message.run_id)
            if run is not None and run.partial_text:  # that turn is complete: its text is in the message
                self._put(msgspec.structs.replace(run, partial_text=""))

    def _stream(self, run_id: str, start: int, text: str) -> None:
        run = self.run(run_id)
        if run is not None and start <= len(run.partial_text):  # what follows a gap is not what was streamed
            self._put(msgspec.structs.replace(run, partial_text=run.partial_text[:start] + text))

    def _put(self, run: RunRecord) -> None:
        place = self._places.setdefault(run.run_id, len(self._runs))
        self._runs[place : place + 1] = [run]  # at its place, or at the end


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
        elif isinstance(change, PartialText) and draft.run(change.run_id) is None:
            unusable += 1  # its run was told of elsewhere, and is gone
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


def mark_crashed(conversation: Conversation) -> Conversation:
    """Return the conversation with each run that is still `running` failed, at stage `crashed`.

    Only right when no process works on it. A prompt that is already among the messages is left out of its
    run's record.
    """
    if all(run.status != RUNNING for run in conversation.runs):
        return conversation
    stamps = {message.run_id for message in conversation.messages}
    return msgspec.structs.replace(
        conversation, runs=tuple(_crashed(run, in_messages=run.run_id in stamps) for run in conversation.runs)
    )


def _crashed(run: RunRecord, *, in_messages: bool) -> RunRecord:
    if run.status != RUNNING:
        return run
    failed = msgspec.structs.replace(
        run, status=FAILED, stage=CRASHED, error="golem ended before the run did", ended_at=""
    )
    return msgspec.structs.replace(failed, prompt="", prompt_parts=()) if in_messages else failed
