"""Folds content blocks that come in numbered fragments, text, thinking and calls, into a turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from golem_cli.core.errors import ModelError
from golem_cli.core.message import ASSISTANT, Message, ThinkingBlock, ToolCall
from golem_cli.core.model import Delta, ToolCallDelta
from golem_cli.providers.wire.place import extra_of_place

if TYPE_CHECKING:
    from golem_cli.core.message import Extra

Kind = Literal["text", "thinking", "call", "other"]

TEXT: Final = "text"
THINKING: Final = "thinking"
CALL: Final = "call"


@dataclass
class Block:
    """A content block in the making; `number` counts the calls from 0. What is `other` says nothing.

    `extra` are additive fields of a block of thinking.
    """

    kind: Kind
    pieces: list[str] = field(default_factory=list)
    id: str = ""
    name: str = ""
    signature: str = ""
    redacted: str = ""
    number: int = 0
    told: bool = False
    extra: Extra = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What arrived of its text or arguments."""
        return "".join(self.pieces)


class BlockFold:
    """The blocks of one turn, in the making, in the order in which they began."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._at_index: dict[int, Block] = {}

    @property
    def says_something(self) -> bool:
        """Whether any text, thinking or argument has arrived."""
        return any(block.text for block in self.blocks)

    def has(self, index: int) -> bool:
        """Whether a block has begun at `index`."""
        return index in self._at_index

    def begin(self, index: int, kind: Kind, *, id: str = "", name: str = "") -> Block:  # noqa: A002 (the field)
        """Begin the block at `index`; `id` and `name` are a call's."""
        number = sum(block.kind == CALL for block in self.blocks)
        block = self._at_index[index] = Block(kind=kind, id=id, name=name, number=number)
        self.blocks.append(block)
        return block

    def add(self, index: int, *, content: str = "", thinking: str = "") -> Delta | None:
        """Take a piece of text or of thinking; None when it is empty."""
        if not (content or thinking):
            return None
        self.block(index, THINKING if thinking else TEXT).pieces.append(content or thinking)
        return Delta(content=content, thinking=thinking)

    def add_arguments(self, index: int, fragment: str) -> Delta:
        """Take a piece of a call's arguments. Raises `ModelError` when no call has begun at `index`."""
        block = self._at_index.get(index)
        if block is None or block.kind != CALL:
            raise ModelError("sent arguments of a call that it had not begun")
        first, block.told = not block.told, True
        block.pieces.append(fragment)
        call = ToolCallDelta(
            index=block.number,
            id=block.id if first else "",
            name=block.name if first else "",
            args_fragment=fragment,
        )
        return Delta(tool_calls=(call,))

    def block(self, index: int, kind: Kind) -> Block:
        """The block at `index`; a fragment that none of its `kind` was begun for goes on the latest."""
        latest = self.blocks[-1] if self.blocks else None
        for block in (self._at_index.get(index), latest):
            if block is not None and block.kind == kind:
                return block
        return self.begin(index, kind)

    def message(self, *, origin: str, between: str = "", instead: str = "") -> Message:
        """The assistant message of the blocks so far, from the model called `origin` in the file.

        `between` stands between two blocks of text, `instead` where there is no text at all.
        """
        content = ""
        texts = 0
        calls: list[ToolCall] = []
        thinking: list[ThinkingBlock] = []
        for block in self.blocks:
            if block.kind == TEXT:
                content += (between if texts else "") + block.text
                texts += 1
            elif block.kind == CALL:
                calls.append(ToolCall(id=block.id, name=block.name, args=block.text))
            elif block.kind == THINKING:
                thinking.append(_thinking(block, len(content), len(calls)))
        return Message(
            role=ASSISTANT,
            content=content or instead,
            thinking=tuple(thinking),
            tool_calls=tuple(calls),
            signed_by=origin if thinking else "",
        )


def _thinking(block: Block, characters: int, calls: int) -> ThinkingBlock:
    return ThinkingBlock(
        text=block.text,
        signature=block.signature,
        redacted=block.redacted,
        extra=extra_of_place(characters, calls) | block.extra,
    )
