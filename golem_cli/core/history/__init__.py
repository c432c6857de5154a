"""History passes: plain functions from a list of messages to a list, with a report where there is one."""

from golem_cli.core.history.json_object import is_json_object
from golem_cli.core.history.normalize import HistoryRepair, normalize_history
from golem_cli.core.history.pairing import Pairing, Slot, pair
from golem_cli.core.history.repair import INTERRUPTED_TEXT, repair, synthesized_result
from golem_cli.core.history.trim import HistoryProcessor, can_open_request, trim_history

__all__ = [
    "INTERRUPTED_TEXT",
    "HistoryProcessor",
    "HistoryRepair",
    "Pairing",
    "Slot",
    "can_open_request",
    "is_json_object",
    "normalize_history",
    "pair",
    "repair",
    "synthesized_result",
    "trim_history",
]
