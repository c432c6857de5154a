"""A model request as the body of a chat-completions request: pure, deterministic bytes.

Source: OpenAI API reference, "Create chat completion", and what the services of
`golem_cli.providers.services` document beyond it. The same request gives the same bytes, so that prompt
caches stay warm. Identity stamps and thinking signatures are never sent.
"""

from __future__ import annotations

import binascii
import hashlib
import string
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.history.wire_view import wire_args, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER
from golem_cli.providers.checks import check_max_tokens, check_parts, check_range, schema_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.message import Message, Part, ToolCall
    from golem_cli.core.model import ModelRequest, ModelSettings, ToolSpec
    from golem_cli.providers.services import Quirks

Json = dict[str, object]

_AUDIO_FORMATS: Final = {
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/vnd.wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
_ALPHABET: Final = string.digits + string.ascii_letters


def encode_request(request: ModelRequest, *, model: str, quirks: Quirks, stream: bool) -> bytes:
    """Return the JSON body that asks `model` for `request`.

    Raises `HistoryError` for a part that the format cannot carry, named by message and part, and
    `ConfigurationError` for settings and schemas that no service takes.
    """
    check_parts(request.messages, refusal_of)
    messages = wire_view(request.messages, thinking=quirks.send_reasoning)
    body: Json = {"model": model, "messages": _messages(messages, quirks)}
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


def refusal_of(part: Part) -> str:
    """Why the format cannot carry `part`; empty when it can."""
    kind = part.kind or "nameless"
    if bool(part.url) == bool(part.data):
        return f"{kind} part needs either a url or data"
    if part.kind not in {"image", "document", "audio"}:
        return f"chat completions cannot carry a {kind} part"
    if part.url:
        return (
            "" if part.kind == "image" else f"chat completions takes a {kind} part as data only, not by url"
        )
    if not part.media_type:
        return f"{kind} part has data but no mediaType"
    if not _is_base64(part.data):
        return f"the data of the {kind} part is not base64"
    if part.kind == "audio" and part.media_type.lower() not in _AUDIO_FORMATS:
        return f"chat completions takes wav and mp3 audio, not {part.media_type}"
    return ""


def _is_base64(text: str) -> bool:
    try:
        binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError:
        return False
    return True


def _messages(messages: Sequence[Message], quirks: Quirks) -> list[Json]:
    """The wire messages. The parts of a batch of tool results follow it in one user message."""
    out: list[Json] = []
    waiting: list[Json] = []
    for message in messages:
        if message.role == TOOL:
            out.append(
                {
                    "role": TOOL,
                    "content": message.content,
                    "tool_call_id": wire_id(message.tool_call_id, quirks.call_id_length),
                }
            )
            waiting += _framed_parts(message)
            continue
        if waiting:
            out.append({"role": USER, "content": waiting})
            waiting = []
        if (encoded := _message(message, quirks)) is not None:
            out.append(encoded)
    if waiting:
        out.append({"role": USER, "content": waiting})
    return out


def _message(message: Message, quirks: Quirks) -> Json | None:
    """A system, user or assistant message; None for one with nothing in it, which services refuse."""
    if message.role == ASSISTANT:
        return _assistant(message, quirks)
    role = SYSTEM if message.role == SYSTEM else USER  # any other role has no authority here
    if message.parts:
        text = [_text(message.content)] if message.content else []
        return {"role": role, "content": text + [_part(part) for part in message.parts]}
    return {"role": role, "content": message.content} if message.content else None


def _assistant(message: Message, quirks: Quirks) -> Json | None:
    if not message.content and not message.tool_calls:
        return None
    encoded: Json = {"role": ASSISTANT, "content": message.content}
    if message.tool_calls:
        if quirks.send_reasoning:
            encoded["reasoning_content"] = "".join(block.text for block in message.thinking)
        encoded["tool_calls"] = [_call(call, quirks) for call in message.tool_calls]
    return encoded


def _call(call: ToolCall, quirks: Quirks) -> Json:
    function = {"name": call.name, "arguments": wire_args(call)}
    return {"id": wire_id(call.id, quirks.call_id_length), "type": "function", "function": function}


def wire_id(call_id: str, length: int) -> str:
    """`call_id` as a service with ids of exactly `length` letters and digits takes it; 0 takes any.

    A pure function of the id, so that call and result still pair, in this request and in all later ones.

    >>> wire_id("call_1", 0), len(wire_id("call_1", 9)), wire_id("abcDEF123", 9)
    ('call_1', 9, 'abcDEF123')
    """
    if not length or (len(call_id) == length and call_id.isascii() and call_id.isalnum()):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest(), "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def _framed_parts(result: Message) -> list[Json]:
    """The parts of a tool result behind a line that names its call: a tool message carries text only."""
    if not result.parts:
        return []
    tool = f" of {result.tool_name}" if result.tool_name else ""
    frame = f"Attachments of the result of tool call {result.tool_call_id}{tool}:"
    return [_text(frame), *(_part(part) for part in result.parts)]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _part(part: Part) -> Json:
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": part.url or _data_url(part)}}
    if part.kind == "audio":
        audio = {"data": part.data, "format": _AUDIO_FORMATS[part.media_type.lower()]}
        return {"type": "input_audio", "input_audio": audio}
    extension = part.media_type.rpartition("/")[2].partition(";")[0].partition("+")[0] or "bin"
    file = {"filename": f"document.{extension}", "file_data": _data_url(part)}
    return {"type": "file", "file": file}


def _data_url(part: Part) -> str:
    return f"data:{part.media_type};base64,{part.data}"


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
