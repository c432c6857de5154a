"""A history as the alternating turns of the Messages format: pure, deterministic.

Source: Claude API reference, "Create a Message"; Claude docs, "Handle tool calls" (results right behind
their calls and in front of any text), "Thinking" (blocks go back unmodified, to the model that signed them,
and never stand last), "Prefill" (no white space at the end of the last assistant turn).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from golem_cli.core.message import ASSISTANT, TOOL, USER, Message, ThinkingBlock, ToolCall
from golem_cli.providers.anthropic.names import ID, wire_name
from golem_cli.providers.anthropic.parts import encode_part
from golem_cli.providers.wire.fields import Json
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.history import embedded_args, filled, note_empty, wire_history
from golem_cli.providers.wire.place import in_place, with_own_thinking

if TYPE_CHECKING:
    from golem_cli.providers.wire.findings import Note

THINKING: Final = frozenset({"thinking", "redacted_thinking"})

_OPENING: Final = "(The beginning of this conversation is not shown.)"
_GO_ON: Final = "Continue."


def encode_turns(messages: Sequence[Message], *, origin: str, note: Note = silent) -> list[Json]:
    """The turns of `messages`, system messages left out, for the model whose name in the file is `origin`.

    Turns alternate and begin with the user's; every call is answered in the turn behind it; blank text is
    left out, and so is thinking that another model signed or nobody did.
    """
    own = partial(with_own_thinking, origin=origin, note=note)
    turns: list[Json] = []
    before = ""  # the role of the message that the last turn ends with
    for message in wire_history(messages, own=own, id_form=ID, wire_name=wire_name, note=note):
        blocks = _blocks(message, note)
        if not blocks:
            note_empty(message, note)
            continue
        role = ASSISTANT if message.role == ASSISTANT else USER  # any other role has no authority here
        if not turns and role == ASSISTANT:
            note(message, "role-order", "the user begins: a line that says what is missing goes in front")
            turns.append({"role": USER, "content": [_text(_OPENING)]})
        if turns and turns[-1]["role"] == role:
            if TOOL not in {message.role, before}:
                note(message, "role-order", "turns alternate: this one is sent as part of the one before it")
            blocks_of(turns[-1]).extend(blocks)
        else:
            turns.append({"role": role, "content": blocks})
        before = message.role
    return turns


def close(turns: list[Json], *, prefill: bool) -> None:
    """Let `turns` end as the model takes it: with the user's, or with a beginning that it goes on from."""
    if not turns or turns[-1]["role"] == USER:
        return
    if not prefill:
        turns.append({"role": USER, "content": [_text(_GO_ON)]})
        return
    blocks = [block for block in blocks_of(turns[-1]) if block["type"] not in THINKING]
    if blocks[-1]["type"] == "text":
        blocks[-1] = _text(str(blocks[-1]["text"]).rstrip())
    turns[-1]["content"] = blocks


def blocks_of(turn: Json) -> list[Json]:
    """The content blocks of a turn."""
    return cast("list[Json]", turn["content"])


def in_loop_without_thinking(turns: Sequence[Json]) -> bool:
    """Whether `turns` end within a tool loop that did not begin with thinking.

    Such a request is refused when it asks for thinking with a budget: the loop is one turn of the
    assistant's, and that must begin with a thinking block.
    """
    start = len(turns)
    while start >= 2 and blocks_of(turns[start - 1])[0]["type"] == "tool_result":
        start -= 2
    return start < len(turns) and blocks_of(turns[start])[0]["type"] not in THINKING


def _blocks(message: Message, note: Note) -> list[Json]:
    def say(text: str) -> list[Json]:
        return [_text(text)] if filled(text, message, note) else []

    if message.role == ASSISTANT:
        calls = [_call(call, message, note) for call in message.tool_calls]
        return in_place(message, calls, said=say, thought=_thinking, note=note)
    said = [*say(message.content), *(encode_part(part) for part in message.parts)]
    if message.role != TOOL:
        return said
    result: Json = {"type": "tool_result", "tool_use_id": message.tool_call_id}
    if message.parts:
        result["content"] = said
    elif said:
        result["content"] = message.content
    if message.failed:
        result["is_error"] = True
    return [result]


def _thinking(block: ThinkingBlock) -> Json:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.redacted}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _call(call: ToolCall, message: Message, note: Note) -> Json:
    arguments = embedded_args(call, message, note)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
