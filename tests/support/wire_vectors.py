"""The wire vectors' requests, answers and fragments as values of ours; their README describes the form."""

from __future__ import annotations

import base64
import json
from typing import Any

from golem_cli.core.message import Message, Part, ToolCall
from golem_cli.core.model import Delta, ModelRequest, ModelSettings, ToolSpec


def call_of(record: dict[str, Any]) -> ToolCall:
    """`args` as its compact text, `argsText` exactly (the vectors' README)."""
    args = record.get("argsText")
    if args is None:
        args = (
            json.dumps(record["args"], separators=(",", ":"), ensure_ascii=False) if "args" in record else ""
        )
    return ToolCall(id=record.get("id", ""), name=record.get("name", ""), args=args)


def message_of(record: dict[str, Any]) -> Message:
    return Message(
        role=record["role"],
        content=record.get("content", ""),
        parts=tuple(
            Part(
                kind=part.get("kind", ""),
                url=part.get("url", ""),
                data=part.get("data", ""),
                media_type=part.get("mediaType", ""),
            )
            for part in record.get("parts") or ()
        ),
        tool_calls=tuple(call_of(call) for call in record.get("toolCalls") or ()),
        tool_call_id=record.get("toolCallId", ""),
        tool_name=record.get("toolName", ""),
    )


def request_of(spec: dict[str, Any]) -> ModelRequest:
    request, config = spec["request"], spec.get("config", {})
    return ModelRequest(
        messages=[message_of(record) for record in request["messages"]],
        tools=[
            ToolSpec(
                name=tool["name"], description=tool["description"], schema=tool.get("schemaText", "null")
            )
            for tool in request.get("toolSpecs") or ()
        ],
        tool_choice=request.get("toolChoice", ""),
        output_schema=request.get("outputSchemaText", ""),
        settings=ModelSettings(
            temperature=config.get("temperature"),
            top_p=config.get("topP"),
            max_tokens=config.get("maxTokens") or None,
        ),
    )


def body_of(spec: dict[str, Any], default: str) -> bytes:
    """The body of the server's reply."""
    if "bodyB64" in spec:
        return base64.b64decode(spec["bodyB64"])
    if repeat := spec.get("bodyRepeat"):
        return f"{repeat['prefix']}{repeat['unit'] * repeat['count']}{repeat['suffix']}".encode()
    body: str = spec.get("body", default)
    return body.encode()


class HaltError(Exception):
    """What a scripted callback raises."""


def collector(behavior: str, deltas: list[Delta]) -> Any:
    """Collects fragments; `stop_after:N:MSG` fails after N of them, `nil` ignores them."""

    def collect(delta: Delta) -> None:
        if behavior != "nil":
            deltas.append(delta)
        if behavior.startswith("stop_after") and len(deltas) > int(behavior.split(":")[1]):
            raise HaltError(behavior.split(":")[2])

    return collect


def told_deltas(deltas: list[Delta]) -> list[dict[str, Any]]:
    told = []
    for delta in deltas:
        fragments = [
            {"index": f.index, "id": f.id, "name": f.name, "argsFragment": f.args_fragment}
            for f in delta.tool_calls
        ]
        told.append({"content": delta.content, **({"toolCalls": fragments} if fragments else {})})
    return told


def expected_deltas(expect: dict[str, Any], spec: dict[str, Any]) -> list[dict[str, Any]]:
    unit = spec.get("bodyRepeat", {"unit": "", "count": 0})
    text = json.dumps(expect.get("deltas", []))
    deltas: list[dict[str, Any]] = json.loads(text.replace("$REPEAT", unit["unit"] * unit["count"]))
    return deltas
