"""`golem normalize`: find, explain and repair what interrupted runs and faulty tools left in a transcript."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli import cleaning
from golem_cli.cli.exit_codes import epilog
from golem_cli.cli.failures import WrongUsage
from golem_cli.core.quote import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.cli.cleaning_report import Cleaned, Note
    from golem_cli.core.codec import Transcript
    from golem_cli.core.history import HistoryRepair

EPILOG = epilog(
    "golem normalize broken.json",
    "golem normalize --check *.json",
    "golem normalize -w broken.json",
    "golem normalize broken.json > repaired.json",
    "golem normalize --for anthropic broken.json",
    exit_1="--check found something",
    exit_3="a file is no transcript",
)


Provider = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="PROVIDER[:MODEL]",
        help="List, too, what that provider would refuse, and what is left out or reshaped for it.",
    ),
]


def normalize(transcript: Transcript, *, provider: str = "") -> Cleaned:
    """Repair the messages of `transcript`; calls that a run has pending are left open.

    `provider`, PROVIDER or PROVIDER:MODEL, adds what happens to them on their way there.
    """
    from golem_cli.cli.cleaning_report import Cleaned, Note
    from golem_cli.core.history import find_findings, normalize_history
    from golem_cli.core.recovery import pending_calls

    pending = pending_calls(transcript.conversation) if transcript.conversation else frozenset()
    messages, repair = normalize_history(transcript.messages, pending=pending)
    notes = [Note.of(finding) for finding in find_findings(transcript.messages, pending=pending)]
    model = model_named(provider, transcript) if provider else ""
    found = notes_for(model, transcript) if model else []
    named = model.removesuffix(":")
    summary = summary_of(repair)
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


def _check_provider(provider: str) -> None:
    """Raise `WrongUsage` when there is no such provider."""
    from golem_cli.cli.model_opening import provider_names

    name = provider.partition(":")[0]
    if name not in provider_names():
        known = ", ".join(provider_names())
        raise WrongUsage(f"--for: there is no provider {quoted(name)}; known are {known}")


def notes_for(model: str, transcript: Transcript) -> list[Note]:
    """What happens to the messages on their way to `model`. None of it changes the file."""
    from golem_cli.cli.cleaning_report import Note
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


def command(
    context: typer.Context,
    files: cleaning.Files,
    *,
    provider: Provider = "",
    check: cleaning.Check = False,
    strict: cleaning.Strict = False,
    diff: cleaning.Diff = False,
    as_json: cleaning.Json = False,
    write: cleaning.Write = False,
    undo: cleaning.Undo = False,
    output: cleaning.Output = "",
    salvage: cleaning.Salvage = False,
) -> int:
    """Repair transcripts, and explain each change.

    Each unanswered tool call gets a result; results that answer no call are dropped. Each finding is
    listed with its message, run and reason. Messages are never edited. In a pipe the repaired transcript
    goes to standard output and the report to standard error.
    """
    options = cleaning.CleaningOptions(
        check=check,
        strict=strict,
        diff=diff,
        json=as_json,
        write=write,
        undo=undo,
        output=output,
        salvage=salvage,
    )
    if provider and undo:
        raise WrongUsage("--undo only brings the original back; use it without other flags")
    if provider:
        _check_provider(provider)
    return cleaning.run_cleaning(files, options, partial(normalize, provider=provider), context.obj)
