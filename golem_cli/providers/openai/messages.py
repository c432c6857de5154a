"""A history as the messages of a chat-completions request: pure, deterministic.

Source: OpenAI API reference, "Create chat completion"; for what services want besides, the sources that
`golem_cli.providers.services` names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from golem_cli.core.history import repair
from golem_cli.core.history.wire_view import is_empty, wire_args, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message, replace
from golem_cli.providers.openai.names import wire_id, wire_name
from golem_cli.providers.openai.parts import encode_part
from golem_cli.providers.openai.roles import alternated, bridged
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.flatten import tools_as_text
from golem_cli.providers.wire.history import note_empty, note_failed, note_moved
from golem_cli.providers.wire.names import sent_name, with_ids
from golem_cli.providers.wire.place import note_foreign

if TYPE_CHECKING:
    from golem_cli.providers.openai.roles import Sent
    from golem_cli.providers.services import Quirks
    from golem_cli.providers.wire.fields import Json
    from golem_cli.providers.wire.findings import Note


def encode_messages(
    messages: Sequence[Message], quirks: Quirks, *, tools: Collection[str] = (), note: Note = silent
) -> list[Json]:
    """The wire messages of a history, in the form and the order that `quirks` say.

    `tools` are the names that the request declares: a call of any other name gets one that the format allows.
    The parts of a batch of tool results follow it in one user message.
    """
    encoder = _Encoder(quirks, tools, note)
    if quirks.order == "alternating":
        told = tools_as_text([_without_thinking(message, note) for message in messages], note=note)
        return alternated(encoder.encoded(told), note)
    if not quirks.send_reasoning:
        messages = [_without_thinking(message, note) for message in messages]
    history = wire_view(messages)
    if quirks.call_id_length:
        history = _with_ids(repair(history), quirks.call_id_length, note)
    encoded = encoder.encoded(history)
    return bridged(encoded, note) if quirks.order == "bridged" else [turn for turn, _ in encoded]


def _without_thinking(message: Message, note: Note) -> Message:
    if not message.thinking:
        return message
    note(message, "unsent-thinking", "thinking stays behind: the service takes none back")
    rest = replace(message, thinking=())
    if is_empty(rest):
        note_empty(message, note)
    return rest


def _with_ids(history: Sequence[Message], length: int, note: Note) -> list[Message]:
    """`history` with ids of that `length`, each the only one of its request."""
    form = re.compile(rf"[a-zA-Z0-9]{{{length}}}", re.ASCII)
    return with_ids(history, form, fit=lambda text, _: wire_id(text, length), note=note)


class _Encoder:
    """Encodes message by message for a service with these `quirks`; `note` is told what stays behind."""

    def __init__(self, quirks: Quirks, tools: Collection[str], note: Note) -> None:
        self._quirks = quirks
        self._tools = tools
        self._note = note

    def encoded(self, history: Sequence[Message]) -> list[Sent]:
        """The wire messages, each with the message that it is of."""
        out: list[Sent] = []
        waiting: list[Json] = []
        working = False  # whether the model has called a tool since the user spoke
        before = Message(role=USER)
        for message in history:
            if message.role == TOOL:
                note_failed(message, self._note)
                result: Json = {
                    "role": TOOL,
                    "content": message.content,
                    "tool_call_id": message.tool_call_id,
                }
                out.append((result, message))
                waiting += self._framed_parts(message)
                before = message
                continue
            if waiting:
                out.append(({"role": USER, "content": waiting}, before))
                waiting = []
            working = bool(message.tool_calls) or (working and message.role == ASSISTANT)
            encoded = self._message(message)
            if encoded is None:
                note_empty(message, self._note)
                continue
            if self._quirks.send_reasoning:
                encoded |= self._reasoning(message, working=working)
            out.append((encoded, message))
        if waiting:
            out.append(({"role": USER, "content": waiting}, before))
        return out

    def _message(self, message: Message) -> Json | None:
        """A system, user or assistant message; None for one with nothing in it, which services refuse."""
        if message.role == ASSISTANT:
            if not message.content and not message.tool_calls:
                return None
            turn: Json = {"role": ASSISTANT, "content": message.content}
            if message.tool_calls:
                turn["tool_calls"] = self._calls(message)
            return turn
        role = SYSTEM if message.role == SYSTEM else USER  # any other role has no authority here
        if message.parts:
            text = [_text(message.content)] if message.content else []
            return {"role": role, "content": text + [encode_part(part) for part in message.parts]}
        return {"role": role, "content": message.content} if message.content else None

    def _reasoning(self, message: Message, *, working: bool) -> Json:
        """What goes back of a turn's reasoning: nothing of what another provider's model signed."""
        if message.thinking and message.signed_by:
            note_foreign(message, "thinking", own=False, note=self._note)
        elif message.thinking and not working:
            text = "thinking stays behind: the service wants back that of turns with calls alone"
            self._note(message, "unsent-thinking", text)
        if not working:
            return {}
        blocks = () if message.signed_by else message.thinking
        return {"reasoning_content": "".join(block.text for block in blocks)}

    def _calls(self, message: Message) -> list[Json]:
        calls: list[Json] = []
        for call in message.tool_calls:
            declared = call.name in self._tools
            name = call.name if declared else sent_name(message, call, wire_name, note=self._note)
            function = {"name": name, "arguments": wire_args(call)}
            calls.append({"id": call.id, "type": "function", "function": function})
        return calls

    def _framed_parts(self, result: Message) -> list[Json]:
        """The parts of a tool result behind a line that names its call: a tool message carries text only."""
        if not result.parts:
            return []
        note_moved(result, len(result.parts), self._note)
        tool = f" of {result.tool_name}" if result.tool_name else ""
        frame = f"Attachments of the result of tool call {result.tool_call_id}{tool}:"
        return [_text(frame), *(encode_part(part) for part in result.parts)]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
