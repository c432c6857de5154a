"""A model request as the body of a chat-completions request: pure, deterministic bytes.

Source: OpenAI API reference, "Create chat completion", and what the services of
`golem_cli.providers.services` document beyond it. The same request gives the same bytes, so that prompt
caches stay warm. Identity stamps and thinking signatures are never sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.providers.openai.messages import encode_messages
from golem_cli.providers.openai.parts import refusal_of
from golem_cli.providers.wire.checks import check_max_tokens, check_parts, check_range, schema_of

if TYPE_CHECKING:
    from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
    from golem_cli.providers.services import Quirks
    from golem_cli.providers.wire.fields import Json


def encode_request(request: ModelRequest, *, model: str, quirks: Quirks, stream: bool) -> bytes:
    """Return the JSON body that asks `model` for `request`.

    Raises `HistoryError` for a part that the format cannot carry, named by message and part, and
    `ConfigurationError` for settings and schemas that no service takes.
    """
    check_parts(request.messages, refusal_of)
    tools = {tool.name for tool in request.tools}
    body: Json = {"model": model, "messages": encode_messages(request.messages, quirks, tools=tools)}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _tool_choice(request.tool_choice)
    if request.output_schema:
        schema = schema_of(request.output_schema, "the output schema")
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "output", "strict": True, "schema": schema},
        }
    body |= _settings(request.settings, quirks)
    if stream:
        body["stream"] = True
        if quirks.stream_usage:
            body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body)


def _tool(tool: ToolSpec) -> Json:
    schema = schema_of(tool.schema, f"the schema of tool {tool.name!r}")
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


def _tool_choice(choice: str) -> object:
    if choice in {"auto", "none", "required"}:
        return choice
    return {"type": "function", "function": {"name": choice}}


def _settings(settings: ModelSettings, quirks: Quirks) -> Json:
    """Sampling and length settings within the format's documented ranges."""
    check_range("temperature", settings.temperature, 2)
    check_range("top_p", settings.top_p, 1)
    check_max_tokens(settings.max_tokens)
    fields: Json = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        quirks.length_field: settings.max_tokens,
        quirks.seed_field: settings.seed,
        "stop": list(settings.stop) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}
