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
from golem_cli.core.quote import quoted
from golem_cli.providers.wire.findings import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.core.message import Extra, Message, ThinkingBlock
    from golem_cli.providers.wire.fields import Json
    from golem_cli.providers.wire.findings import Note

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


def is_signed(block: ThinkingBlock) -> bool:
    """Whether a block carries what its model wants back: a signature, or what it did not show."""
    return bool(block.signature or block.redacted)


def with_own_thinking(
    message: Message,
    origin: str,
    *,
    carries: Callable[[ThinkingBlock], object] = is_signed,
    note: Note = silent,
) -> Message:
    """`message` with that thinking alone which the model called `origin` in the file signed.

    `carries` says whether the format can take a block of its own model back.
    """
    if not message.thinking:
        return message
    own = message.role == ASSISTANT and message.signed_by == origin
    kept = tuple(block for block in message.thinking if own and carries(block))
    if len(kept) == len(message.thinking):
        return message
    note_foreign(message, "thinking", own=own, note=note)
    return replace(message, thinking=kept)


def note_foreign(message: Message, what: str, *, own: bool, note: Note) -> None:
    """Note that thinking or a signature of `message` stays behind; `own` is what nobody signed."""
    if own:
        note(message, "foreign-signature", f"{what} without a signature stays behind: it would be refused")
    elif message.signed_by:
        by = quoted(message.signed_by)
        note(message, "foreign-signature", f"{what} of {by} stays behind: no other model may be shown it")
    else:
        text = f"{what} stays behind: the file does not say which model made it"
        note(message, "foreign-signature", text)


def in_place(
    turn: Message,
    calls: Sequence[Json],
    *,
    said: Callable[[str], list[Json]],
    thought: Callable[[ThinkingBlock], Json],
    note: Note = silent,
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
    if rest or last == len(pieces):
        return [*pieces, *rest]
    note(turn, "unsent-thinking", "thinking that nothing follows stays behind: it would be refused")
    return pieces[:last]
