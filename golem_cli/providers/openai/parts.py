"""Parts as content of a chat-completions message, and why the format cannot carry any other part.

Source: OpenAI API reference, "Create chat completion" (`image_url`, `input_audio` and `file` content).
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.wire.fields import Json

_AUDIO_FORMATS: Final = {
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/vnd.wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}


def refusal_of(part: Part) -> str:
    """Why the format cannot carry `part`; empty when it can."""
    kind = part.kind or "nameless"
    if bool(part.url) == bool(part.data):
        return f"{kind} part needs either a url or data"
    if part.kind not in {"image", "document", "audio"}:
        return f"chat completions cannot carry a {kind} part"
    if part.url:
        return (
            "" if part.kind == "image" else f"chat completions takes a {kind} part as data only, not by url"
        )
    if not part.media_type:
        return f"{kind} part has data but no mediaType"
    if not _is_base64(part.data):
        return f"the data of the {kind} part is not base64"
    if part.kind == "audio" and part.media_type.lower() not in _AUDIO_FORMATS:
        return f"chat completions takes wav and mp3 audio, not {part.media_type}"
    return ""


def _is_base64(text: str) -> bool:
    try:
        binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except ValueError:
        return False
    return True


def encode_part(part: Part) -> Json:
    """The content of a part that `refusal_of` does not refuse."""
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": part.url or _data_url(part)}}
    if part.kind == "audio":
        audio = {"data": part.data, "format": _AUDIO_FORMATS[part.media_type.lower()]}
        return {"type": "input_audio", "input_audio": audio}
    extension = part.media_type.rpartition("/")[2].partition(";")[0].partition("+")[0] or "bin"
    file = {"filename": f"document.{extension}", "file_data": _data_url(part)}
    return {"type": "file", "file": file}


def _data_url(part: Part) -> str:
    return f"data:{part.media_type};base64,{part.data}"
