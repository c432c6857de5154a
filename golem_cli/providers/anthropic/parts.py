"""Images and documents as content blocks, and why the format cannot carry any other part.

Source: Claude API reference, "Create a Message" (image and document blocks and their sources); Claude docs,
"Vision" and "PDF support".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.history.validate import fault_of
from golem_cli.providers.wire.media import media_type_of, text_of

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.wire.fields import Json

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
    if media_type_of(part) == _PDF or (media_type_of(part).startswith("text/") and text_of(part).strip()):
        return ""
    return f"Anthropic takes PDF and plain text documents, not {part.media_type}, and none that is blank"


def _refusal_of_image(part: Part) -> str:
    if media_type_of(part) not in _IMAGES:
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
        return {"type": "base64", "media_type": _IMAGES[media_type_of(part)], "data": part.data}
    if media_type_of(part) == _PDF:
        return {"type": "base64", "media_type": _PDF, "data": part.data}
    return {"type": "text", "media_type": _TEXT, "data": text_of(part)}
