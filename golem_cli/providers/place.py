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

if TYPE_CHECKING:
    from golem_cli.core.message import Extra, ThinkingBlock

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
