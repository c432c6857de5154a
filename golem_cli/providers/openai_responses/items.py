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
from functools import partial
from typing import TYPE_CHECKING

from golem_cli.core.history.wire_view import wire_args
from golem_cli.core.message import ASSISTANT, TOOL, USER, Message, ThinkingBlock
from golem_cli.providers.openai.names import ID, wire_name
from golem_cli.providers.openai_responses.parts import encode_part
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.history import note_failed, wire_history
from golem_cli.providers.wire.place import in_place, with_own_thinking

if TYPE_CHECKING:
    from golem_cli.core.message import Extra, ToolCall
    from golem_cli.providers.wire.fields import Json
    from golem_cli.providers.wire.findings import Note

_ID_FIELD = "id"


def extra_of_id(item_id: str) -> Extra:
    """The additive field that keeps the id of a reasoning item: its encrypted content is bound to it."""
    return {_ID_FIELD: json.dumps(item_id)} if item_id else {}


def encode_items(messages: Sequence[Message], *, origin: str, note: Note = silent) -> list[Json]:
    """The items of `messages`, system messages left out, for the model whose name in the file is `origin`.

    Every call is answered right behind its turn; reasoning goes back only to the model that encrypted it.
    """
    own = partial(with_own_thinking, origin=origin, carries=lambda block: block.signature, note=note)
    items: list[Json] = []
    for message in wire_history(messages, own=own, id_form=ID, wire_name=wire_name, note=note):
        if message.role == ASSISTANT:
            items += in_place(
                message, [*map(_call, message.tool_calls)], said=_said, thought=_reasoning, note=note
            )
            continue
        content = _content(message) if message.parts else message.content
        if message.role == TOOL:
            note_failed(message, note)
            call_id = message.tool_call_id
            items.append({"type": "function_call_output", "call_id": call_id, "output": content})
        else:  # any other role has no authority here
            items.append({"type": "message", "role": USER, "content": content})
    return items


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


def _call(call: ToolCall) -> Json:
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": wire_args(call)}
