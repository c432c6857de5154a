"""Documents → transcripts by the scanner: the definition, and every error that a bad document gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn, cast

from golem_cli.core.codec.contract import CONVERSATION, GEMINI, MESSAGE, RUN
from golem_cli.core.codec.flaw import Flaw
from golem_cli.core.codec.record import expected, foreign, read_fields, read_record
from golem_cli.core.codec.scan import Cursor
from golem_cli.core.codec.transcript import Form, Transcript
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import CutTranscriptError, TranscriptError
from golem_cli.core.message import Message

if TYPE_CHECKING:
    from golem_cli.core.codec.text import Text

BASE_DEPTH: Final[dict[Form, int]] = {"array": 0, "object": -1, "jsonl": 1}
"""Nesting is counted as if every message stood in an array, so that changing the form changes no limit."""

_HINT: Final = "expected an array of messages, one message a line, or a golem conversation object"


class Reading:
    """A document being read: what is whole so far, so that a cut loses nothing before it."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.characters = text.characters()
        self.form: Form = "array"
        self.messages: list[Message] = []
        self.runs: list[RunRecord] = []
        self.values: dict[str, object] = {}
        self.extra: dict[str, str] = {}
        self.record_start: int | None = None

    def read(self, *, salvage: bool) -> Transcript:
        """Read the whole document, or with `salvage` what precedes a cut."""
        salvaged = ""
        try:
            self._read()
        except Flaw as flaw:
            if not (salvage and flaw.at_end):
                self._report(flaw)
            cut = "the text ends in zero bytes" if self.text.padded else "the text stops in the middle"
            salvaged = f"{cut}; {_count(len(self.messages))} before the cut kept"
        return Transcript(
            form=self.form, messages=self.messages, conversation=self._conversation(), salvaged=salvaged
        )

    def _read(self) -> None:
        cursor = Cursor(self.characters)
        opener = cursor.peek()
        if not opener:
            empty = "nothing but zero bytes" if self.text.padded else "the text is empty"
            raise Flaw(f"{empty}: {_HINT}", cursor.position)
        if opener not in {"[", "{"}:
            raise Flaw(f"{_HINT}, found {cursor.kind()}", cursor.position)
        self.form = "array" if opener == "[" else form_of_object(cursor)
        cursor = Cursor(self.characters, depth=BASE_DEPTH[self.form])
        if self.form == "array":
            self._read_messages(cursor)
        elif self.form == "object":
            self._read_object(cursor)
        else:
            self._read_lines(cursor)
        if cursor.peek():
            raise cursor.flaw("expected the end of the text (only one JSON value may stand here)")
        if self.text.torn:
            raise Flaw("expected the end of the text, found part of a character", cursor.position)
        if self.text.padded:
            raise Flaw("expected the end of the text, found zero bytes", cursor.position, at_end=True)

    def _read_messages(self, cursor: Cursor) -> tuple[Message, ...]:
        if cursor.peek() != "[":
            raise expected(cursor, "a list")
        for _ in cursor.elements():
            self._read_message(cursor)
        return ()

    def _read_message(self, cursor: Cursor) -> None:
        try:
            self.messages.append(read_message(cursor))
        except Flaw as flaw:
            flaw.message = len(self.messages) + 1
            raise

    def _read_lines(self, cursor: Cursor) -> None:
        end = 0
        while cursor.peek():
            if self.messages and "\n" not in self.characters[end : cursor.position]:
                raise cursor.flaw("expected a line break after a message")
            self.record_start = cursor.position
            self._read_message(cursor)
            end = cursor.position
        self.record_start = None

    def _read_object(self, cursor: Cursor) -> None:
        readers = {"messages": self._read_messages, "runs": self._read_runs}
        read_fields(cursor, CONVERSATION, self.values, self.extra, readers)

    def _read_runs(self, cursor: Cursor) -> tuple[RunRecord, ...]:
        if cursor.peek() != "[":
            raise expected(cursor, "a list")
        for index in cursor.elements():
            try:
                self.runs.append(read_run(cursor))
            except Flaw as flaw:
                flaw.field = f"item {index + 1}.{flaw.field}".rstrip(".")
                raise
        return ()

    def _conversation(self) -> Conversation | None:
        if self.form != "object":
            return None
        values = {**self.values, "messages": tuple(self.messages), "runs": tuple(self.runs)}
        return cast("Conversation", CONVERSATION.build(**values, extra=self.extra))

    def _report(self, flaw: Flaw) -> NoReturn:
        before = self.characters[: flaw.position]
        offset = self.text.offset(before)
        line = before.count("\n") + 1
        if flaw.at_end:
            whole = len(self.messages)
            place = f"at byte {offset} (line {line}): {_count(whole)} before it"
            text = f"the text stops in the middle, {place}"
            if self.text.padded:
                text = f"the text ends in zero bytes, as a loss of power leaves them, {place}"
            keeps = "those" if whole else "the rest" if self.form == "object" else ""
            raise CutTranscriptError(text, whole=whole, keeps=keeps, line=line, offset=offset) from None
        record_line = line
        if self.record_start is not None:
            record_line = self.characters.count("\n", 0, self.record_start) + 1
        place = f"line {record_line}" if record_line == line else f"the record of line {record_line}"
        if flaw.message and self.form == "object":
            flaw.field = flaw.field.removeprefix("messages").removeprefix(".")
        subject = f"message {flaw.message}, " if flaw.message else ""
        field = f', field "{flaw.field}"' if flaw.field else ""
        raise TranscriptError(
            f"{subject}{place}, byte {offset}{field}: {flaw.problem}",
            message=flaw.message,
            field=flaw.field,
            line=record_line,
            offset=offset,
        ) from None


def read_document(text: Text, *, salvage: bool = False) -> Transcript:
    """Read a document by the definition. Raises TranscriptError."""
    return Reading(text).read(salvage=salvage)


def read_message(cursor: Cursor) -> Message:
    """Read one message. Raises Flaw."""
    if cursor.peek() != "{":
        raise expected(cursor, "a message object")
    return cast("Message", read_record(cursor, MESSAGE))


def read_run(cursor: Cursor) -> RunRecord:
    """Read one run record. Raises Flaw."""
    if cursor.peek() != "{":
        raise expected(cursor, "a run record object")
    return cast("RunRecord", read_record(cursor, RUN))


def form_of_object(cursor: Cursor) -> Form:
    """Whether a document that begins with an object is a conversation or one message a line."""
    start = cursor.position
    keys = set()
    try:
        for key in cursor.members():
            if key == "golem":
                return "object"
            keys.add(key)
            cursor.value()
    except Flaw:
        return "jsonl"  # reading it again reports the flaw, with what is known then
    if "role" not in keys and "contents" in keys:
        raise foreign(GEMINI, start)
    if "role" not in keys and "messages" in keys:
        hint = 'save its "messages" array as a file of its own'
        raise Flaw(f'{_HINT}, found an object with "messages" but without "golem"; {hint}', start)
    return "jsonl"


def _count(whole: int) -> str:
    return "1 whole message" if whole == 1 else f"{whole} whole messages"
