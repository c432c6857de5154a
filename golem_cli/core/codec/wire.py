"""The contract as msgspec structs: what the fast library reads and writes in one go.

They know no unknown fields: a record that has some goes the way of the definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.codec.args import read_args, written_args
from golem_cli.core.codec.contract import MESSAGE
from golem_cli.core.codec.record import write_record
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CHUNK: Final = 4096
"""Messages encoded at once: bounds the memory beside the output."""


class WirePart(
    msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A part without unknown fields."""

    kind: str = ""
    url: str = ""
    data: str = ""
    media_type: str = ""


class WireThinking(
    msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A thinking block without unknown fields."""

    text: str = ""
    signature: str = ""
    redacted: str = ""


class WireCall(
    msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A call without unknown fields; `args` is the raw JSON value."""

    id: str = ""
    name: str = ""
    args: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    args_text: str = ""
    signature: str = ""


class WireMessage(
    msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """A message without unknown fields."""

    role: str
    content: str = ""
    parts: tuple[WirePart, ...] = ()
    thinking: tuple[WireThinking, ...] = ()
    tool_calls: tuple[WireCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    failed: bool = False
    interrupted: bool = False
    signed_by: str = ""
    run_id: str = ""
    conversation_id: str = ""


def from_wire(wire: WireMessage, share: Callable[[str, str], str]) -> Message:
    """The message that `wire` stands for; `share` gives equal texts one object, as `dict.setdefault` does."""
    return Message(
        role=share(wire.role, wire.role),
        content=wire.content,
        parts=tuple(map(_part, wire.parts)) if wire.parts else (),
        thinking=tuple(map(_thinking, wire.thinking)) if wire.thinking else (),
        tool_calls=tuple(map(_call, wire.tool_calls)) if wire.tool_calls else (),
        tool_call_id=wire.tool_call_id,
        tool_name=share(wire.tool_name, wire.tool_name),
        failed=wire.failed,
        interrupted=wire.interrupted,
        signed_by=share(wire.signed_by, wire.signed_by),
        run_id=share(wire.run_id, wire.run_id),
        conversation_id=share(wire.conversation_id, wire.conversation_id),
    )


def encode_lines(messages: Sequence[Message], separator: bytes) -> list[bytes]:
    """Encode messages, one a line, with `separator` (which ends in a line break) between them, in pieces."""
    pieces = []
    for start in range(0, len(messages), _CHUNK):
        pieces.append(separator if start else b"")
        pieces.append(_encode_chunk(messages[start : start + _CHUNK], separator))
    return pieces


def _encode_chunk(messages: Sequence[Message], separator: bytes) -> bytes:
    try:
        lines = _ENCODER.encode_lines([_to_wire(message) for message in messages])
    except UnicodeEncodeError:  # a lone surrogate somewhere
        return separator.join(write_record(message, MESSAGE).encode() for message in messages)
    # A written message holds no line break, so every one stands between two messages.
    return lines[:-1].replace(b"\n", separator)


def _to_wire(message: Message) -> Message | WireMessage | msgspec.Raw:
    if message.extra or message.parts or message.thinking:
        return msgspec.Raw(write_record(message, MESSAGE).encode())
    if not message.tool_calls:
        return message  # its own fields, empty ones left out, are the contract
    if any(call.extra for call in message.tool_calls):
        return msgspec.Raw(write_record(message, MESSAGE).encode())
    return WireMessage(
        role=message.role,
        content=message.content,
        tool_calls=tuple(map(_wire_call, message.tool_calls)),
        tool_call_id=message.tool_call_id,
        tool_name=message.tool_name,
        failed=message.failed,
        interrupted=message.interrupted,
        signed_by=message.signed_by,
        run_id=message.run_id,
        conversation_id=message.conversation_id,
    )


def _wire_call(call: ToolCall) -> WireCall:
    args, args_text = written_args(call.args)
    return WireCall(
        id=call.id,
        name=call.name,
        args=msgspec.Raw(args.encode()) if args else msgspec.UNSET,
        args_text=args_text,
        signature=call.signature,
    )


def _call(wire: WireCall) -> ToolCall:
    args = bytes(wire.args).decode() if isinstance(wire.args, msgspec.Raw) else ""
    text = read_args(args=args, args_text=wire.args_text)
    return ToolCall(id=wire.id, name=wire.name, args=text, signature=wire.signature)


def _part(wire: WirePart) -> Part:
    return Part(kind=wire.kind, url=wire.url, data=wire.data, media_type=wire.media_type)


def _thinking(wire: WireThinking) -> ThinkingBlock:
    return ThinkingBlock(text=wire.text, signature=wire.signature, redacted=wire.redacted)


_ENCODER: Final = msgspec.json.Encoder()
