"""What every provider's wire needs of a history, whatever its format: `wire_view` and `wire_args`.

For adapters: `wire_view(request.messages)` gives the messages to serialize, `wire_args(call)` the text of a
call's arguments, `wire_object(call)` that text where it is embedded as a value. Pure and deterministic, so
that an unchanged history keeps its bytes and prompt caches stay warm; the stored history does not change.
Source: the semantics page, section 2, "On the wire".
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from golem_cli.core.history.json_object import is_json_object
from golem_cli.core.history.pairing import Pairing, Slot, pair
from golem_cli.core.history.repair import synthesized_result
from golem_cli.core.message import ASSISTANT, TOOL, Message, Part, ThinkingBlock, ToolCall, replace

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    r"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\.",
    re.DOTALL,
)


def wire_view(messages: Sequence[Message], *, thinking: bool = True) -> list[Message]:
    """Return `messages` as they may travel. Idempotent; expects history that was repaired, as a run's is.

    - A result stands right after its call's turn; displaced ones behind that turn's other results.
    - Calls without an id get one (`golem0001`, counted in the conversation), and so do their results: results
      without an id answer, in order, the newest turn that has such calls. A call without an id that has no
      result gets the synthesized one, since repair could not pair it and every provider demands an answer.
    - A turn with nothing in it is left out; tool messages never are. Calls on a message that is not the
      assistant's are ignored.
    - A lone surrogate becomes U+FFFD in every text; halves that belong together become their character.
      `args` stay: `wire_args` reads them.
    - `thinking=False` leaves thinking out first, for a provider that cannot take it back.

    >>> turn = Message(role="assistant", tool_calls=(ToolCall(name="ls"),))
    >>> [message.tool_call_id for message in wire_view([turn, Message(role="tool", content="a")])]
    ['', 'golem0001']
    """
    sendable = [
        cleaned for message in messages if not is_empty(cleaned := _clean(message, thinking=thinking))
    ]
    pairing = pair(sendable, pair_blank_ids=True)
    new_ids = _ids_for_blank(sendable)
    if not new_ids and not pairing.displaced:
        return sendable
    return _in_wire_order(sendable, pairing, new_ids)


def wire_args(call: ToolCall) -> str:
    r"""Return the text of the call's arguments as it may travel: always one JSON object, valid as UTF-8.

    A JSON object travels verbatim, escapes and spacing included (only a bare lone surrogate, which UTF-8
    cannot hold, becomes U+FFFD). No arguments are `{}`. Anything else is wrapped, so that the model sees what
    was cut off and no provider refuses the request.

    >>> wire_args(ToolCall(args='{ "a":1}')), wire_args(ToolCall(args=" "))
    ('{ "a":1}', '{}')
    >>> wire_args(ToolCall(args='{"a": "'))
    '{"truncated_args": "{\\"a\\": \\""}'
    """
    text = scalar_text(call.args)
    if not text.strip():
        return "{}"
    if is_json_object(text):
        return text
    return json.dumps({"truncated_args": text}, ensure_ascii=False)


def wire_object(call: ToolCall) -> str:
    r"""Return `wire_args` for a format that embeds the arguments as a JSON value, not as text.

    There the escape of a lone surrogate is the provider's to read, and refused: it becomes U+FFFD's.

    >>> wire_object(ToolCall(args='{"a": "\\ud83d", "b": "\\ud83d\\ude00"}'))
    '{"a": "\\ufffd", "b": "\\ud83d\\ude00"}'
    """
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["lone"] else found[0], wire_args(call))


def scalar_text(text: str) -> str:
    r"""Return `text` without surrogates: pairs become their character, lone ones U+FFFD.

    >>> scalar_text("cut \ud83d")
    'cut �'
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_empty(message: Message) -> bool:
    """Whether a turn says nothing at all."""
    has_something = message.content or message.parts or message.thinking or message.tool_calls
    return message.role != TOOL and not has_something


def _clean(message: Message, *, thinking: bool) -> Message:
    """Return `message` with sound texts, without calls that are not a model's, and thinking as asked."""
    changes: dict[str, object] = {}
    for name in ("content", "tool_call_id", "tool_name"):
        text: str = getattr(message, name)
        if (sound := scalar_text(text)) is not text:
            changes[name] = sound
    if message.parts and (parts := tuple(map(_clean_part, message.parts))) != message.parts:
        changes["parts"] = parts
    if message.thinking:
        blocks = tuple(map(_clean_block, message.thinking)) if thinking else ()
        if blocks != message.thinking:
            changes["thinking"] = blocks
    if message.tool_calls:
        calls = tuple(map(_clean_call, message.tool_calls)) if message.role == ASSISTANT else ()
        if calls != message.tool_calls:
            changes["tool_calls"] = calls
    return replace(message, **changes) if changes else message


def _clean_part(part: Part) -> Part:
    return msgspec.structs.replace(
        part, url=scalar_text(part.url), media_type=scalar_text(part.media_type), kind=scalar_text(part.kind)
    )


def _clean_block(block: ThinkingBlock) -> ThinkingBlock:
    return msgspec.structs.replace(
        block,
        text=scalar_text(block.text),
        signature=scalar_text(block.signature),
        redacted=scalar_text(block.redacted),
    )


def _clean_call(call: ToolCall) -> ToolCall:
    return msgspec.structs.replace(
        call, id=scalar_text(call.id), name=scalar_text(call.name), signature=scalar_text(call.signature)
    )


def _ids_for_blank(messages: Sequence[Message]) -> dict[Slot, str]:
    """Give each call without an id one that no earlier call, and none of its turn, has.

    Only what stands before decides, so an id never changes as the conversation grows. Nine letters and
    digits, since one provider takes no other form.
    """
    used: set[str] = set()
    given: dict[Slot, str] = {}
    ordinal = 0
    for position, message in enumerate(messages):
        used.update(call.id for call in message.tool_calls)
        for index, call in enumerate(message.tool_calls):
            if call.id:
                continue
            ordinal += 1
            while f"golem{ordinal:04d}" in used:
                ordinal += 1
            given[position, index] = f"golem{ordinal:04d}"
    return given


def _in_wire_order(messages: Sequence[Message], pairing: Pairing, new_ids: dict[Slot, str]) -> list[Message]:
    """Return `messages` with each turn followed by its results, synthesized ones first."""
    results: dict[int, list[Message]] = {}
    for position, slot in pairing.answers.items():
        result = messages[position]
        if slot in new_ids:
            result = replace(result, tool_call_id=new_ids[slot])
        results.setdefault(slot[0], []).append(result)
    answered = set(pairing.answers.values())
    ordered: list[Message] = []
    for position, message in enumerate(messages):
        if position in pairing.answers:
            continue
        turn, closing = _with_ids(message, position, new_ids, answered)
        ordered += [turn, *closing, *results.get(position, ())]
    return ordered


def _with_ids(
    message: Message, position: int, new_ids: dict[Slot, str], answered: set[Slot]
) -> tuple[Message, list[Message]]:
    """Return `message` with its new ids, and results for those of these calls that have none."""
    slots = [(position, index) for index in range(len(message.tool_calls))]
    if not any(slot in new_ids for slot in slots):
        return message, []
    calls = [
        msgspec.structs.replace(call, id=new_ids[slot]) if slot in new_ids else call
        for slot, call in zip(slots, message.tool_calls, strict=True)
    ]
    closing = [
        synthesized_result(call)
        for slot, call in zip(slots, calls, strict=True)
        if slot in new_ids and slot not in answered
    ]
    return replace(message, tool_calls=tuple(calls)), closing
