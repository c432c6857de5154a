"""A history as the contents of a generateContent request: pure, deterministic.

Sources: Gemini API docs, "Function calling" (all responses in one content behind the calls, each with the
id and name of its call; media in responses since Gemini 3) and "Thought signatures" (a signature goes back
in its part; a step whose first call has none is refused since Gemini 3, unless it says that it comes from
elsewhere); what the server says when it refuses: google-gemini/gemini-cli issues 5443, 11814 and 16415,
deepnoodle-ai/dive pull request 287 (nothing stands beside responses), crewAIInc/crewAI pull request 6973
(a request ends with the user).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import msgspec

from golem_cli.core.message import ASSISTANT, TOOL, USER, Message, ThinkingBlock, replace
from golem_cli.providers.gemini.names import ID, wire_name
from golem_cli.providers.gemini.parts import encode_part, goes_into_result
from golem_cli.providers.gemini.signed import is_signed, signed_length
from golem_cli.providers.wire.fields import Json
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.history import embedded_args, filled, note_empty, note_moved, wire_history
from golem_cli.providers.wire.place import note_foreign, place_of, with_own_thinking

if TYPE_CHECKING:
    from golem_cli.core.message import Part, ToolCall
    from golem_cli.providers.gemini.rows import Row
    from golem_cli.providers.wire.findings import Note

MODEL: Final = "model"
FOREIGN: Final = "skip_thought_signature_validator"
"""What the docs give for a call that no Gemini model signed."""

_OPENING: Final = "(The beginning of this conversation is not shown.)"
_GO_ON: Final = "Continue."


def encode_contents(messages: Sequence[Message], *, origin: str, row: Row, note: Note = silent) -> list[Json]:
    """The contents of `messages`, system messages left out, for the model called `origin` in the file.

    They begin and end with the user's; every call is answered in the content behind it, where nothing else
    stands; blank text is left out, and so are the signatures and thoughts of other models.
    """
    own = partial(_with_own_signatures, origin=origin, note=note)
    contents: list[Json] = []
    attached: list[Json] = []
    for message in wire_history(messages, own=own, id_form=ID, wire_name=wire_name, note=note):
        if message.role == TOOL:
            inside = [part for part in message.parts if row.signed and goes_into_result(part)]
            _add(contents, USER, [_response(message, inside)])
            attached += _beside(message, inside, note)
            continue
        _add(contents, USER, attached)
        attached = []
        role = MODEL if message.role == ASSISTANT else USER  # any other role has no authority here
        parts = _model_parts(message, row, note) if role == MODEL else _user_parts(message, note)
        _note_place(contents, role, parts, message, note)
        _add(contents, role, parts)
    _add(contents, USER, attached)
    return contents


def _note_place(contents: list[Json], role: str, parts: list[Json], message: Message, note: Note) -> None:
    """Note what `_add` will do to the turn of `message` besides adding it."""
    if not parts:
        note_empty(message, note)
    elif not contents and role == MODEL:
        note(message, "role-order", "the user begins: a line that says what is missing goes in front")
    elif _takes(contents, role, parts):
        note(message, "role-order", "turns alternate: this one is sent as part of the one before it")


def close(contents: list[Json]) -> None:
    """Let `contents` end with the user's, as the format demands; empty ones stay empty."""
    if contents and contents[-1]["role"] == MODEL:
        _add(contents, USER, [_text(_GO_ON)])


def _add(contents: list[Json], role: str, parts: list[Json]) -> None:
    """Add `parts` to the last content when it is of that `role`; responses stand in contents of their own."""
    if not parts:
        return
    if not contents and role == MODEL:
        contents.append({"role": USER, "parts": [_text(_OPENING)]})
    if _takes(contents, role, parts):
        cast("list[Json]", contents[-1]["parts"]).extend(parts)
    else:
        contents.append({"role": role, "parts": parts})


def _takes(contents: list[Json], role: str, parts: list[Json]) -> bool:
    """Whether the last content is of that `role` and may hold `parts` too."""
    if not contents or contents[-1]["role"] != role:
        return False
    last = cast("list[Json]", contents[-1]["parts"])
    return ("functionResponse" in last[0]) == ("functionResponse" in parts[0])


def _with_own_signatures(message: Message, origin: str, note: Note) -> Message:
    if not is_signed(message):
        return message
    shown = with_own_thinking(message, origin, carries=lambda block: block.signature, note=note)
    own = message.role == ASSISTANT and message.signed_by == origin
    if own or not any(call.signature for call in message.tool_calls):
        return shown
    note_foreign(message, "the signature of a call", own=False, note=note)
    calls = tuple(msgspec.structs.replace(call, signature="") for call in message.tool_calls)
    return replace(shown, tool_calls=calls)


def _user_parts(message: Message, note: Note) -> list[Json]:
    return [*_said(message.content, message, note), *map(encode_part, message.parts)]


def _model_parts(message: Message, row: Row, note: Note) -> list[Json]:
    """The parts of a turn, each signature where it stood; none when the turn says nothing."""
    calls = [_call(call, message, note) for call in message.tool_calls]
    if not filled(message.content, message) and not calls:
        return []
    if row.signed and calls and "thoughtSignature" not in calls[0]:
        text = "the calls are sent marked as none that a Gemini model signed"
        note(message, "unsigned-call", text, message.tool_calls[0].id)
        calls[0]["thoughtSignature"] = FOREIGN
    parts: list[Json] = []
    read = called = 0
    for block in message.thinking:
        characters, number = place_of(block)
        parts += [*_said(message.content[read:characters], message, note), *calls[called:number]]
        read, called = max(read, characters), max(called, number)
        length = signed_length(block) or 0
        parts.append(_signed(block, message.content[read : read + length]))
        read += length
    return [*parts, *_said(message.content[read:], message, note), *calls[called:]]


def _signed(block: ThinkingBlock, text: str) -> Json:
    """The part that `block` stands for: a thought, or the `text` that it signs."""
    if signed_length(block) is None:
        return {"text": block.text, "thought": True, "thoughtSignature": block.signature}
    return {"text": text, "thoughtSignature": block.signature}


def _call(call: ToolCall, message: Message, note: Note) -> Json:
    arguments = embedded_args(call, message, note)
    part: Json = {"functionCall": {"id": call.id, "name": call.name, "args": arguments}}
    return part | ({"thoughtSignature": call.signature} if call.signature else {})


def _response(message: Message, inside: Sequence[Part]) -> Json:
    said = {"error" if message.failed else "output": message.content}
    response: Json = {"id": message.tool_call_id, "name": message.tool_name, "response": said}
    if inside:
        response["parts"] = [encode_part(part) for part in inside]
    return {"functionResponse": response}


def _beside(message: Message, inside: Sequence[Part], note: Note) -> list[Json]:
    """The parts of a result that its response cannot hold, for a content of their own behind it."""
    beside = [encode_part(part) for part in message.parts if part not in inside]
    if not beside:
        return []
    note_moved(message, len(beside), note)
    return [_text(f"(Attached to the result of {message.tool_name}:)"), *beside]


def _said(text: str, message: Message, note: Note) -> list[Json]:
    return [_text(text)] if filled(text, message, note) else []


def _text(text: str) -> Json:
    return {"text": text}
