"""A history as the alternating turns of Converse: pure, deterministic.

Source: Bedrock user guide, "Using the Converse API", "Call a tool with the Converse API"; Bedrock runtime API
reference, `Message` (20 images and 5 documents at most, a document never without text), `ReasoningTextBlock`
(text and signature go back unmodified). What the server says when it refuses: langgenius/dify issue 12340
(the user begins), earendil-works/pi issue 4975 (blank text), maximhq/bifrost issue 7003 (names of documents),
and the sources of `families`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

import msgspec

from golem_cli.core.history import repair
from golem_cli.core.history.wire_view import wire_object, wire_view
from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message, ThinkingBlock, ToolCall
from golem_cli.providers.bedrock.names import FORM, wire_name
from golem_cli.providers.bedrock.parts import encode_part
from golem_cli.providers.wire.fields import Json
from golem_cli.providers.wire.names import WireIds
from golem_cli.providers.wire.place import in_place, with_own_thinking

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.bedrock.families import Family

_OPENING: Final = "(The beginning of this conversation is not shown.)"
_GO_ON: Final = "Continue."
_HEARD: Final = "(Understood.)"
_ATTACHED: Final = "(A document is attached.)"
_NO_OUTPUT: Final = "(no output)"
_MOST: Final = {"image": 20, "document": 5}
"""How many of a kind one message may hold."""
_IN_RESULTS: Final = frozenset({"image", "document"})


def encode_turns(messages: Sequence[Message], *, origin: str, family: Family, system: str = "") -> list[Json]:
    """The turns of `messages`, system messages left out, for the model whose name in the file is `origin`.

    Turns alternate and begin with the user's; every call is answered in the turn behind it; blank text is
    left out, and so is thinking that another model signed or nobody did. What the family's models do not take
    together stands in turns of its own. `system` is said first, to models that have no place for it.
    """
    own = [with_own_thinking(message, origin) for message in messages if message.role != SYSTEM]
    history = repair(wire_view(own))
    turns = _Turns(family)
    turns.add(USER, _said(system))
    ids = WireIds(history, FORM)
    attached: list[Json] = []
    for position, message in enumerate(history):
        if message.role == TOOL:
            call_at = ids.answered_by(position)
            name = wire_name(history[call_at[0]].tool_calls[call_at[1]].name)
            turns.add(USER, [turns.result(message, ids.of_result(position))])
            attached += turns.beside(message, name)
            continue
        turns.add(USER, attached)
        attached = []
        if message.role == ASSISTANT:
            calls = [
                _call(call, ids.of_call(position, index)) for index, call in enumerate(message.tool_calls)
            ]
            turns.add(ASSISTANT, in_place(message, calls, said=_said, thought=_thinking))
        else:  # any other role has no authority here
            turns.add(USER, [*_said(message.content), *map(turns.part, message.parts)])
    turns.add(USER, attached)
    return turns.turns


def close(turns: list[Json]) -> None:
    """Let `turns` end with the user's, as most models demand; empty ones stay empty."""
    if turns and turns[-1]["role"] == ASSISTANT:
        turns.append({"role": USER, "content": [_text(_GO_ON)]})


def content_of(turn: Json) -> list[Json]:
    """The content blocks of a turn."""
    return cast("list[Json]", turn["content"])


def in_loop_without_thinking(turns: Sequence[Json]) -> bool:
    """Whether `turns` end within a tool loop that did not begin with thinking.

    Claude refuses a budget for thinking there.
    """
    start = len(turns)
    while start >= 2 and "toolResult" in content_of(turns[start - 1])[0]:
        start -= 2
    return start < len(turns) and "reasoningContent" not in content_of(turns[start])[0]


class _Turns:
    """Turns in the making, for the models of a family."""

    def __init__(self, family: Family) -> None:
        self.turns: list[Json] = []
        self._family = family
        self._documents = 0

    def add(self, role: str, blocks: Sequence[Json]) -> None:
        """Add `blocks` to the last turn when it is of that `role` and takes them, else to a new one."""
        if role == ASSISTANT and not self._family.text_beside_calls:
            blocks = sorted(blocks, key=lambda block: "toolUse" in block)
        for block in blocks:
            if not self._takes(role, block):
                self._begin(role)
            content = content_of(self.turns[-1])
            if "document" in block and not any("text" in other for other in content):
                content.append(_text(_ATTACHED))
            content.append(block)

    def part(self, part: Part) -> Json:
        """The block of a part; documents are counted through the request."""
        self._documents += part.kind == "document"
        return encode_part(part, number=self._documents)

    def result(self, message: Message, call_id: str) -> Json:
        """The block of a result, with as much of it as it may hold."""
        content = _said(message.content) or [_text(_NO_OUTPUT)]
        content += map(self.part, self._inside(message))
        result: Json = {"toolUseId": call_id, "content": content}
        if message.failed and self._family.media_in_results:
            result["status"] = "error"
        return {"toolResult": result}

    def beside(self, message: Message, name: str) -> list[Json]:
        """What a result cannot hold of its parts, to follow all results of the turn."""
        inside = self._inside(message)
        beside = [self.part(part) for part in message.parts if part not in inside]
        return [_text(f"(Attached to the result of {name}:)"), *beside] if beside else []

    def _inside(self, message: Message) -> list[Part]:
        if not self._family.media_in_results:
            return []
        return [part for part in message.parts if part.kind in _IN_RESULTS]

    def _takes(self, role: str, block: Json) -> bool:
        """Whether the last turn is of that `role` and may hold `block` too."""
        if not self.turns or self.turns[-1]["role"] != role:
            return False
        content = content_of(self.turns[-1])
        if not self._family.text_beside_results and ("toolResult" in content[-1]) != ("toolResult" in block):
            return False
        if not self._family.text_beside_calls and ("toolUse" in content[-1]) != ("toolUse" in block):
            return False
        kind = next(iter(block))
        return sum(kind in other for other in content) < _MOST[kind] if kind in _MOST else True

    def _begin(self, role: str) -> None:
        """Begin a turn; between two of one role, and before an assistant's first, stands one of the other."""
        if not self.turns and role == ASSISTANT:
            self.turns.append({"role": USER, "content": [_text(_OPENING)]})
        elif self.turns and self.turns[-1]["role"] == role:
            other, filler = (ASSISTANT, _HEARD) if role == USER else (USER, _GO_ON)
            self.turns.append({"role": other, "content": [_text(filler)]})
        self.turns.append({"role": role, "content": []})


def _thinking(block: ThinkingBlock) -> Json:
    if block.redacted:
        return {"reasoningContent": {"redactedContent": block.redacted}}
    return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.signature}}}


def _call(call: ToolCall, call_id: str) -> Json:
    arguments = msgspec.Raw(wire_object(call).encode())
    return {"toolUse": {"toolUseId": call_id, "name": wire_name(call.name), "input": arguments}}


def _said(text: str) -> list[Json]:
    return [_text(text)] if text.strip() else []


def _text(text: str) -> Json:
    return {"text": text}
