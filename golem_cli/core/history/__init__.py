"""History passes: plain functions from a list of messages to a list, with a report where there is one."""

from golem_cli.core.history.budget import budget_history
from golem_cli.core.history.findings import CHANGES, Finding, Rule, find_findings
from golem_cli.core.history.json_object import is_json_object
from golem_cli.core.history.normalize import HistoryRepair, normalize_history
from golem_cli.core.history.pairing import Pairing, Slot, pair
from golem_cli.core.history.repair import INTERRUPTED_TEXT, repair, synthesized_result
from golem_cli.core.history.sanitize import SanitizeReport, UnsafePart, sanitize_history
from golem_cli.core.history.trim import HistoryProcessor, can_open_request, trim_history
from golem_cli.core.history.url import unsafe_scheme
from golem_cli.core.history.validate import (
    MalformedPart,
    leave_out_malformed_parts,
    malformed_parts,
    validate_history,
)
from golem_cli.core.history.wire_view import scalar_text, wire_args, wire_view

__all__ = [
    "CHANGES",
    "INTERRUPTED_TEXT",
    "Finding",
    "HistoryProcessor",
    "HistoryRepair",
    "MalformedPart",
    "Pairing",
    "Rule",
    "SanitizeReport",
    "Slot",
    "UnsafePart",
    "budget_history",
    "can_open_request",
    "find_findings",
    "is_json_object",
    "leave_out_malformed_parts",
    "malformed_parts",
    "normalize_history",
    "pair",
    "repair",
    "sanitize_history",
    "scalar_text",
    "synthesized_result",
    "trim_history",
    "unsafe_scheme",
    "validate_history",
    "wire_args",
    "wire_view",
]
