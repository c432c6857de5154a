"""The tables of the contract: which JSON names stand for which fields, in the order of writing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from golem_cli.core.codec.args import WrittenCall, build_call
from golem_cli.core.codec.flaw import Flaw
from golem_cli.core.codec.record import (
    COUNT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Field,
    Kind,
    Shape,
    foreign,
    list_of,
    read_text,
    record,
    write_record,
)
from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.message import Message, Part, ThinkingBlock
from golem_cli.core.usage import Usage

if TYPE_CHECKING:
    from golem_cli.core.codec.scan import Cursor

OPENAI: Final = "the OpenAI chat format"
ANTHROPIC: Final = "the Anthropic messages format"
GEMINI: Final = "the Gemini contents format"

_ANTHROPIC_BLOCK: Final = re.compile(
    r'"type"\s*:\s*"(?:tool_use|tool_result|thinking|redacted_thinking|image)"'
)
_OPENAI_BLOCK: Final = re.compile(r'"type"\s*:\s*"(?:image_url|input_\w+|output_text|refusal|file)"')


def _read_content(cursor: Cursor) -> str:
    if cursor.peek() != "[":
        return read_text(cursor)
    position = cursor.position
    blocks = cursor.value()
    if _ANTHROPIC_BLOCK.search(blocks):
        found = ANTHROPIC
    elif _OPENAI_BLOCK.search(blocks):
        found = OPENAI
    else:
        found = "the OpenAI chat format or Anthropic's"
    raise Flaw(f"expected text, found a list: {foreign(found, position).problem}", position)


def _read_version(cursor: Cursor) -> object:
    cursor.peek()
    position = cursor.position
    version = INTEGER.read(cursor)
    if not isinstance(version, int) or version < 1:
        raise Flaw("expected a format version from 1 on", position)
    return version


PART: Final = Shape(
    build=Part,
    fields={
        "kind": Field(attribute="kind", kind=TEXT),
        "url": Field(attribute="url", kind=TEXT),
        "data": Field(attribute="data", kind=TEXT),
        "mediaType": Field(attribute="media_type", kind=TEXT),
    },
    foreign={
        "text": GEMINI,
        "functionCall": GEMINI,
        "functionResponse": GEMINI,
        "inlineData": GEMINI,
        "fileData": GEMINI,
        "inline_data": GEMINI,
        "function_call": GEMINI,
        "function_response": GEMINI,
    },
)
THINKING: Final = Shape(
    build=ThinkingBlock,
    fields={
        "text": Field(attribute="text", kind=TEXT),
        "signature": Field(attribute="signature", kind=TEXT),
        "redacted": Field(attribute="redacted", kind=TEXT),
    },
)
_RAW: Final = Kind(read=lambda cursor: cursor.value(), write=str, empty=("",))
CALL: Final = Shape(
    build=build_call,
    fields={
        "id": Field(attribute="id", kind=TEXT),
        "name": Field(attribute="name", kind=TEXT),
        "args": Field(attribute="args", kind=_RAW),
        "argsText": Field(attribute="args_text", kind=TEXT),
        "signature": Field(attribute="signature", kind=TEXT),
    },
    foreign={"function": OPENAI},
)
_CALL_KIND: Final = Kind(
    read=record(CALL).read,
    write=lambda call: write_record(WrittenCall(call), CALL),
)
MESSAGE: Final = Shape(
    build=Message,
    required=("role",),
    fields={
        "role": Field(attribute="role", kind=TEXT, always=True),
        "content": Field(attribute="content", kind=Kind(read=_read_content, write=TEXT.write, empty=("",))),
        "parts": Field(attribute="parts", kind=list_of(record(PART))),
        "thinking": Field(attribute="thinking", kind=list_of(record(THINKING))),
        "toolCalls": Field(attribute="tool_calls", kind=list_of(_CALL_KIND)),
        "toolCallId": Field(attribute="tool_call_id", kind=TEXT),
        "toolName": Field(attribute="tool_name", kind=TEXT),
        "failed": Field(attribute="failed", kind=FLAG),
        "interrupted": Field(attribute="interrupted", kind=FLAG),
        "signedBy": Field(attribute="signed_by", kind=TEXT),
        "runId": Field(attribute="run_id", kind=TEXT),
        "conversationId": Field(attribute="conversation_id", kind=TEXT),
    },
    foreign={"tool_calls": OPENAI, "tool_call_id": OPENAI, "function_call": OPENAI},
)
USAGE: Final = Shape(
    build=Usage,
    fields={
        "inputTokens": Field(attribute="input_tokens", kind=COUNT),
        "outputTokens": Field(attribute="output_tokens", kind=COUNT),
        "cacheReadTokens": Field(attribute="cache_read_tokens", kind=COUNT),
        "cacheWriteTokens": Field(attribute="cache_write_tokens", kind=COUNT),
        "reasoningTokens": Field(attribute="reasoning_tokens", kind=COUNT),
    },
)
RUN: Final = Shape(
    build=RunRecord,
    required=("runId",),
    fields={
        "runId": Field(attribute="run_id", kind=TEXT, always=True),
        "status": Field(attribute="status", kind=TEXT, always=True),
        "stage": Field(attribute="stage", kind=TEXT),
        "error": Field(attribute="error", kind=TEXT),
        "model": Field(attribute="model", kind=TEXT),
        "requests": Field(attribute="requests", kind=INTEGER),
        "toolCalls": Field(attribute="tool_calls", kind=INTEGER),
        "usage": Field(attribute="usage", kind=record(USAGE)),
        "cost": Field(attribute="cost", kind=NUMBER),
        "startedAt": Field(attribute="started_at", kind=TEXT),
        "endedAt": Field(attribute="ended_at", kind=TEXT),
        "prompt": Field(attribute="prompt", kind=TEXT),
        "promptParts": Field(attribute="prompt_parts", kind=list_of(record(PART))),
        "partialText": Field(attribute="partial_text", kind=TEXT),
        "pending": Field(attribute="pending", kind=list_of(TEXT)),
    },
)
SETTINGS: Final = Shape(
    build=ConversationSettings,
    fields={
        "trim": Field(attribute="trim", kind=INTEGER),
        "budget": Field(attribute="budget", kind=INTEGER),
    },
)
CONVERSATION: Final = Shape(
    build=Conversation,
    required=("golem",),
    fields={
        "golem": Field(attribute="version", kind=Kind(read=_read_version, write=str), always=True),
        "conversationId": Field(attribute="conversation_id", kind=TEXT, always=True),
        "title": Field(attribute="title", kind=TEXT, always=True),
        "createdAt": Field(attribute="created_at", kind=TEXT, always=True),
        "updatedAt": Field(attribute="updated_at", kind=TEXT, always=True),
        "model": Field(attribute="model", kind=TEXT, always=True),
        "instructions": Field(attribute="instructions", kind=TEXT, always=True),
        "settings": Field(attribute="settings", kind=record(SETTINGS), always=True),
        "forkedFrom": Field(attribute="forked_from", kind=TEXT),
        "messages": Field(attribute="messages", kind=list_of(record(MESSAGE)), always=True),
        "runs": Field(attribute="runs", kind=list_of(record(RUN)), always=True),
    },
    foreign={"contents": GEMINI},
)
