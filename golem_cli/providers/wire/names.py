"""Ids of calls and names of tools in the form that a format takes, whoever gave them."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.history.pairing import Slot, pair
from golem_cli.core.message import TOOL, replace
from golem_cli.core.quote import quoted
from golem_cli.providers.wire.findings import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.core.message import Message, ToolCall
    from golem_cli.providers.wire.findings import Note

_OTHER: Final = re.compile(r"[^a-zA-Z0-9_-]", re.ASCII)
_READABLE: Final = 55
"""Characters that stay of a name that has to be changed; its digest tells it from others."""


def fitted(text: str, form: re.Pattern[str]) -> str:
    """`text` when it has the `form`, else something like it that no other text becomes.

    At most 64 letters, digits, `_` and `-`; the first is a `_` where the form wants no other.

    >>> fitted("docs.search", re.compile("[a-z_]+")).startswith("docs_search_")
    True
    """
    if form.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    like = f"{_OTHER.sub('_', text[:_READABLE])}_{digest}"
    return like if form.match(like) else f"_{like[1:]}"


def with_ids(
    history: Sequence[Message],
    form: re.Pattern[str],
    *,
    fit: Callable[[str, re.Pattern[str]], str] = fitted,
    note: Note = silent,
) -> list[Message]:
    """Return `history`, all of whose calls are answered, with ids of the `form` on calls and results.

    An id that an earlier call has gets a number, so that it is this request's only one. What stands before
    alone decides: an id never changes as the conversation grows. `fit` brings a text into the form.
    """
    unique = _UniqueIds(form, fit)
    answers = pair(history).answers
    of_call: dict[Slot, str] = {}
    changed: list[Message] = []
    for position, message in enumerate(history):
        if message.role == TOOL:
            changed.append(replace(message, tool_call_id=of_call[answers[position]]))
            continue
        ids = [unique.of(call.id) for call in message.tool_calls]
        for index, (call, call_id) in enumerate(zip(message.tool_calls, ids, strict=True)):
            of_call[position, index] = call_id
            if call_id != call.id:
                why = (
                    "the provider takes no such id"
                    if fit(call.id, form) != call.id
                    else "an earlier call has it"
                )
                note(message, "call-id", f"the id {quoted(call.id)} is sent as {call_id}: {why}", call.id)
        changed.append(_with_calls(message, id=ids))
    return changed


def with_names(
    history: Sequence[Message], wire_name: Callable[[str], str], *, note: Note = silent
) -> list[Message]:
    """Return `history`, whose ids are unique, with calls and results by the names that `wire_name` gives."""
    of_call: dict[str, str] = {}
    changed: list[Message] = []
    for message in history:
        if message.role == TOOL:
            changed.append(replace(message, tool_name=of_call[message.tool_call_id]))
            continue
        names = [sent_name(message, call, wire_name, note=note) for call in message.tool_calls]
        of_call |= {call.id: name for call, name in zip(message.tool_calls, names, strict=True)}
        changed.append(_with_calls(message, name=names))
    return changed


def sent_name(
    message: Message, call: ToolCall, wire_name: Callable[[str], str], *, note: Note = silent
) -> str:
    """The name by which a call of `message` is sent: what `wire_name` gives for its own."""
    name = wire_name(call.name)
    if name != call.name:
        text = f"the tool {quoted(call.name)} is sent as {name}: the provider takes no such name"
        note(message, "tool-name", text, call.id)
    return name


class _UniqueIds:
    """Ids of the `form`, none given twice."""

    def __init__(self, form: re.Pattern[str], fit: Callable[[str, re.Pattern[str]], str]) -> None:
        self._form = form
        self._fit = fit
        self._taken: set[str] = set()
        self._times: dict[str, int] = {}

    def of(self, call_id: str) -> str:
        """The id of the next call, whose own is `call_id`."""
        wanted = self._fit(call_id, self._form)
        unique = wanted
        while unique in self._taken:
            self._times[wanted] = self._times.get(wanted, 1) + 1
            unique = self._fit(f"{wanted}_{self._times[wanted]}", self._form)
        self._taken.add(unique)
        return unique


def _with_calls(message: Message, **fields: Sequence[str]) -> Message:
    """`message` with one field of its calls replaced, call by call."""
    if not message.tool_calls:
        return message
    ((name, values),) = fields.items()
    calls = (
        msgspec.structs.replace(call, **{name: value})
        for call, value in zip(message.tool_calls, values, strict=True)
    )
    return replace(message, tool_calls=tuple(calls))
