"""The reports of `normalize` and `sanitize`: numbered findings for people, an object for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from golem_cli.render.neutralize import one_line
from golem_cli.render.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript
    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.history import Finding
    from golem_cli.core.message import Message

UNREMARKABLE = frozenset({"pending-call"})
"""Rules that `--strict` passes over: a call that waits for an answer is no damage."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """One line of the report. `rule` names it; `message` counts from 1, 0 when it concerns the whole file."""

    rule: str
    message: int
    text: str
    call_id: str = ""
    run_id: str = ""
    changes: bool = False

    @classmethod
    def of(cls, finding: Finding, *, message: int | None = None) -> Note:
        """Return the note of a core finding; `message` overrides its number."""
        text = finding.text
        if message is not None and finding.rule == "displaced-result":  # its text counts in the other history
            text = "the result stands apart from its call; it is kept here, and sent right after the call"
        return cls(
            rule=finding.rule,
            message=finding.message if message is None else message,
            text=text,
            call_id=finding.call_id,
            run_id=finding.run_id,
            changes=finding.changes,
        )


@dataclass(frozen=True, kw_only=True)
class Cleaned:
    """What a pass made of a transcript.

    `counts` are the pass's own fields of the JSON report, `summary` says the same in words. `changed` tells
    whether the result differs from the file. `runs` are a conversation's records where the pass changes them,
    None where they stay.
    """

    messages: list[Message]
    notes: list[Note]
    counts: dict[str, object]
    summary: str
    changed: bool
    runs: tuple[RunRecord, ...] | None = None

    @property
    def notable(self) -> bool:
        """Whether anything was found that `--strict` counts."""
        return any(note.rule not in UNREMARKABLE for note in self.notes)


def report_lines(source: Source, cleaned: Cleaned) -> Iterator[str]:
    """The report for a person: what the file is, each finding with its number, and the sum."""
    yield f"{source.name}: {source.transcript.form}, {_count_of(source.transcript)}"
    if source.transcript.salvaged:
        yield f"  {source.transcript.salvaged}"
    for number, note in enumerate(cleaned.notes, 1):
        where = f"message {note.message}, " if note.message else ""
        run = f" [run {note.run_id}]" if note.run_id else ""
        yield f"  {number}. {where}{note.rule}: {one_line(note.text)}{one_line(run)}"
    yield f"  {cleaned.summary}"


def _count_of(transcript: Transcript) -> str:
    """Count as lists and `show` do: with what a stopped last run left, which only its record holds yet."""
    from golem_cli.core.recovery import settle

    conversation = transcript.conversation
    left = len(settle(conversation).messages) - len(conversation.messages) if conversation else 0
    said = counted(len(transcript.messages) + left, "message")
    return f"{said}, {left} of them in the record of a stopped run" if left else said


def json_entry(source: Source, cleaned: Cleaned) -> dict[str, object]:
    """The report for a program: one entry of `files`."""
    return {
        "file": source.name,
        "form": source.transcript.form,
        "messages": len(source.transcript.messages),
        **cleaned.counts,
        "findings": [_json_note(note) for note in cleaned.notes],
        "changed": cleaned.changed or bool(source.transcript.salvaged),
        **({"salvaged": source.transcript.salvaged} if source.transcript.salvaged else {}),
    }


def _json_note(note: Note) -> dict[str, object]:
    entry: dict[str, object] = {"rule": note.rule, "message": note.message}
    if note.call_id:
        entry["callId"] = note.call_id
    if note.run_id:
        entry["runId"] = note.run_id
    return {**entry, "text": note.text}
