"""A history as the input items of the Responses format: pure, deterministic.

Source: OpenAI API reference, "Create a model response"; OpenAI guides, "Function calling" and "Reasoning
models" (encrypted reasoning goes back as it came); what the server says when it refuses:
openai/codex issue 17541 (encrypted by another model), openclaw/openclaw issue 70654 (an item of another id),
vercel/ai issues 7099 (reasoning that nothing follows) and 7543 (reasoning without its encrypted content),
deepseek-ai/awesome-deepseek-integration issue 740 (something between a call and its result). Items carry no
ids but those of reasoning: nothing is stored that they could name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from golem_cli.core.history import repair
from golem_cli.core.history.wire_view import wire_args, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message, ThinkingBlock, replace
from golem_cli.providers.openai.names import ID, wire_name
from golem_cli.providers.openai_responses.parts import encode_part
from golem_cli.providers.wire.names import WireIds
from golem_cli.providers.wire.place import in_place

if TYPE_CHECKING:
    from golem_cli.core.message import Extra, ToolCall
    from golem_cli.providers.wire.fields import Json

_ID_FIELD = "id"


def extra_of_id(item_id: str) -> Extra:
    """The additive field that keeps the id of a reasoning item: its encrypted content is bound to it."""
    return {_ID_FIELD: json.dumps(item_id)} if item_id else {}


def encode_items(messages: Sequence[Message], *, origin: str) -> list[Json]:
    """The items of `messages`, system messages left out, for the model whose name in the file is `origin`.

    Every call is answered right behind its turn; reasoning goes back only to the model that encrypted it.
    """
    own = [_with_own_reasoning(message, origin) for message in messages if message.role != SYSTEM]
    history = repair(wire_view(own))
    ids = WireIds(history, ID)
    items: list[Json] = []
    for position, message in enumerate(history):
        if message.role == ASSISTANT:
            calls = [
                _call(call, ids.of_call(position, index)) for index, call in enumerate(message.tool_calls)
            ]
            items += in_place(message, calls, said=_said, thought=_reasoning)
        elif message.role == TOOL:
            output = _content(message) if message.parts else message.content
            items.append(
                {"type": "function_call_output", "call_id": ids.of_result(position), "output": output}
            )
        else:  # any other role has no authority here
            content = _content(message) if message.parts else message.content
            items.append({"type": "message", "role": USER, "content": content})
    return items


def _with_own_reasoning(message: Message, origin: str) -> Message:
    if not message.thinking:
        return message
    own = message.role == ASSISTANT and message.signed_by == origin
    kept = tuple(block for block in message.thinking if own and block.signature)
    return message if kept == message.thinking else replace(message, thinking=kept)


def _content(message: Message) -> list[Json]:
    said: list[Json] = [{"type": "input_text", "text": message.content}] if message.content else []
    return [*said, *(encode_part(part) for part in message.parts)]


def _said(text: str) -> list[Json]:
    return [{"type": "message", "role": ASSISTANT, "content": text}] if text else []


def _reasoning(block: ThinkingBlock) -> Json:
    summary = [{"type": "summary_text", "text": block.text}] if block.text else []
    item: Json = {"type": "reasoning", "summary": summary, "encrypted_content": block.signature}
    item_id = _id_of(block)
    return {"id": item_id, **item} if item_id else item


def _id_of(block: ThinkingBlock) -> str:
    try:
        item_id = json.loads(block.extra.get(_ID_FIELD, '""'))
    except (ValueError, RecursionError):
        return ""
    return item_id if isinstance(item_id, str) else ""


def _call(call: ToolCall, call_id: str) -> Json:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": wire_name(call.name),
        "arguments": wire_args(call),
    }
