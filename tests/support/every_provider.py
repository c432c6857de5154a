"""Every adapter with its strict server, for what all of them must do alike."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from golem_cli.chat.ports import ChatModel
from golem_cli.core.model_settings import ModelSettings
from golem_cli.providers.anthropic import AnthropicModel
from golem_cli.providers.bedrock import BedrockModel
from golem_cli.providers.gemini import GeminiModel
from golem_cli.providers.openai import OpenAIModel
from golem_cli.providers.openai_responses import ResponsesModel
from golem_cli.providers.services import find_service
from tests.support import strict_anthropic, strict_bedrock, strict_gemini, strict_openai, strict_responses
from tests.support.event_stream import event as frame
from tests.support.http_server import HttpServer, Reply, Request
from tests.support.strict_rules import json_reply

KEY: Final = strict_bedrock.BEARER
SSE: Final = {"Content-Type": "text/event-stream"}
TOOL: Final = "look"
CALL_ID: Final = "call_1"
"""Every server gives every call this id, as some do."""

_MARKS: Final = re.compile(rb',\{"cachePoint":\{"type":"default"\}\}|,"cache_control":\{"type":"ephemeral"\}')


@dataclass(frozen=True)
class Provider:
    """An adapter: how its model is made for a server's address (and `timeouts`), and its strict server.

    `calling` is an answer that calls the tool `look`, streamed but for `calls_whole`; `turns` the field that
    holds the conversation; `counts` says whether it has a counter, `reads_whole` whether it takes a whole
    answer where it asked for a stream.
    """

    name: str
    make: Callable[..., ChatModel]
    respond: Callable[[Request], Reply]
    calling: Callable[[], Reply]
    turns: str = "messages"
    counts: bool = False
    calls_whole: bool = False
    reads_whole: bool = False
    settings: ModelSettings = field(default_factory=ModelSettings)

    def __str__(self) -> str:
        return self.name

    def beginning(self, body: bytes) -> bytes:
        """The bytes of a request up to its last message, without marks for the cache."""
        unmarked = _MARKS.sub(b"", body)
        turns = msgspec.json.decode(
            msgspec.json.decode(unmarked, type=dict[str, msgspec.Raw])[self.turns], type=list[msgspec.Raw]
        )
        return unmarked[: unmarked.rindex(bytes(turns[-1]))]

    def unmarked(self, body: bytes) -> bytes:
        """The bytes of a request without marks for the cache."""
        return _MARKS.sub(b"", body)


class CallingServer(HttpServer):
    """The strict server of a provider, which calls the tool when `wants_tool` is set and it accepts."""

    def __init__(self, provider: Provider) -> None:
        self.wants_tool = threading.Event()
        self.refused: list[bytes] = []
        self.accepted: list[bytes] = []
        self._provider = provider
        super().__init__(respond=self._choose)

    def _choose(self, request: Request) -> Reply:
        reply = self._provider.respond(request)
        if reply.status != 200:
            self.refused += [piece for piece in reply.pieces if isinstance(piece, bytes)]
            return reply
        self.accepted.append(request.body)
        if self.wants_tool.is_set() and self._provider.calls_whole != (
            "stream" in reply.headers["Content-Type"]
        ):
            self.wants_tool.clear()
            return self._provider.calling()
        return reply


def chat_completions(service: str) -> Provider:
    """The adapter for a service that takes chat completions."""
    row = find_service(service)
    assert row is not None
    return Provider(
        service,
        lambda url, **options: OpenAIModel(
            model="m", name=f"{service}:m", base_url=url, api_key=KEY, quirks=row.quirks, **options
        ),
        strict_openai.strict_responder(service),
        _chat_completion,
        reads_whole=True,
    )


def _chat_completion() -> Reply:
    function = {"name": TOOL, "arguments": "{}"}
    call = {"index": 0, "id": CALL_ID, "type": "function", "function": function}
    choice = {"delta": {"content": "I look.", "tool_calls": [call]}, "finish_reason": "tool_calls"}
    chunk = json.dumps({"choices": [choice]}).encode()
    return Reply(headers=SSE, body=b"data: %b\n\ndata: [DONE]\n\n" % chunk)


CLAUDE: Final = "claude-opus-4-6"
GEMINI: Final = "gemini-3.8-flash"
REASONING: Final = "gpt-5-mini"


def _messages() -> Reply:
    event, started, piece = strict_anthropic.event, strict_anthropic.started, strict_anthropic.piece
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    body = [
        event("message_start", message={"model": CLAUDE, "usage": {"input_tokens": 1}}),
        started(0, thinking),
        piece(0, "thinking_delta", thinking="hm"),
        piece(0, "signature_delta", signature=strict_anthropic.SIGNED + CLAUDE),
        started(1, strict_anthropic.call(CALL_ID, TOOL)),
        event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 1}),
        event("message_stop"),
    ]
    return Reply(headers=SSE, body=b"".join(body))


def _contents() -> Reply:
    call = strict_gemini.call(CALL_ID, TOOL, signature=strict_gemini.SIGNED + GEMINI)
    answer = strict_gemini.answer(call, finishReason="STOP") | strict_gemini.usage()
    return Reply(headers=SSE, body=strict_gemini.event(answer))


def _items() -> Reply:
    event = strict_responses.event
    call = {"type": "function_call", "id": "fc_1", "call_id": CALL_ID, "name": TOOL, "arguments": "{}"}
    thought = strict_responses.reasoning(REASONING)
    body = [
        event("response.output_item.added", output_index=0, item=thought | {"encrypted_content": None}),
        event("response.output_item.done", output_index=0, item=thought),
        event("response.output_item.added", output_index=1, item=call | {"arguments": ""}),
        event("response.function_call_arguments.delta", output_index=1, delta="{}"),
        event("response.output_item.done", output_index=1, item=call),
        event("response.completed", response=strict_responses.finished(REASONING, output=[thought, call])),
    ]
    return Reply(headers=SSE, body=b"".join(body))


def _bedrock(model: str) -> Provider:
    calls_whole = "llama" in model

    def calling() -> Reply:
        if calls_whole:
            call = strict_bedrock.call(CALL_ID, TOOL)
            message = {"role": "assistant", "content": [call]}
            return json_reply({"output": {"message": message}, "stopReason": "tool_use"})
        thinking = [
            strict_bedrock.delta(0, reasoningContent={"text": "hm"}),
            strict_bedrock.delta(0, reasoningContent={"signature": strict_bedrock.SIGNED + model}),
        ]
        start = {"toolUse": {"toolUseId": CALL_ID, "name": TOOL}}
        body = [
            *(thinking if "claude" in model else []),
            frame("contentBlockStart", contentBlockIndex=1, start=start),
            strict_bedrock.delta(1, toolUse={"input": "{}"}),
            frame("messageStop", stopReason="tool_use"),
            frame("metadata", usage=strict_bedrock.USAGE),
        ]
        return Reply(headers={"Content-Type": strict_bedrock.STREAM}, body=b"".join(body))

    return Provider(
        f"bedrock:{model}",
        lambda url, **options: BedrockModel(
            model=model, base_url=url, api_key=KEY, region=strict_bedrock.REGION, **options
        ),
        strict_bedrock.respond,
        calling,
        counts=True,
        calls_whole=calls_whole,
    )


EVERY: Final = (
    *map(chat_completions, ("openai", "mistral", "deepseek", "azure")),
    Provider(
        "openai-responses",
        lambda url, **options: ResponsesModel(model=REASONING, base_url=url, api_key=KEY, **options),
        strict_responses.respond,
        _items,
        turns="input",
    ),
    Provider(
        "anthropic",
        lambda url, **options: AnthropicModel(model=CLAUDE, base_url=url, api_key=KEY, **options),
        strict_anthropic.respond,
        _messages,
        counts=True,
        settings=ModelSettings(thinking="adaptive"),
    ),
    Provider(
        "gemini",
        lambda url, **options: GeminiModel(model=GEMINI, base_url=url, api_key=KEY, **options),
        strict_gemini.respond,
        _contents,
        turns="contents",
        counts=True,
    ),
    *map(_bedrock, (strict_bedrock.HAIKU, strict_bedrock.NOVA, strict_bedrock.LLAMA)),
)


def refusals(server: CallingServer) -> list[Any]:
    """What the server refused; that a model calls tools in whole answers only is no refusal of a history."""
    return [said for said in server.refused if b"in streaming mode" not in said]
