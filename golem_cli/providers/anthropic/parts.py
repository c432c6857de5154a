"""Images and documents as content blocks, and why the format cannot carry any other part.

Source: Claude API reference, "Create a Message" (image and document blocks and their sources); Claude docs,
"Vision" and "PDF support".
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from golem_cli.core.history.validate import fault_of

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.fields import Json

_IMAGES: Final = {
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/png": "image/png",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
LARGEST_IMAGE: Final = 5 * 2**20
"""Characters of base64. A larger one is refused, and with it every request that holds it."""

_PDF: Final = "application/pdf"
_TEXT: Final = "text/plain"


def refusal_of(part: Part) -> str:
    """Why the format cannot carry `part`; empty when it can."""
    if part.kind not in {"image", "document"}:
        return f"Anthropic's format carries images and documents, not {part.kind or 'nameless parts'}"
    if fault := fault_of(part):
        return f"{part.kind} part: {fault}"
    if part.url:
        return ""
    if part.kind == "image":
        return _refusal_of_image(part)
    if _media_type(part) == _PDF or (_media_type(part).startswith("text/") and _text_of(part).strip()):
        return ""
    return f"Anthropic takes PDF and plain text documents, not {part.media_type}, and none that is blank"


def _refusal_of_image(part: Part) -> str:
    if _media_type(part) not in _IMAGES:
        return f"Anthropic takes jpeg, png, gif and webp images, not {part.media_type}"
    if len(part.data) > LARGEST_IMAGE:
        return (
            f"Anthropic takes images of up to 5 MB in base64, and this one has {len(part.data) / 2**20:.1f}"
        )
    return ""


def encode_part(part: Part) -> Json:
    """The content block of a part that `refusal_of` does not refuse."""
    return {"type": part.kind, "source": _source(part)}


def _source(part: Part) -> Json:
    if part.url:
        return {"type": "url", "url": part.url}
    if part.kind == "image":
        return {"type": "base64", "media_type": _IMAGES[_media_type(part)], "data": part.data}
    if _media_type(part) == _PDF:
        return {"type": "base64", "media_type": _PDF, "data": part.data}
    return {"type": "text", "media_type": _TEXT, "data": _text_of(part)}


def _media_type(part: Part) -> str:
    """The media type without its parameters."""
    return part.media_type.partition(";")[0].strip().lower()


def _text_of(part: Part) -> str:
    """What a text document says; bytes that are not UTF-8 become U+FFFD."""
    return base64.b64decode(part.data).decode("utf-8", "replace")
