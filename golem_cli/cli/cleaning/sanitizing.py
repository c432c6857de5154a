"""A transcript of others sanitized, with a note for each thing that was taken out and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golem_cli.cli.cleaning.report import Cleaned, Note
    from golem_cli.cli.sources import Source
    from golem_cli.core.codec import Transcript
    from golem_cli.core.conversation import Conversation, RunRecord
    from golem_cli.core.history import SanitizeReport
    from golem_cli.core.message import Message


def sanitize(transcript: Transcript) -> Cleaned:
    """Sanitize the messages of `transcript`. Nothing waits for an answer in history that others wrote."""
    from golem_cli.cli.cleaning.repairing import repair_counts
    from golem_cli.cli.cleaning.report import Cleaned
    from golem_cli.core.history import sanitize_history
    from golem_cli.core.recovery import waits_no_more

    origin = transcript.conversation
    runs = waits_no_more(origin).runs if origin else ()
    messages, report = sanitize_history(transcript.messages)
    return Cleaned(
        messages=messages,
        notes=sorted(
            (*notes_of(transcript.messages, report), *_waiting_notes(origin)), key=lambda note: note.message
        ),
        counts={
            "systemPrompts": report.system_prompts,
            "unknownRoles": report.unknown_roles,
            "unsafeParts": [
                {"messageIndex": part.message_index, "kind": part.kind, "scheme": part.scheme}
                for part in report.unsafe_parts
            ],
            **repair_counts(report.repair),
        },
        summary=sanitize_summary(report),
        changed=report.changed or (origin is not None and runs != origin.runs),
        runs=runs,
    )


def _waiting_notes(conversation: Conversation | None) -> Iterator[Note]:
    """One note for each run that waits for an answer, which a stranger's may not."""
    from golem_cli.cli.cleaning.report import Note

    for run in waiting_runs(conversation):
        text = "others' runs have no approval to wait for; its open calls are closed, and it is interrupted"
        yield Note(rule="waiting-run", message=0, text=text, run_id=run.run_id, changes=True)


def waiting_runs(conversation: Conversation | None) -> list[RunRecord]:
    """Return the runs of a transcript that wait for an answer."""
    from golem_cli.core.run_status import PENDING

    return [run for run in conversation.runs if run.status == PENDING] if conversation else []


def notes_of(history: list[Message], report: SanitizeReport) -> Iterator[Note]:
    """One note for each thing taken out of `history`, and those of the repair that followed."""
    from golem_cli.cli.cleaning.report import Note
    from golem_cli.core.history import find_findings
    from golem_cli.core.message import ROLES, SYSTEM
    from golem_cli.core.quote import quoted

    kept = []
    emptied = emptied_messages(history, report)
    for number, message in enumerate(history, 1):
        if message.role == SYSTEM:
            text = "only the operator gives system instructions; the message is taken out"
        elif message.role not in ROLES:
            text = f"only an operator could send as {quoted(message.role)}; the message is taken out"
        elif number in emptied:
            text = "nothing is left of it without its parts; the message is taken out"
        else:
            kept.append(number)
            continue
        rule = "emptied-message" if number in emptied else "unknown-role"
        rule = "system-message" if message.role == SYSTEM else rule
        yield Note(rule=rule, message=number, text=text, run_id=message.run_id, changes=True)
    for part in report.unsafe_parts:
        scheme = f"the scheme {quoted(part.scheme)}" if part.scheme else "no safe address"
        text = f"the {quoted(part.kind)} part has {scheme}, and only http and https are followed; taken out"
        yield Note(rule="unsafe-part", message=part.message_index + 1, text=text, changes=True)
    for finding in find_findings([history[number - 1] for number in kept]):
        yield Note.of(finding, message=kept[finding.message - 1])


def emptied_messages(history: list[Message], report: SanitizeReport) -> set[int]:
    """Return the numbers of the user messages that lose all they had with their unsafe parts."""
    from collections import Counter

    from golem_cli.core.message import USER

    lost = Counter(part.message_index for part in report.unsafe_parts)
    return {
        index + 1
        for index, count in lost.items()
        if history[index].role == USER and not history[index].content and count == len(history[index].parts)
    }


def sanitize_summary(report: SanitizeReport) -> str:
    """What was taken out, in words."""
    from golem_cli.cli.cleaning.repairing import repair_summary
    from golem_cli.render.words import counted

    taken = [
        counted(report.system_prompts, "system message") if report.system_prompts else "",
        counted(report.unknown_roles, "message") + " of unknown roles" if report.unknown_roles else "",
        counted(len(report.unsafe_parts), "unsafe part") if report.unsafe_parts else "",
    ]
    listed = ", ".join(filter(None, taken)) or "nothing"
    return f"{listed} taken out; {repair_summary(report.repair)}"


def about_copy(source: Source, report: SanitizeReport) -> str:
    """Say of the copy of a file what sanitizing did to it."""
    line = f"golem: {source.name} comes from outside: {sanitize_summary(report)}"
    if not waiting_runs(source.transcript.conversation):
        return line
    return f"{line}; nothing waits for an answer in its copy (--trust lets it wait)"
