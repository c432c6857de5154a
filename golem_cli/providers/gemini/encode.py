"""A model request as the body of a generateContent request: pure, deterministic bytes, `contents` last.

Source: Gemini API reference, "Generating content", "Caching" (`Content`, `Part`, `Tool`, `ToolConfig`) and
"Counting tokens"; Gemini API docs, "Structured outputs". An unchanged beginning of a history gives an
unchanged beginning of the body, which keeps the provider's implicit cache warm. Identity stamps are never
sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.history.wire_view import scalar_text
from golem_cli.core.message import USER
from golem_cli.providers.gemini.contents import close, encode_contents
from golem_cli.providers.gemini.names import is_name
from golem_cli.providers.gemini.parts import refusal_of
from golem_cli.providers.gemini.rows import OTHER, row_of
from golem_cli.providers.gemini.schema import documented
from golem_cli.providers.gemini.settings import generation_of
from golem_cli.providers.wire.checks import check_parts, schema_of
from golem_cli.providers.wire.instructions import system_text

if TYPE_CHECKING:
    from golem_cli.core.message import Message
    from golem_cli.core.model import ModelRequest, ToolSpec
    from golem_cli.providers.gemini.rows import Row
    from golem_cli.providers.wire.fields import Json

_MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def encode_request(request: ModelRequest, *, model: str, origin: str) -> bytes:
    """Return the JSON body that asks `model`, called `origin` in the file, for `request`.

    Raises `HistoryError` for a part that the format cannot carry and for a request without anything to
    answer, `ConfigurationError` for settings, tools and schemas that the provider refuses.
    """
    check_parts(request.messages, refusal_of)
    row = row_of(model)
    contents = encode_contents(request.messages, origin=origin, row=row)
    if not contents:
        raise HistoryError("the request holds nothing that the model could answer: no text, no part")
    close(contents)
    body = _system(request.messages) | _tools(request)
    if generation := generation_of(request.settings, row) | _output(request, row):
        body["generationConfig"] = generation
    return msgspec.json.encode(body | {"contents": contents})


def encode_count(messages: Sequence[Message], *, model: str, origin: str) -> bytes | None:
    """Return the body that asks how many tokens `messages` are; None when nothing of them travels."""
    check_parts(messages, refusal_of)
    contents = encode_contents(messages, origin=origin, row=row_of(model))
    system = _system(messages)
    if not contents and not system:
        return None
    close(contents)
    asked = {"model": f"models/{model.removeprefix('models/')}"} | system
    asked["contents"] = contents or [{"role": USER, "parts": [{"text": "."}]}]
    return msgspec.json.encode({"generateContentRequest": asked})


def _system(messages: Sequence[Message]) -> Json:
    text = system_text(messages)
    return {"systemInstruction": {"parts": [{"text": text}]}} if text else {}


def _tools(request: ModelRequest) -> Json:
    if not request.tools:
        return {}
    tools: Json = {"tools": [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]}
    if request.tool_choice:
        tools["toolConfig"] = {"functionCallingConfig": _choice(request.tool_choice)}
    return tools


def _tool(tool: ToolSpec) -> Json:
    if not is_name(tool.name):
        raise ConfigurationError(
            f"tool {tool.name!r}: Gemini takes names of up to 64 letters, digits, _, ., : and -, "
            "a letter or _ first"
        )
    schema = schema_of(tool.schema, f"the schema of tool {tool.name!r}")
    if not isinstance(schema, dict):
        raise ConfigurationError(f"the schema of tool {tool.name!r} is no JSON object")
    parameters = {"type": "object"} | documented(schema)
    if parameters["type"] != "object":
        raise ConfigurationError(f"tool {tool.name!r}: Gemini takes parameters of the type object only")
    declared: Json = {"name": tool.name, "description": scalar_text(tool.description) or tool.name}
    says_more = any(value not in ({}, False) for name, value in parameters.items() if name != "type")
    return declared | ({"parametersJsonSchema": parameters} if says_more else {})  # no parameters: left unset


def _choice(choice: str) -> Json:
    known = _MODES.get(choice)
    return {"mode": known} if known else {"mode": "ANY", "allowedFunctionNames": [choice]}


def _output(request: ModelRequest, row: Row) -> Json:
    if not request.output_schema:
        return {}
    if request.tools and not row.signed and row is not OTHER:
        raise ConfigurationError("this model takes an output schema or tools, not both: leave one out")
    schema = documented(schema_of(request.output_schema, "the output schema"))
    form: Json = {"responseMimeType": "application/json"}
    return form | ({"responseJsonSchema": schema} if schema else {})
