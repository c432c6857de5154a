"""Folds fragments of tool calls, in whatever way a server numbers them, into calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from golem_cli.core.errors import ModelError
from golem_cli.core.history import is_json_object
from golem_cli.core.history.wire_view import scalar_text
from golem_cli.core.message import ToolCall
from golem_cli.core.model import ToolCallDelta
from golem_cli.providers.wire.fields import json_text, kind_of, optional, text

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class _OpenCall:
    """A call that is being told: its number, and what arrived of it."""

    number: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def args(self) -> str:
        """The argument text so far."""
        return "".join(self.pieces)


class CallFold:
    """The calls of one turn, in the making.

    A fragment belongs to the call at its `index`. What servers do beyond the format:
    one that gives every call the same index tells another id with each; one that gives no index at all
    continues the call of the same id, or else the latest, until it tells a name, which begins a call. A name
    may come in pieces or be repeated with every fragment.
    """

    def __init__(self) -> None:
        self._calls: dict[int, _OpenCall] = {}
        self._at_index: dict[int, _OpenCall] = {}
        self._latest: _OpenCall | None = None

    def take(self, fragments: Sequence[object]) -> tuple[ToolCallDelta, ...]:
        """Take the fragments of one event; return them as deltas. Raises `ModelError` for a wrong shape."""
        return tuple(self._take(fragment) for fragment in fragments)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far, by number; a number that nothing was said of is no call."""
        ordered = (self._calls[number] for number in sorted(self._calls))
        calls = (ToolCall(id=call.id, name=call.name, args=call.args) for call in ordered)
        return tuple(call for call in calls if call.id or call.name or call.args)

    def _take(self, fragment: object) -> ToolCallDelta:
        if not isinstance(fragment, dict):
            raise ModelError(f"sent a {kind_of(fragment)} where a tool call was expected")
        function = optional(fragment, "function", dict) or {}
        index, call_id, name = optional(fragment, "index", int), text(fragment, "id"), text(function, "name")
        args = _arguments(function.get("arguments"))
        call = self._call_at(index, call_id) if index is not None else self._call_without_index(call_id, name)
        call.id = call.id or call_id
        call.name = _longer_name(call.name, name)
        call.pieces.append(args)
        self._latest = call
        return ToolCallDelta(index=call.number, id=call_id, name=name, args_fragment=args)

    def _call_at(self, index: int, call_id: str) -> _OpenCall:
        call = self._at_index.get(index)
        if call is None or (call_id and call.id and call_id != call.id):
            call = self._at_index[index] = self._begin(index)
        return call

    def _call_without_index(self, call_id: str, name: str) -> _OpenCall:
        calls = reversed(self._calls.values())
        call = next((call for call in calls if call.id == call_id), None) if call_id else self._latest
        begins = name and (call is None or name != call.name or not call_id or is_json_object(call.args))
        return self._begin(len(self._calls)) if call is None or begins else call

    def _begin(self, number: int) -> _OpenCall:
        if number in self._calls:
            number = max(self._calls) + 1
        call = self._calls[number] = _OpenCall(number=number)
        return call


def _longer_name(known: str, piece: str) -> str:
    """The name after another piece of it, or after hearing it again, whole or from its start."""
    return piece if piece.startswith(known) else known + piece


def _arguments(value: object) -> str:
    """The argument text of a fragment. Some servers send the object itself: its JSON text stands for it."""
    if value is None:
        return ""
    return scalar_text(value) if isinstance(value, str) else json_text(value)
