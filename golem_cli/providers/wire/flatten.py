"""Histories that a chat template or a service cannot take, told in turns that it can.

Two steps, both pure and deterministic, both on the wire only:

- `tools_as_text`, when the template knows no tool calls (it would leave them out, and show results under a
  role that the model never saw): a call becomes a line of its assistant turn, `[called NAME with ARGS]`, and
  a result becomes a user turn that begins with `[result of NAME]` (`[failed result of NAME]`).
- `alternating`, when the template refuses the order or the roles: besides that, instructions become the
  beginning of the first user turn, turns of the same role in a row become one, parted by a blank line, and a
  history that opens on an assistant turn gets the user turn `[earlier messages are not shown]` in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.history import wire_args, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message, ToolCall
from golem_cli.core.quote import quoted
from golem_cli.providers.wire.findings import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.providers.wire.findings import Note

OPENING: Final = "[earlier messages are not shown]"


def tools_as_text(messages: Sequence[Message], *, note: Note = silent) -> list[Message]:
    r"""Return `messages` with tool calls and results told in text; the others stay as they are.

    >>> call = ToolCall(id="1", name="add", args='{"a":1}')
    >>> turns = [Message(role="assistant", tool_calls=(call,)),
    ...          Message(role="tool", tool_call_id="1", tool_name="add", content="2")]
    >>> [(turn.role, turn.content) for turn in tools_as_text(turns)]
    [('assistant', '[called add with {"a":1}]'), ('user', '[result of add]\n2')]
    """
    return [_told(message, note) for message in wire_view(messages)]


def alternating(messages: Sequence[Message]) -> list[Message]:
    r"""Return `messages` as user and assistant turns in strict alternation, a user turn first.

    >>> history = [Message(role="system", content="Be brief."), Message(role="assistant", content="Hi"),
    ...            Message(role="user", content="a"), Message(role="user", content="b")]
    >>> [(turn.role, turn.content) for turn in alternating(history)]
    [('user', 'Be brief.\n\n[earlier messages are not shown]'), ('assistant', 'Hi'), ('user', 'a\n\nb')]
    """
    texts: list[tuple[str, list[str]]] = []
    opened = False
    for message in tools_as_text(messages):
        if message.role == ASSISTANT and not opened:
            _append(texts, USER, OPENING)
        opened = opened or message.role != SYSTEM
        _append(texts, ASSISTANT if message.role == ASSISTANT else USER, message.content)
    return [Message(role=role, content="\n\n".join(pieces)) for role, pieces in texts]


def _append(texts: list[tuple[str, list[str]]], role: str, text: str) -> None:
    """Add `text` to the last turn when it is of that `role`, else begin a turn with it."""
    if not texts or texts[-1][0] != role:
        texts.append((role, []))
    texts[-1][1].append(text)


def _told(message: Message, note: Note) -> Message:
    if message.role == TOOL:
        note(message, "tools-as-text", "the result is told in words, as the user's", message.tool_call_id)
        outcome = "failed result" if message.failed else "result"
        name = f" of {message.tool_name}" if message.tool_name else ""
        said = f"[{outcome}{name}]\n{message.content}"
        return Message(role=USER, content=said, parts=message.parts, extra=message.extra)
    if message.role == ASSISTANT and message.tool_calls:
        if message.thinking:
            note(message, "unsent-thinking", "thinking stays behind: there is no place for it in words")
        for call in message.tool_calls:
            note(message, "tools-as-text", f"the call of {quoted(call.name)} is told in words", call.id)
        lines = [message.content] if message.content else []
        lines += map(_told_call, message.tool_calls)
        return Message(role=ASSISTANT, content="\n".join(lines), extra=message.extra)
    return message


def _told_call(call: ToolCall) -> str:
    return f"[called {call.name} with {wire_args(call)}]"
