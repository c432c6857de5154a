"""Images, documents, sound and film as parts of a content, and why the format cannot carry any other.

Source: Gemini API reference, "Caching" (`Blob`, `FileData`: text is not sent as bytes); Gemini API docs,
"Image understanding", "Document understanding", "Audio understanding", "Video understanding" (media types)
and "File input methods" (public addresses in `fileData`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from golem_cli.core.history.validate import fault_of
from golem_cli.providers.wire.media import media_type_of, text_of

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.wire.fields import Json

_PDF: Final = "application/pdf"
_TAKEN: Final = {
    "image": ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"),
    "document": (_PDF,),
    "audio": ("audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"),
    "video": (
        "video/mp4",
        "video/mpeg",
        "video/mov",
        "video/avi",
        "video/x-flv",
        "video/mpg",
        "video/webm",
        "video/wmv",
        "video/3gpp",
    ),
}
_ALIASES: Final = {
    "image/jpg": "image/jpeg",
    "audio/mpeg": "audio/mp3",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-aiff": "audio/aiff",
    "audio/x-flac": "audio/flac",
    "video/quicktime": "video/mov",
    "video/x-msvideo": "video/avi",
    "video/x-ms-wmv": "video/wmv",
}
_BY_ENDING: Final = {
    "jpg": "image/jpeg",
    "pdf": _PDF,
    "txt": "text/plain",
    **{kind.rpartition("/")[2]: kind for kinds in _TAKEN.values() for kind in kinds},
}
_IN_RESULTS: Final = frozenset({"image/png", "image/jpeg", "image/webp", _PDF})


def refusal_of(part: Part) -> str:
    """Why the format cannot carry `part`; empty when it can."""
    if part.kind not in _TAKEN:
        return (
            f"Gemini's format carries images, documents, audio and video, not {part.kind or 'nameless parts'}"
        )
    if fault := fault_of(part):
        return f"{part.kind} part: {fault}"
    if part.url or _type_of(part) in _TAKEN[part.kind]:
        return ""
    if _is_text(part):
        return "" if text_of(part).strip() else "Gemini takes no blank document"
    known = ", ".join(name.partition("/")[2] for name in _TAKEN[part.kind])
    text = " and text" if part.kind == "document" else ""
    return f"Gemini takes {part.kind} parts of {known}{text}, not {part.media_type}"


def encode_part(part: Part) -> Json:
    """The part of a content that stands for one that `refusal_of` does not refuse."""
    if part.url:
        named = _type_of(part) or _by_ending(part.url)
        return {"fileData": ({"mimeType": named} if named else {}) | {"fileUri": part.url}}
    if _is_text(part):
        return {"text": text_of(part)}
    return {"inlineData": {"mimeType": _type_of(part), "data": part.data}}


def goes_into_result(part: Part) -> bool:
    """Whether a function response itself may hold `part`, with a model that takes any there."""
    return bool(part.data) and _type_of(part) in _IN_RESULTS


def _type_of(part: Part) -> str:
    named = media_type_of(part)
    return _ALIASES.get(named, named)


def _is_text(part: Part) -> bool:
    return part.kind == "document" and _type_of(part).startswith("text/")


def _by_ending(url: str) -> str:
    """The media type that the ending of the address tells, "" when it tells none."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return _BY_ENDING.get(path.rpartition(".")[2].lower(), "")
