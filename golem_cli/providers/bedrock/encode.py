"""A model request as the body of a Converse request: pure, deterministic bytes, `messages` last.

Source: Bedrock runtime API reference, "Converse", "ConverseStream" and "CountTokens"; Bedrock user guide,
"Call a tool with the Converse API", "Prompt caching", "Structured outputs". An unchanged beginning of a
history gives an unchanged beginning of the body, points for the cache aside. Identity stamps are never sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.history.wire_view import scalar_text
from golem_cli.core.message import ASSISTANT, USER
from golem_cli.providers.bedrock.families import family_of
from golem_cli.providers.bedrock.names import is_name, wire_name
from golem_cli.providers.bedrock.parts import refusal_of
from golem_cli.providers.bedrock.schema import plain
from golem_cli.providers.bedrock.settings import claude_thinking, inference_of
from golem_cli.providers.bedrock.turns import close, content_of, encode_turns, in_loop_without_thinking
from golem_cli.providers.wire.checks import check_parts, closed, schema_of
from golem_cli.providers.wire.instructions import system_text

if TYPE_CHECKING:
    from golem_cli.core.message import Message
    from golem_cli.core.model import ModelRequest, ToolSpec
    from golem_cli.providers.bedrock.families import Family
    from golem_cli.providers.wire.fields import Json

_CACHE_POINT: Final[dict[str, object]] = {"cachePoint": {"type": "default"}}
_CHOICES: Final = {"auto": "auto", "required": "any"}


def encode_request(request: ModelRequest, *, model: str, origin: str, stream: bool) -> bytes:
    """Return the JSON body that asks `model`, called `origin` in the file, for `request`.

    Raises `HistoryError` for a part that the model cannot take and for a request without anything to answer,
    `ConfigurationError` for settings, tools and schemas that the provider refuses.
    """
    family = family_of(model)
    body, turns = _conversation(request.messages, origin=origin, family=family)
    if not turns:
        raise HistoryError("the request holds nothing that the model could answer: no text, no part")
    tools = _tools(request, family)
    if tools:
        body["toolConfig"] = tools
    if inference := inference_of(request.settings, model, stream=stream):
        body["inferenceConfig"] = inference
    thinking = claude_thinking(
        request.settings, model, tool_choice=request.tool_choice if request.tools else ""
    )
    if thinking and not (thinking["type"] == "enabled" and in_loop_without_thinking(turns)):
        body["additionalModelRequestFields"] = {"thinking": thinking}
    if request.output_schema:
        body["outputConfig"] = {"textFormat": _output(request.output_schema)}
    close(turns)
    if family.cache_points:
        _mark_for_cache(body, turns)
    return msgspec.json.encode(body | {"messages": turns})


def encode_count(messages: Sequence[Message], *, model: str, origin: str) -> bytes | None:
    """Return the body that asks how many tokens `messages` are; None when nothing of them travels."""
    family = family_of(model)
    body, turns = _conversation(messages, origin=origin, family=family)
    if not turns and not body:
        return None
    close(turns)
    if tools := _undeclared(messages):
        body["toolConfig"] = {"tools": tools}
    body["messages"] = turns or [{"role": USER, "content": [{"text": "."}]}]
    return msgspec.json.encode({"input": {"converse": body}})


def _conversation(messages: Sequence[Message], *, origin: str, family: Family) -> tuple[Json, list[Json]]:
    """The system prompt, where the model has a place for it, and the turns."""
    check_parts(messages, partial(refusal_of, family=family))
    system = system_text(messages)
    if system and family.system:
        turns = encode_turns(messages, origin=origin, family=family)
        return {"system": [{"text": system}]}, turns
    return {}, encode_turns(messages, origin=origin, family=family, system=system)


def _tools(request: ModelRequest, family: Family) -> Json:
    """`toolConfig`: what may be called, else what the history calls, which must be declared.

    The format has no choice of `none`: the tools are left out, as far as the history allows.
    """
    offered = request.tool_choice != "none"
    tools = [_tool(tool, family) for tool in request.tools] if offered else []
    if not tools:
        undeclared = _undeclared(request.messages)
        return {"tools": undeclared} if undeclared else {}
    choice = {"toolChoice": _choice(request.tool_choice, family)} if request.tool_choice else {}
    return {"tools": tools, **choice}


def _tool(tool: ToolSpec, family: Family) -> Json:
    if not is_name(tool.name):
        raise ConfigurationError(
            f"tool {tool.name!r}: Bedrock takes names of up to 64 letters, digits, _ and -"
        )
    schema = schema_of(tool.schema, f"the schema of tool {tool.name!r}")
    if not isinstance(schema, dict):
        raise ConfigurationError(f"the schema of tool {tool.name!r} is no JSON object")
    schema = {"type": "object", **schema}
    if schema["type"] != "object":
        raise ConfigurationError(f"tool {tool.name!r}: Bedrock takes parameters of the type object only")
    if family.plain_schemas:
        schema = plain(schema)
    said = {"description": scalar_text(tool.description)} if tool.description else {}
    return {"toolSpec": {"name": tool.name, **said, "inputSchema": {"json": schema}}}


def _undeclared(messages: Sequence[Message]) -> list[Json]:
    """The tools that a history calls, for a request that offers none: with calls in it, it must name some."""
    turns = (message for message in messages if message.role == ASSISTANT)
    names = dict.fromkeys(wire_name(call.name) for message in turns for call in message.tool_calls)
    schema = {"type": "object", "properties": {}}
    gone = "No longer available: do not call it."
    return [
        {"toolSpec": {"name": name, "description": gone, "inputSchema": {"json": schema}}} for name in names
    ]


def _choice(choice: str, family: Family) -> Json:
    known = _CHOICES.get(choice)
    if known is None and not family.named_choice:
        known = "any"  # the run offers no other tool than the one that it names
    return {known: {}} if known else {"tool": {"name": choice}}


def _output(schema: str) -> Json:
    text = msgspec.json.encode(closed(schema_of(schema, "the output schema"))).decode()
    return {"type": "json_schema", "structure": {"jsonSchema": {"name": "output", "schema": text}}}


def _mark_for_cache(body: Json, turns: list[Json]) -> None:
    """Mark where the cached beginning may end: three of the four points that a request may have.

    Behind what never changes (the system prompt, else the tools); at the end of this request, for the next
    one; and at the end of the previous one, which the blocks that the provider looks back may not reach.
    """
    tools = body.get("toolConfig")
    fixed = body.get("system") or (tools.get("tools") if isinstance(tools, dict) else None)
    if isinstance(fixed, list):
        fixed.append(_CACHE_POINT)
    users = [turn for turn in turns if turn["role"] == USER]
    for turn in users[-2:]:
        content_of(turn).append(_CACHE_POINT)
