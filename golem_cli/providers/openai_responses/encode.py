"""A model request as the body of a Responses request: pure, deterministic bytes, `input` last.

Source: OpenAI API reference, "Create a model response"; OpenAI guides, "Reasoning models" (encrypted
reasoning, `store: false`), "Function calling" and "Structured model outputs". The provider stores nothing:
each request carries the whole history, and the reasoning in it comes back encrypted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.history.wire_view import scalar_text
from golem_cli.providers.openai.names import is_name
from golem_cli.providers.openai_responses.items import encode_items
from golem_cli.providers.openai_responses.parts import refusal_of
from golem_cli.providers.openai_responses.settings import reasons, settings_of
from golem_cli.providers.wire.checks import check_parts, schema_of
from golem_cli.providers.wire.instructions import system_text

if TYPE_CHECKING:
    from golem_cli.core.model import ModelRequest, ToolSpec
    from golem_cli.providers.wire.fields import Json


def encode_request(request: ModelRequest, *, model: str, origin: str, stream: bool) -> bytes:
    """Return the JSON body that asks `model`, called `origin` in the file, for `request`.

    Raises `HistoryError` for a part that the format cannot carry and for a request without anything to
    answer, `ConfigurationError` for settings, tools and schemas that the provider refuses.
    """
    check_parts(request.messages, refusal_of)
    items = encode_items(request.messages, origin=origin)
    if not items:
        raise HistoryError("the request holds nothing that the model could answer: no text, no part")
    body: Json = {"model": model, "store": False}
    if reasons(model):
        body["include"] = ["reasoning.encrypted_content"]
    if system := system_text(request.messages):
        body["instructions"] = system
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _tool_choice(request.tool_choice)
    body |= settings_of(request.settings, model)
    if request.output_schema:
        schema = schema_of(request.output_schema, "the output schema")
        body["text"] = {"format": {"type": "json_schema", "name": "output", "strict": True, "schema": schema}}
    if stream:
        body["stream"] = True
    return msgspec.json.encode(body | {"input": items})


def _tool(tool: ToolSpec) -> Json:
    if not is_name(tool.name):
        raise ConfigurationError(
            f"tool {tool.name!r}: OpenAI takes names of up to 64 letters, digits, _ and -"
        )
    schema = schema_of(tool.schema, f"the schema of tool {tool.name!r}")
    described = {"description": scalar_text(tool.description)} if tool.description else {}
    # without `strict` the provider would refuse schemas with optional properties
    return {"type": "function", "name": tool.name, **described, "parameters": schema, "strict": False}


def _tool_choice(choice: str) -> object:
    if choice in {"auto", "none", "required"}:
        return choice
    return {"type": "function", "name": choice}
