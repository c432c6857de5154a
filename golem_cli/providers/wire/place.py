"""Where a signed block stood in its turn, when it did not stand at the beginning.

A turn must be sent back with its signed blocks where they were: "blocks in the latest assistant message
cannot be modified" (Claude docs, "Thinking", section "Preserving thinking blocks"); a signature stays in the
part that it came in (Gemini API docs, "Thought signatures"). The contract keeps a turn as thinking, text and
calls; a block that came after some of the others says so in an additive field,
`"after": [CHARACTERS, CALLS]`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from golem_cli.core.message import ASSISTANT, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.core.message import Extra, Message, ThinkingBlock
    from golem_cli.providers.wire.fields import Json

_FIELD: Final = "after"


def extra_of_place(characters: int, calls: int) -> Extra:
    """The additive field of a block that `characters` of text and a number of `calls` precede.

    >>> extra_of_place(5, 0), extra_of_place(0, 0)
    ({'after': '[5,0]'}, {})
    """
    return {_FIELD: f"[{characters},{calls}]"} if characters or calls else {}


def place_of(block: ThinkingBlock) -> tuple[int, int]:
    """The characters and the calls that precede `block`; (0, 0) when its field says nothing sensible."""
    try:
        characters, calls = json.loads(block.extra.get(_FIELD, "[0,0]"))
    except (ValueError, TypeError, RecursionError):
        return 0, 0
    sensible = type(characters) is int and type(calls) is int and characters >= 0 and calls >= 0
    return (characters, calls) if sensible else (0, 0)


def with_own_thinking(message: Message, origin: str) -> Message:
    """`message` with that thinking alone which the model called `origin` in the file signed."""
    if not message.thinking:
        return message
    own = message.role == ASSISTANT and message.signed_by == origin
    kept = tuple(block for block in message.thinking if own and (block.signature or block.redacted))
    return message if kept == message.thinking else replace(message, thinking=kept)


def in_place(
    turn: Message,
    calls: Sequence[Json],
    *,
    said: Callable[[str], list[Json]],
    thought: Callable[[ThinkingBlock], Json],
) -> list[Json]:
    """What a turn consists of on the wire: its blocks where they stood between its text and `calls`.

    `said` encodes a piece of the text, `thought` a block. A block that nothing follows is left out: the
    formats refuse it.
    """
    pieces: list[Json] = []
    read = called = last = 0
    for block in turn.thinking:
        characters, number = place_of(block)
        before = [*said(turn.content[read:characters]), *calls[called:number]]
        read, called = max(read, characters), max(called, number)
        pieces += before
        last = len(pieces) if before else last
        pieces.append(thought(block))
    rest = [*said(turn.content[read:]), *calls[called:]]
    return [*pieces, *rest] if rest else pieces[:last]
