"""What may happen to a conversation between two rewrites of its file, and how the journal spells it."""

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
    from collections.abc import Collection

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
            case PartialText():
                self._stream(change)
        self._about = msgspec.structs.replace(self._about, updated_at=later(at, self._about.updated_at))
        self._value = None

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        if message.role == ASSISTANT and message.run_id:
            run = self.run(message.run_id)
            if run is not None and run.partial_text:  # that turn is complete: its text is in the message
                self._put(msgspec.structs.replace(run, partial_text=""))

    def goes_on_with(self, streamed: PartialText) -> bool:
        """Whether a known run streamed this: what follows a gap is not what was streamed."""
        run = self.run(streamed.run_id)
        return run is not None and streamed.start <= len(run.partial_text)

    def _stream(self, streamed: PartialText) -> None:
        run = self.run(streamed.run_id)
        if run is not None and self.goes_on_with(streamed):
            text = run.partial_text[: streamed.start] + streamed.text
            self._put(msgspec.structs.replace(run, partial_text=text))

    def _put(self, run: RunRecord) -> None:
        place = self._places.setdefault(run.run_id, len(self._runs))
        self._runs[place : place + 1] = [run]  # at its place, or at the end


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
