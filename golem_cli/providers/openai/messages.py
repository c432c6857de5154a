"""A history as the messages of a chat-completions request: pure, deterministic.

Source: OpenAI API reference, "Create chat completion"; for what services want besides, the sources that
`golem_cli.providers.services` names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.history import repair
from golem_cli.core.history.wire_view import wire_args, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message, replace
from golem_cli.providers.openai.names import wire_id, wire_name
from golem_cli.providers.openai.parts import encode_part
from golem_cli.providers.openai.roles import alternated, bridged
from golem_cli.providers.wire.flatten import tools_as_text
from golem_cli.providers.wire.names import WireIds

if TYPE_CHECKING:
    from golem_cli.core.message import ToolCall
    from golem_cli.providers.services import Quirks
    from golem_cli.providers.wire.fields import Json


def encode_messages(
    messages: Sequence[Message], quirks: Quirks, *, tools: Collection[str] = ()
) -> list[Json]:
    """The wire messages of a history, in the form and the order that `quirks` say.

    `tools` are the names that the request declares: a call of any other name gets one that the format allows.
    The parts of a batch of tool results follow it in one user message.
    """
    if quirks.order == "alternating":
        return alternated(_encoded(tools_as_text(messages), quirks, tools))
    history = wire_view(messages, thinking=quirks.send_reasoning)
    if quirks.call_id_length:
        history = _with_ids(repair(history), quirks.call_id_length)
    encoded = _encoded(history, quirks, tools)
    return bridged(encoded) if quirks.order == "bridged" else encoded


def _with_ids(history: Sequence[Message], length: int) -> list[Message]:
    """`history` with ids of that `length`, each the only one of its request."""
    form = re.compile(rf"[a-zA-Z0-9]{{{length}}}", re.ASCII)
    ids = WireIds(history, form, fit=lambda text, _: wire_id(text, length))
    return [
        replace(message, tool_call_id=ids.of_result(position))
        if message.role == TOOL
        else replace(
            message,
            tool_calls=tuple(
                msgspec.structs.replace(call, id=ids.of_call(position, index))
                for index, call in enumerate(message.tool_calls)
            ),
        )
        for position, message in enumerate(history)
    ]


def _encoded(history: Sequence[Message], quirks: Quirks, tools: Collection[str]) -> list[Json]:
    out: list[Json] = []
    waiting: list[Json] = []
    working = False  # whether the model has called a tool since the user spoke
    for message in history:
        if message.role == TOOL:
            out.append({"role": TOOL, "content": message.content, "tool_call_id": message.tool_call_id})
            waiting += _framed_parts(message)
            continue
        if waiting:
            out.append({"role": USER, "content": waiting})
            waiting = []
        working = bool(message.tool_calls) or (working and message.role == ASSISTANT)
        if (encoded := _message(message, tools)) is not None:
            if working and quirks.send_reasoning:
                encoded["reasoning_content"] = _reasoning(message)
            out.append(encoded)
    if waiting:
        out.append({"role": USER, "content": waiting})
    return out


def _message(message: Message, tools: Collection[str]) -> Json | None:
    """A system, user or assistant message; None for one with nothing in it, which services refuse."""
    if message.role == ASSISTANT:
        if not message.content and not message.tool_calls:
            return None
        turn: Json = {"role": ASSISTANT, "content": message.content}
        if message.tool_calls:
            turn["tool_calls"] = [_call(call, tools) for call in message.tool_calls]
        return turn
    role = SYSTEM if message.role == SYSTEM else USER  # any other role has no authority here
    if message.parts:
        text = [_text(message.content)] if message.content else []
        return {"role": role, "content": text + [encode_part(part) for part in message.parts]}
    return {"role": role, "content": message.content} if message.content else None


def _reasoning(message: Message) -> str:
    """What goes back of a turn's reasoning: nothing of what another provider's model signed."""
    return "" if message.signed_by else "".join(block.text for block in message.thinking)


def _call(call: ToolCall, tools: Collection[str]) -> Json:
    name = call.name if call.name in tools else wire_name(call.name)
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": wire_args(call)}}


def _framed_parts(result: Message) -> list[Json]:
    """The parts of a tool result behind a line that names its call: a tool message carries text only."""
    if not result.parts:
        return []
    tool = f" of {result.tool_name}" if result.tool_name else ""
    frame = f"Attachments of the result of tool call {result.tool_call_id}{tool}:"
    return [_text(frame), *(encode_part(part) for part in result.parts)]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
