"""golem-cli: conversations that cannot be lost, broken or hijacked.

The names below are the public API. They are loaded when first used, so that `golem --version` stays instant.
"""

from __future__ import annotations

from golem_cli._version import __version__

TYPE_CHECKING = False  # a type checker reads it as true; importing it from typing would double the start-up
if TYPE_CHECKING:
    from golem_cli.core.canceled import RunCanceled
    from golem_cli.core.codec import dump_messages, load_messages
    from golem_cli.core.conversation import Conversation, RunRecord
    from golem_cli.core.errors import (
        ConfigurationError,
        GolemError,
        HistoryError,
        ModelError,
        ModelRetry,
        RunError,
        Stage,
        ToolCanceled,
        ToolDeferred,
        ToolFailed,
        TranscriptError,
    )
    from golem_cli.core.events import RunEvent
    from golem_cli.core.history import (
        HistoryRepair,
        SanitizeReport,
        UnsafePart,
        budget_history,
        normalize_history,
        sanitize_history,
        trim_history,
    )
    from golem_cli.core.identity import new_id
    from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
    from golem_cli.core.model import Delta, ModelRequest, ModelResponse, ModelSettings, ToolCallDelta
    from golem_cli.core.result import PartialResult, PendingCall, Result
    from golem_cli.core.run import Agent, DeferredAnswer
    from golem_cli.core.tool import RunContext, Tool, ToolResult
    from golem_cli.core.usage import Usage, UsageLimit

_HOMES = {
    "core.canceled": "RunCanceled",
    "core.codec": "dump_messages load_messages",
    "core.conversation": "Conversation RunRecord",
    "core.errors": (
        "ConfigurationError GolemError HistoryError ModelError ModelRetry RunError Stage "
        "ToolCanceled ToolDeferred ToolFailed TranscriptError"
    ),
    "core.events": "RunEvent",
    "core.history": (
        "HistoryRepair SanitizeReport UnsafePart "
        "budget_history normalize_history sanitize_history trim_history"
    ),
    "core.identity": "new_id",
    "core.message": "Message Part ThinkingBlock ToolCall",
    "core.model": "Delta ModelRequest ModelResponse ModelSettings ToolCallDelta",
    "core.result": "PartialResult PendingCall Result",
    "core.run": "Agent DeferredAnswer",
    "core.tool": "RunContext Tool ToolResult",
    "core.usage": "Usage UsageLimit",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Agent",
    "ConfigurationError",
    "Conversation",
    "DeferredAnswer",
    "Delta",
    "GolemError",
    "HistoryError",
    "HistoryRepair",
    "Message",
    "ModelError",
    "ModelRequest",
    "ModelResponse",
    "ModelRetry",
    "ModelSettings",
    "Part",
    "PartialResult",
    "PendingCall",
    "Result",
    "RunCanceled",
    "RunContext",
    "RunError",
    "RunEvent",
    "RunRecord",
    "SanitizeReport",
    "Stage",
    "ThinkingBlock",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCanceled",
    "ToolDeferred",
    "ToolFailed",
    "ToolResult",
    "TranscriptError",
    "UnsafePart",
    "Usage",
    "UsageLimit",
    "__version__",
    "budget_history",
    "dump_messages",
    "load_messages",
    "new_id",
    "normalize_history",
    "sanitize_history",
    "trim_history",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
