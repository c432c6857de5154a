"""What a part is made of: its media type, and the text of one that is text."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from golem_cli.core.message import Part


def media_type_of(part: Part) -> str:
    """The media type in lower case, without its parameters."""
    return part.media_type.partition(";")[0].strip().lower()


def text_of(part: Part) -> str:
    """What an inline text document says; bytes that are not UTF-8 become U+FFFD."""
    return base64.b64decode(part.data).decode("utf-8", "replace")
