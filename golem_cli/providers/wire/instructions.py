"""The system messages of a request as the one text that most formats take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.history.wire_view import scalar_text
from golem_cli.core.message import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.message import Message


def system_text(messages: Sequence[Message]) -> str:
    """What the system messages say, a blank line between two; blank ones are left out."""
    texts = (message.content for message in messages if message.role == SYSTEM)
    return scalar_text("\n\n".join(text for text in texts if text.strip()))
