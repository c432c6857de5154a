"""Images and documents as content of the Responses format, and why it cannot carry any other part.

Source: OpenAI API reference, "Create a model response" (`input_image`, `input_file`); OpenAI guides, "Images
and vision" (png, jpeg, webp and gif) and "File inputs". A document that is text travels as text.
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


def refusal_of(part: Part) -> str:
    """Why the format cannot carry `part`; empty when it can."""
    if part.kind not in {"image", "document"}:
        return f"the Responses API carries images and documents, not {part.kind or 'nameless parts'}"
    if fault := fault_of(part):
        return f"{part.kind} part: {fault}"
    if part.kind == "image" and not part.url and media_type_of(part) not in _IMAGES:
        return f"the Responses API takes jpeg, png, gif and webp images, not {part.media_type}"
    if _is_text(part) and not text_of(part):
        return "the Responses API takes no empty document"
    return ""


def encode_part(part: Part) -> Json:
    """The content of a part that `refusal_of` does not refuse."""
    if part.kind == "image":
        return {"type": "input_image", "image_url": part.url or _data_url(part, _IMAGES[media_type_of(part)])}
    if part.url:
        return {"type": "input_file", "file_url": part.url}
    if _is_text(part):
        return {"type": "input_text", "text": text_of(part)}
    extension = media_type_of(part).rpartition("/")[2].partition("+")[0] or "bin"
    data = _data_url(part, media_type_of(part))
    return {"type": "input_file", "filename": f"document.{extension}", "file_data": data}


def _is_text(part: Part) -> bool:
    return part.kind == "document" and not part.url and media_type_of(part).startswith("text/")


def _data_url(part: Part, media_type: str) -> str:
    return f"data:{media_type};base64,{part.data}"
