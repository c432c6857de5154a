"""A history as the formats with turns of their own start from it: one function, and how its text travels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.history import repair
from golem_cli.core.history.wire_view import is_empty, wire_args, wire_object, wire_view
from golem_cli.core.message import SYSTEM
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.names import with_ids, with_names

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from golem_cli.core.message import Message, ToolCall
    from golem_cli.providers.wire.findings import Note


def wire_history(
    messages: Sequence[Message],
    *,
    own: Callable[[Message], Message],
    id_form: re.Pattern[str],
    wire_name: Callable[[str], str],
    note: Note = silent,
) -> list[Message]:
    """Return `messages` as a request carries them, system messages left out.

    `own` leaves of a message what the model may be shown. Every call is answered behind its turn; its id is
    of the `id_form` and the request's only one, its name as `wire_name` has it, and its result has both.
    """
    shown = [_noted_empty(message, own(message), note) for message in messages if message.role != SYSTEM]
    history = with_ids(repair(wire_view(shown)), id_form, note=note)
    return with_names(history, wire_name, note=note)


def _noted_empty(message: Message, shown: Message, note: Note) -> Message:
    if is_empty(shown) and not is_empty(message):
        note_empty(message, note)
    return shown


def note_empty(message: Message, note: Note) -> None:
    """Note that nothing of `message` is left to send."""
    note(message, "empty-turn", "nothing of the message is left to send: the turn is left out")


def filled(text: str, message: Message, note: Note = silent) -> str:
    """`text` of `message`, "" for one that is white space alone, which some formats refuse."""
    if text and not text.strip():
        note(message, "blank-text", "text that is white space alone is left out: it would be refused")
        return ""
    return text


def embedded_args(call: ToolCall, message: Message, note: Note = silent) -> msgspec.Raw:
    """The arguments of a call of `message` as a JSON value, for formats that do not take them as text."""
    value = wire_object(call)
    if value != wire_args(call):
        note_broken(message, note, call.id)
    return msgspec.Raw(value.encode())


def note_moved(message: Message, parts: int, note: Note) -> None:
    """Note that `parts` of a result travel beside it."""
    many = "1 part is" if parts == 1 else f"{parts} parts are"
    text = f"{many} sent behind the result, as the user's: a result cannot hold them"
    note(message, "moved-part", text, message.tool_call_id)


def note_failed(message: Message, note: Note) -> None:
    """Note of a result that failed that the format has no word for it."""
    if message.failed:
        text = "the format cannot say that the call failed: only the text of the result does"
        note(message, "failed-mark", text, message.tool_call_id)


def note_broken(message: Message, note: Note, call_id: str = "") -> None:
    """Note that a text of `message` has half a character in it."""
    note(message, "broken-text", "half of a character that UTF-16 needs two for is sent as U+FFFD", call_id)
