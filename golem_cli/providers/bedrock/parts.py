"""Images, documents, sound and film as content blocks, and why Converse cannot carry any other part.

Source: Bedrock runtime API reference, `ImageBlock`, `DocumentBlock`, `AudioBlock`, `VideoBlock` (formats; the
bytes, or a place in S3, and no other address) and `Message` (3.75 MB for an image, 4.5 MB for a document).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.history.validate import fault_of
from golem_cli.providers.wire.media import media_type_of, text_of

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.bedrock.families import Family
    from golem_cli.providers.wire.fields import Json

_FORMATS: Final = {
    "image": {
        "image/png": "png",
        "image/jpeg": "jpeg",
        "image/jpg": "jpeg",
        "image/gif": "gif",
        "image/webp": "webp",
    },
    "document": {
        "application/pdf": "pdf",
        "application/msword": "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.ms-excel": "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "text/csv": "csv",
        "text/html": "html",
        "text/markdown": "md",
    },
    "audio": {
        "audio/mpeg": "mp3",
        "audio/mp3": "mp3",
        "audio/wav": "wav",
        "audio/x-wav": "wav",
        "audio/wave": "wav",
        "audio/aac": "aac",
        "audio/flac": "flac",
        "audio/ogg": "ogg",
        "audio/opus": "opus",
        "audio/webm": "webm",
        "audio/mp4": "m4a",
    },
    "video": {
        "video/mp4": "mp4",
        "video/quicktime": "mov",
        "video/x-matroska": "mkv",
        "video/webm": "webm",
        "video/x-flv": "flv",
        "video/mpeg": "mpeg",
        "video/x-ms-wmv": "wmv",
        "video/3gpp": "three_gp",
    },
}
_LARGEST: Final = {"image": 3.75, "document": 4.5, "audio": 25, "video": 25}
"""Megabytes. A larger part is refused, and with it every request that holds it."""


def refusal_of(part: Part, family: Family) -> str:
    """Why Converse cannot carry `part` to a model of that `family`; empty when it can."""
    if part.kind not in family.parts:
        known = ", ".join(sorted(family.parts))
        return f"this model on Bedrock takes parts of the kinds {known}, not {part.kind or 'nameless ones'}"
    if fault := fault_of(part):
        return f"{part.kind} part: {fault}"
    if part.url:
        return f"Bedrock takes {part.kind} parts as data only, not by url"
    if not _format_of(part):
        known = ", ".join(dict.fromkeys(_FORMATS[part.kind].values()))
        text = " and text" if part.kind == "document" else ""
        return f"Bedrock takes {part.kind} parts of {known}{text}, not {part.media_type}"
    if part.kind == "document" and media_type_of(part).startswith("text/") and not text_of(part).strip():
        return "Bedrock takes no blank document"
    megabytes = len(part.data) * 3 / 4 / 2**20
    if megabytes > _LARGEST[part.kind]:
        return (
            f"Bedrock takes {part.kind} parts of up to {_LARGEST[part.kind]} MB, and this has {megabytes:.1f}"
        )
    return ""


def encode_part(part: Part, *, number: int) -> Json:
    """The content block of a part that `refusal_of` does not refuse; `number` counts the request's documents.

    A document's name is neutral, since a model may read it as an instruction, and the request's only one.
    """
    block: Json = {"format": _format_of(part), "source": {"bytes": part.data}}
    if part.kind == "document":
        block = {"format": block["format"], "name": f"Document {number}", "source": block["source"]}
    return {part.kind: block}


def _format_of(part: Part) -> str:
    named = media_type_of(part)
    known = _FORMATS[part.kind].get(named, "")
    return "txt" if not known and part.kind == "document" and named.startswith("text/") else known
