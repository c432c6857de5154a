"""A signature on text: where the contract keeps it, and how it gets back to its part.

Gemini signs parts: of thought, of text, or a call. A signature must come back in the part that it came in,
which is never merged with another (Gemini API docs, "Thought signatures"). A call has a field for it. A
signed part of text becomes a block of thinking without text, whose additive fields say where the part began
(`after`) and how many characters of the message's text it has: `"signs": CHARACTERS`, 0 for the empty part
at the end of a stream.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from golem_cli.core.message import ThinkingBlock
from golem_cli.providers.wire.place import extra_of_place

if TYPE_CHECKING:
    from golem_cli.core.message import Message

_FIELD: Final = "signs"
_COUNT: Final = re.compile(r"\d{1,9}", re.ASCII)


def signature_of_text(signature: str, *, characters: int, calls: int, length: int) -> ThinkingBlock:
    """The block for a part of `length` characters that `characters` and a number of `calls` precede."""
    return ThinkingBlock(signature=signature, extra=extra_of_place(characters, calls) | {_FIELD: str(length)})


def signed_length(block: ThinkingBlock) -> int | None:
    """The characters of text that `block` signs; None when it is a thought.

    >>> signed_length(signature_of_text("s", characters=0, calls=0, length=5))
    5
    """
    told = block.extra.get(_FIELD, "")
    return int(told) if _COUNT.fullmatch(told) else None


def is_signed(message: Message) -> bool:
    """Whether a turn carries anything that only the model that made it may be shown."""
    return bool(message.thinking) or any(call.signature for call in message.tool_calls)
