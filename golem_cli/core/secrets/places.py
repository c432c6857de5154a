"""Every string of a conversation, with words that say where it stands; and the same with other strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall

Record = TypeVar("Record", bound=msgspec.Struct)

TEXT: Final = "text"
"""Plain words: everything that is none of the others."""
JSON: Final = "json"
"""JSON text, if nothing broke it: arguments and unknown fields."""
DATA: Final = "data"
"""Base64 of a part."""
OPAQUE: Final = "opaque"
"""What only a provider can read: signatures and redacted thinking, and who can: without them nobody."""
ID: Final = "id"
"""Says which thing is meant, and nothing else; the same id stands in several places."""

Change = Callable[[str, str, str], str]
"""Given a string, what it is (one of the words above) and where it stands, returns what stands there then."""

_KINDS: Final = {
    (Part, "data"): DATA,
    (ThinkingBlock, "signature"): OPAQUE,
    (ThinkingBlock, "redacted"): OPAQUE,
    (ToolCall, "signature"): OPAQUE,
    (ToolCall, "id"): ID,
    (ToolCall, "args"): JSON,
    (Message, "signed_by"): OPAQUE,
    (Message, "tool_call_id"): ID,
    (Message, "run_id"): ID,
    (Message, "conversation_id"): ID,
    (RunRecord, "run_id"): ID,
    (RunRecord, "pending"): ID,
    (Conversation, "conversation_id"): ID,
    (Conversation, "forked_from"): ID,
}
_NAMES: Final = {
    "messages": "message",
    "runs": "run",
    "parts": "part",
    "prompt_parts": "part",
    "thinking": "thinking block",
    "tool_calls": "call",
    "content": "text",
    "args": "arguments",
}


def rewritten(record: Record, change: Change, place: str = "") -> Record:
    """Return `record` with every string in it, at any depth, replaced by what `change` makes of it.

    Unknown fields are JSON text; their names are strings too. A string that is empty is not looked at.
    """
    changes = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value and not isinstance(value, int | float):
            kind = _KINDS.get((type(record), name), TEXT)
            changes[name] = _rewritten(value, change, kind, _named(name, place))
    return msgspec.structs.replace(record, **changes)


def _rewritten(value: object, change: Change, kind: str, place: str) -> object:
    match value:
        case str():
            return change(value, kind, place)
        case tuple():
            return tuple(
                _rewritten(item, change, kind, f"{place} {number}") for number, item in enumerate(value, 1)
            )
        case dict():
            return {
                change(name, TEXT, f"{place}, a name"): change(text, JSON, place)
                for name, text in value.items()
            }
        case msgspec.Struct():
            return rewritten(value, change, f"{place}, ")
    return value


def _named(name: str, place: str) -> str:
    return place + ("unknown fields" if name == "extra" else _NAMES.get(name, name.replace("_", " ")))
