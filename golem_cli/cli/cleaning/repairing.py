"""A transcript repaired, with a note for each thing that was found and what it means for a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.cli.cleaning.report import Cleaned, Note
    from golem_cli.core.codec import Transcript
    from golem_cli.core.history import HistoryRepair


def normalize(transcript: Transcript, *, provider: str = "") -> Cleaned:
    """Repair the messages of `transcript`; calls that a run has pending are left open.

    `provider`, PROVIDER or PROVIDER:MODEL, adds what happens to them on their way there.
    """
    from golem_cli.cli.cleaning.report import Cleaned, Note
    from golem_cli.core.history import find_findings, normalize_history
    from golem_cli.core.recovery import pending_calls

    pending = pending_calls(transcript.conversation) if transcript.conversation else frozenset()
    messages, repair = normalize_history(transcript.messages, pending=pending)
    notes = [Note.of(finding) for finding in find_findings(transcript.messages, pending=pending)]
    model = model_named(provider, transcript) if provider else ""
    found = notes_for(model, transcript) if model else []
    named = model.removesuffix(":")
    summary = repair_summary(repair)
    return Cleaned(
        messages=messages,
        notes=sorted((*notes, *found), key=lambda note: note.message),
        counts=repair_counts(repair) | ({"for": named} if named else {}),
        summary=f"{summary}; for {named}: {_sum_of(found)}" if named else summary,
        changed=repair.changed,
    )


def model_named(provider: str, transcript: Transcript) -> str:
    """PROVIDER:MODEL for what `--for` says: without MODEL the conversation's own, else the usual one."""
    from golem_cli.providers.services import find_service

    name, _, model = provider.partition(":")
    if model:
        return provider
    own = transcript.conversation.model if transcript.conversation else ""
    if own.startswith(f"{name}:") and "," not in own:
        return own
    service = find_service(name)
    return f"{name}:{service.default_model if service else ''}"


def notes_for(model: str, transcript: Transcript) -> list[Note]:
    """What happens to the messages on their way to `model`. None of it changes the file."""
    from golem_cli.cli.cleaning.report import Note
    from golem_cli.providers.findings import wire_findings

    return [
        Note(
            rule=each.rule,
            message=each.message,
            text=each.text,
            call_id=each.call_id,
            run_id=each.run_id,
        )
        for each in wire_findings(transcript.messages, model) or ()
    ]


def _sum_of(found: Sequence[Note]) -> str:
    from golem_cli.render.words import counted

    if not found:
        return "everything is sent as it is"
    return f"{counted(len(found), 'thing')} left out or reshaped in requests, none in the file"


def repair_counts(repair: HistoryRepair) -> dict[str, object]:
    """The four lists of call ids, as the JSON report has them."""
    return {
        "synthesized": repair.synthesized,
        "dropped": repair.dropped,
        "truncated": repair.truncated,
        "displaced": repair.displaced,
    }


def repair_summary(repair: HistoryRepair) -> str:
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
