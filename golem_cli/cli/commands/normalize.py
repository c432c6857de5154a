"""`golem normalize`: find, explain and repair what interrupted runs and faulty tools left in a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.cli import cleaning
from golem_cli.cli.exit_codes import epilog

if TYPE_CHECKING:
    from golem_cli.cli.cleaning_report import Cleaned
    from golem_cli.core.codec import Transcript
    from golem_cli.core.history import HistoryRepair

EPILOG = epilog(
    "golem normalize broken.json",
    "golem normalize --check *.json",
    "golem normalize -w broken.json",
    "golem normalize broken.json > repaired.json",
    exit_1="--check found something",
    exit_3="a file is no transcript",
)


def normalize(transcript: Transcript) -> Cleaned:
    """Repair the messages of `transcript`; calls that a run has pending are left open."""
    from golem_cli.cli.cleaning_report import Cleaned, Note
    from golem_cli.core.history import find_findings, normalize_history
    from golem_cli.core.recovery import pending_calls

    pending = pending_calls(transcript.conversation) if transcript.conversation else frozenset()
    messages, repair = normalize_history(transcript.messages, pending=pending)
    return Cleaned(
        messages=messages,
        notes=[Note.of(finding) for finding in find_findings(transcript.messages, pending=pending)],
        counts=repair_counts(repair),
        summary=summary_of(repair),
        changed=repair.changed,
    )


def repair_counts(repair: HistoryRepair) -> dict[str, object]:
    """The four lists of call ids, as the JSON report has them."""
    return {
        "synthesized": repair.synthesized,
        "dropped": repair.dropped,
        "truncated": repair.truncated,
        "displaced": repair.displaced,
    }


def summary_of(repair: HistoryRepair) -> str:
    """The same in words."""
    from golem_cli.render.words import counted

    done = [
        f"{counted(len(repair.synthesized), 'result')} added" if repair.synthesized else "",
        f"{counted(len(repair.dropped), 'result')} dropped" if repair.dropped else "",
    ]
    seen = [
        f"{counted(len(repair.truncated), 'call')} with arguments that are no object"
        if repair.truncated
        else "",
        f"{counted(len(repair.displaced), 'result')} out of place" if repair.displaced else "",
    ]
    changes = ", ".join(filter(None, done)) or "nothing to repair"
    left = ", ".join(filter(None, seen))
    return f"{changes}; left as it is: {left}" if left else changes


command = cleaning.command_for(
    normalize,
    """Repair transcripts, and explain each change.

    Each unanswered tool call gets a result; results that answer no call are dropped. Each finding is
    listed with its message, run and reason. Messages are never edited. In a pipe the repaired transcript
    goes to standard output and the report to standard error.
    """,
)
