"""A history as the alternating turns of Converse: pure, deterministic.

Source: Bedrock user guide, "Using the Converse API", "Call a tool with the Converse API"; Bedrock runtime API
reference, `Message` (20 images and 5 documents at most, a document never without text), `ReasoningTextBlock`
(text and signature go back unmodified). What the server says when it refuses: langgenius/dify issue 12340
(the user begins), earendil-works/pi issue 4975 (blank text), maximhq/bifrost issue 7003 (names of documents),
and the sources of `families`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from golem_cli.core.message import ASSISTANT, TOOL, USER, Message, ThinkingBlock, ToolCall
from golem_cli.providers.bedrock.names import FORM, wire_name
from golem_cli.providers.bedrock.parts import encode_part
from golem_cli.providers.wire.fields import Json
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.history import (
    embedded_args,
    filled,
    note_empty,
    note_failed,
    note_moved,
    wire_history,
)
from golem_cli.providers.wire.place import in_place, with_own_thinking

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.bedrock.families import Family
    from golem_cli.providers.wire.findings import Note

_OPENING: Final = "(The beginning of this conversation is not shown.)"
_GO_ON: Final = "Continue."
_HEARD: Final = "(Understood.)"
_ATTACHED: Final = "(A document is attached.)"
_NO_OUTPUT: Final = "(no output)"
_BARE: Final = f"a document stands with text only: {_ATTACHED} goes in front"
_JOINED: Final = "turns alternate: this one is sent as part of the one before it"
_MOST: Final = {"image": 20, "document": 5}
"""How many of a kind one message may hold."""
_IN_RESULTS: Final = frozenset({"image", "document"})


def encode_turns(
    messages: Sequence[Message], *, origin: str, family: Family, system: str = "", note: Note = silent
) -> list[Json]:
    """The turns of `messages`, system messages left out, for the model whose name in the file is `origin`.

    Turns alternate and begin with the user's; every call is answered in the turn behind it; blank text is
    left out, and so is thinking that another model signed or nobody did. What the family's models do not take
    together stands in turns of its own. `system` is said first, to models that have no place for it.
    """
    own = partial(with_own_thinking, origin=origin, note=note)
    turns = _Turns(family, note)
    if system.strip():
        turns.add(USER, [_text(system)])
    attached: list[Json] = []
    for message in wire_history(messages, own=own, id_form=FORM, wire_name=wire_name, note=note):
        if message.role == TOOL:
            turns.add(USER, [turns.result(message)], message)
            attached += turns.beside(message)
            continue
        turns.add(USER, attached)
        attached = []
        role = ASSISTANT if message.role == ASSISTANT else USER  # any other role has no authority here
        blocks = turns.said_by_model(message) if role == ASSISTANT else turns.said_by_user(message)
        if not blocks:
            note_empty(message, note)
        turns.add(role, blocks, message)
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
    """Turns in the making, for the models of a family; `note` is told what a turn's blocks had to become."""

    def __init__(self, family: Family, note: Note) -> None:
        self.turns: list[Json] = []
        self._family = family
        self._note = note
        self._documents = 0
        self._before: Message | None = None

    def add(self, role: str, blocks: Sequence[Json], message: Message | None = None) -> None:
        """Add `blocks` to the last turn when it is of that `role` and takes them, else to a new one.

        `message` is the one that they are of, None for what no message is.
        """
        if role == ASSISTANT and not self._family.text_beside_calls:
            blocks = sorted(blocks, key=lambda block: "toolUse" in block)
        departures = [self._added(role, block, first=index == 0) for index, block in enumerate(blocks)]
        for text in dict.fromkeys(filter(None, departures)):
            if message is not None and not (text == _JOINED and self._beside_results(message)):
                self._note(message, "bare-document" if text == _BARE else "role-order", text)
        self._before = message if blocks else self._before

    def _added(self, role: str, block: Json, *, first: bool) -> str:
        """Add one block; return how that departs from the history's turns, "" when it does not."""
        departure = _JOINED if first and self.turns and self.turns[-1]["role"] == role else ""
        if not self._takes(role, block):
            departure = self._begin(role)
        content = content_of(self.turns[-1])
        if "document" in block and not any("text" in other for other in content):
            content.append(_text(_ATTACHED))
            departure = departure or _BARE
        content.append(block)
        return departure

    def _beside_results(self, message: Message) -> bool:
        """Whether `message`, or the one before it, is a result: those share a turn by nature."""
        return message.role == TOOL or (self._before is not None and self._before.role == TOOL)

    def said_by_user(self, message: Message) -> list[Json]:
        """The blocks of a user message."""
        return [*_said(message.content, message, self._note), *map(self.part, message.parts)]

    def said_by_model(self, message: Message) -> list[Json]:
        """The blocks of an assistant message, each where it stood."""
        calls = [_call(call, message, self._note) for call in message.tool_calls]
        said = partial(_said, message=message, note=self._note)
        return in_place(message, calls, said=said, thought=_thinking, note=self._note)

    def part(self, part: Part) -> Json:
        """The block of a part; documents are counted through the request."""
        self._documents += part.kind == "document"
        return encode_part(part, number=self._documents)

    def result(self, message: Message) -> Json:
        """The block of a result, with as much of it as it may hold."""
        content = _said(message.content, message, self._note)
        if not content:
            text = f"a result without text is sent as {_NO_OUTPUT}: an empty one would be refused"
            self._note(message, "empty-result", text, message.tool_call_id)
            content = [_text(_NO_OUTPUT)]
        content += map(self.part, self._inside(message))
        result: Json = {"toolUseId": message.tool_call_id, "content": content}
        if not self._family.media_in_results:
            note_failed(message, self._note)
        elif message.failed:
            result["status"] = "error"
        return {"toolResult": result}

    def beside(self, message: Message) -> list[Json]:
        """What a result cannot hold of its parts, to follow all results of the turn."""
        inside = self._inside(message)
        beside = [self.part(part) for part in message.parts if part not in inside]
        if not beside:
            return []
        note_moved(message, len(beside), self._note)
        return [_text(f"(Attached to the result of {message.tool_name}:)"), *beside]

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

    def _begin(self, role: str) -> str:
        """Begin a turn; between two of one role, and before an assistant's first, stands one of the other.

        Returns what stands there, in words; "" for nothing.
        """
        departure = ""
        if not self.turns and role == ASSISTANT:
            self.turns.append({"role": USER, "content": [_text(_OPENING)]})
            departure = "the user begins: a line that says what is missing goes in front"
        elif self.turns and self.turns[-1]["role"] == role:
            other, filler = (ASSISTANT, _HEARD) if role == USER else (USER, _GO_ON)
            self.turns.append({"role": other, "content": [_text(filler)]})
            departure = f"what one turn cannot hold is sent in several, with {filler} between"
        self.turns.append({"role": role, "content": []})
        return departure


def _thinking(block: ThinkingBlock) -> Json:
    if block.redacted:
        return {"reasoningContent": {"redactedContent": block.redacted}}
    return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.signature}}}


def _call(call: ToolCall, message: Message, note: Note) -> Json:
    arguments = embedded_args(call, message, note)
    return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments}}


def _said(text: str, message: Message, note: Note) -> list[Json]:
    return [_text(text)] if filled(text, message, note) else []


def _text(text: str) -> Json:
    return {"text": text}
