"""A model request as the body of a Messages request: pure, deterministic bytes, `messages` last.

Source: Claude API reference, "Create a Message" and "Count tokens in a Message"; Claude docs, "Prompt
caching", "Structured outputs", "Thinking", "Define tools". An unchanged beginning of a history gives an
unchanged beginning of the body, marks for the cache aside. Identity stamps are never sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ConfigurationError, HistoryError
from golem_cli.core.history.wire_view import scalar_text
from golem_cli.core.message import ASSISTANT, USER
from golem_cli.providers.anthropic.claude import claude
from golem_cli.providers.anthropic.names import is_name, wire_name
from golem_cli.providers.anthropic.parts import refusal_of
from golem_cli.providers.anthropic.settings import length_of, sampling_of, thinking_of
from golem_cli.providers.anthropic.turns import blocks_of, close, encode_turns, in_loop_without_thinking
from golem_cli.providers.wire.checks import check_parts, closed, schema_of
from golem_cli.providers.wire.instructions import system_text

if TYPE_CHECKING:
    from golem_cli.core.message import Message
    from golem_cli.core.model import ModelRequest, ToolSpec
    from golem_cli.providers.wire.fields import Json

_CACHED: Final = {"type": "ephemeral"}
_CHOICES: Final = {"auto": "auto", "none": "none", "required": "any"}


def encode_request(request: ModelRequest, *, model: str, origin: str, stream: bool) -> bytes:
    """Return the JSON body that asks `model`, called `origin` in the file, for `request`.

    Raises `HistoryError` for a part that the format cannot carry and for a request without anything to
    answer, `ConfigurationError` for settings, tools and schemas that the provider refuses.
    """
    check_parts(request.messages, refusal_of)
    turns = encode_turns(request.messages, origin=origin)
    if not turns:
        raise HistoryError("the request holds nothing that the model could answer: no text, no part")
    body = {"model": model} | _preamble(request)
    row = claude(model)
    thinking = thinking_of(request.settings, row, tool_choice=request.tool_choice if request.tools else "")
    if thinking.get("type") == "enabled" and in_loop_without_thinking(turns):
        thinking = {}
    close(turns, prefill=row.prefill and thinking.get("type") in {None, "disabled"})
    body |= length_of(request.settings, row, stream=stream) | sampling_of(request.settings, row)
    if thinking:
        body["thinking"] = thinking
    if request.output_schema:
        schema = closed(schema_of(request.output_schema, "the output schema"))
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if stream:
        body["stream"] = True
    _mark_for_cache(body, turns)
    return msgspec.json.encode(body | {"messages": turns})


def encode_count(messages: Sequence[Message], *, model: str, origin: str) -> bytes | None:
    """Return the body that asks how many tokens `messages` are; None when nothing of them travels."""
    check_parts(messages, refusal_of)
    turns = encode_turns(messages, origin=origin)
    system = system_text(messages)
    if not turns and not system:
        return None
    close(turns, prefill=False)
    body: Json = {"model": model}
    if system:
        body["system"] = [{"type": "text", "text": system}]
    if tools := _undeclared(messages):
        body["tools"] = tools
    return msgspec.json.encode(body | {"messages": turns or [{"role": USER, "content": "."}]})


def _preamble(request: ModelRequest) -> Json:
    """What the model reads before the turns: the system prompt and the tools."""
    body: Json = {}
    if system := system_text(request.messages):
        body["system"] = [{"type": "text", "text": system}]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _tool_choice(request.tool_choice)
    elif tools := _undeclared(request.messages):
        body["tools"] = tools
        body["tool_choice"] = {"type": "none"}
    return body


def _tool(tool: ToolSpec) -> Json:
    if not is_name(tool.name):
        raise ConfigurationError(
            f"tool {tool.name!r}: Anthropic takes names of up to 64 letters, digits, _ and -"
        )
    schema = schema_of(tool.schema, f"the schema of tool {tool.name!r}")
    if not isinstance(schema, dict):
        raise ConfigurationError(f"the schema of tool {tool.name!r} is no JSON object")
    if unions := {"oneOf", "allOf", "anyOf"} & schema.keys():
        raise ConfigurationError(
            f"tool {tool.name!r}: Anthropic takes no {min(unions)} at the top of a tool's schema"
        )
    encoded: Json = {"name": tool.name}
    if tool.description:
        encoded["description"] = scalar_text(tool.description)
    return encoded | {"input_schema": schema if "type" in schema else {"type": "object", **schema}}


def _undeclared(messages: Sequence[Message]) -> list[Json]:
    """The tools that a history calls, for a request that offers none: with calls in it, it must name some."""
    turns = (message for message in messages if message.role == ASSISTANT)
    names = dict.fromkeys(wire_name(call.name) for message in turns for call in message.tool_calls)
    return [{"name": name, "input_schema": {"type": "object"}} for name in names]


def _tool_choice(choice: str) -> Json:
    known = _CHOICES.get(choice)
    return {"type": known} if known else {"type": "tool", "name": choice}


def _mark_for_cache(body: Json, turns: list[Json]) -> None:
    """Mark where the cached beginning may end: three of the four marks that a request may have.

    Behind what never changes (the system prompt, else the tools); at the end of this request, for the next
    one; and at the end of the previous one, which the 20 blocks that the provider looks back may not reach.
    """
    fixed = body.get("system") or body.get("tools")
    if isinstance(fixed, list):
        fixed[-1]["cache_control"] = _CACHED
    users = [turn for turn in turns if turn["role"] == USER]
    for turn in users[-2:]:
        blocks_of(turn)[-1]["cache_control"] = _CACHED
