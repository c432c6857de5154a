"""What the history passes found, as numbered lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from golem_cli.render.neutralize import one_line

if TYPE_CHECKING:
    from golem_cli.core.history import Finding, HistoryRepair, SanitizeReport


def findings_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one line a finding: its number, the message, the rule, the run, what and why."""
    for number, finding in enumerate(findings, 1):
        run = f" (run {one_line(finding.run_id)})" if finding.run_id else ""
        yield f"{number}. message {finding.message}, {finding.rule}: {one_line(finding.text)}{run}"


def repair_lines(report: HistoryRepair) -> Iterator[str]:
    """Yield a line for each list of the report that is not empty."""
    named = (
        ("interrupted calls that got a result", report.synthesized),
        ("results without a call that were dropped", report.dropped),
        ("calls whose arguments are no JSON object", report.truncated),
        ("results that stand apart from their call", report.displaced),
    )
    for label, ids in named:
        if ids:
            yield f"{label}: {len(ids)} ({', '.join(one_line(call_id) or 'no id' for call_id in ids)})"


def sanitize_lines(report: SanitizeReport) -> Iterator[str]:
    """Yield a line for each thing that was taken out, and why; then those of the repair."""
    if report.system_prompts:
        yield f"system messages dropped: {report.system_prompts} (only you may instruct the model)"
    if report.unknown_roles:
        yield f"messages of unknown roles dropped: {report.unknown_roles}"
    for part in report.unsafe_parts:
        scheme = f"scheme {one_line(part.scheme)}" if part.scheme else "no scheme that can be read"
        kind = one_line(part.kind) or "part"
        yield f"message {part.message_index + 1}: {kind} dropped, its address is not safe ({scheme})"
    yield from repair_lines(report.repair)
