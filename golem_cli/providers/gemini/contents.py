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
from typing import TYPE_CHECKING, Final, cast

import msgspec

from golem_cli.core.history import repair
from golem_cli.core.history.wire_view import wire_object, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message, ThinkingBlock, replace
from golem_cli.providers.gemini.names import ID, wire_name
from golem_cli.providers.gemini.parts import encode_part, goes_into_result
from golem_cli.providers.gemini.signed import is_signed, signed_length
from golem_cli.providers.wire.fields import Json
from golem_cli.providers.wire.names import WireIds
from golem_cli.providers.wire.place import place_of

if TYPE_CHECKING:
    from golem_cli.core.message import Part, ToolCall
    from golem_cli.providers.gemini.rows import Row

MODEL: Final = "model"
FOREIGN: Final = "skip_thought_signature_validator"
"""What the docs give for a call that no Gemini model signed."""

_OPENING: Final = "(The beginning of this conversation is not shown.)"
_GO_ON: Final = "Continue."


def encode_contents(messages: Sequence[Message], *, origin: str, row: Row) -> list[Json]:
    """The contents of `messages`, system messages left out, for the model called `origin` in the file.

    They begin and end with the user's; every call is answered in the content behind it, where nothing else
    stands; blank text is left out, and so are the signatures and thoughts of other models.
    """
    own = [_with_own_signatures(message, origin) for message in messages if message.role != SYSTEM]
    history = repair(wire_view(own))
    ids = WireIds(history, ID)
    contents: list[Json] = []
    attached: list[Json] = []
    for position, message in enumerate(history):
        if message.role == TOOL:
            call_at = ids.answered_by(position)
            name = wire_name(history[call_at[0]].tool_calls[call_at[1]].name)
            inside = [part for part in message.parts if row.signed and goes_into_result(part)]
            _add(contents, USER, [_response(message, ids.of_result(position), name, inside)])
            attached += _beside(message, name, inside)
            continue
        _add(contents, USER, attached)
        attached = []
        if message.role == ASSISTANT:
            calls = [
                _call(call, ids.of_call(position, index)) for index, call in enumerate(message.tool_calls)
            ]
            _add(contents, MODEL, _model_parts(message, calls, row))
        else:  # any other role has no authority here
            _add(contents, USER, [*_said(message.content), *map(encode_part, message.parts)])
    _add(contents, USER, attached)
    return contents


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
    if contents and contents[-1]["role"] == role:
        last = cast("list[Json]", contents[-1]["parts"])
        if ("functionResponse" in last[0]) == ("functionResponse" in parts[0]):
            last.extend(parts)
            return
    contents.append({"role": role, "parts": parts})


def _with_own_signatures(message: Message, origin: str) -> Message:
    if not is_signed(message):
        return message
    own = message.role == ASSISTANT and message.signed_by == origin
    if own and all(block.signature for block in message.thinking):
        return message
    calls = message.tool_calls
    if not own:
        calls = tuple(msgspec.structs.replace(call, signature="") for call in calls)
    kept = tuple(block for block in message.thinking if own and block.signature)
    return replace(message, thinking=kept, tool_calls=calls)


def _model_parts(message: Message, calls: list[Json], row: Row) -> list[Json]:
    """The parts of a turn, each signature where it stood; none when the turn says nothing."""
    if not message.content.strip() and not calls:
        return []
    if row.signed and calls and "thoughtSignature" not in calls[0]:
        calls[0]["thoughtSignature"] = FOREIGN
    parts: list[Json] = []
    read = called = 0
    for block in message.thinking:
        characters, number = place_of(block)
        parts += [*_said(message.content[read:characters]), *calls[called:number]]
        read, called = max(read, characters), max(called, number)
        length = signed_length(block) or 0
        parts.append(_signed(block, message.content[read : read + length]))
        read += length
    return [*parts, *_said(message.content[read:]), *calls[called:]]


def _signed(block: ThinkingBlock, text: str) -> Json:
    """The part that `block` stands for: a thought, or the `text` that it signs."""
    if signed_length(block) is None:
        return {"text": block.text, "thought": True, "thoughtSignature": block.signature}
    return {"text": text, "thoughtSignature": block.signature}


def _call(call: ToolCall, call_id: str) -> Json:
    arguments = msgspec.Raw(wire_object(call).encode())
    part: Json = {"functionCall": {"id": call_id, "name": wire_name(call.name), "args": arguments}}
    return part | ({"thoughtSignature": call.signature} if call.signature else {})


def _response(message: Message, call_id: str, name: str, inside: Sequence[Part]) -> Json:
    said = {"error" if message.failed else "output": message.content}
    response: Json = {"id": call_id, "name": name, "response": said}
    if inside:
        response["parts"] = [encode_part(part) for part in inside]
    return {"functionResponse": response}


def _beside(message: Message, name: str, inside: Sequence[Part]) -> list[Json]:
    """The parts of a result that its response cannot hold, for a content of their own behind it."""
    beside = [encode_part(part) for part in message.parts if part not in inside]
    return [_text(f"(Attached to the result of {name}:)"), *beside] if beside else []


def _said(text: str) -> list[Json]:
    return [_text(text)] if text.strip() else []


def _text(text: str) -> Json:
    return {"text": text}
