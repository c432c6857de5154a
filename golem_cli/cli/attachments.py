"""Files as parts of a prompt (`-f`): text goes into the prompt, the rest as inline data."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from golem_cli.chat.secret_guard import Origins
from golem_cli.cli.failures import WrongUsage
from golem_cli.core.message import Part
from golem_cli.store.paths import user_path

_SEPARATOR: Final = "\n\n"
LARGEST: Final = 20_000_000
"""Bytes; more than any provider takes inline."""
_KINDS: Final = {"image": "image", "audio": "audio", "video": "video"}


def attach(prompt: str, names: Sequence[str]) -> tuple[str, tuple[Part, ...], Origins]:
    """Return the prompt with the text files in it, the other files as parts, and which file is where.

    Raises `WrongUsage`.
    """
    whole, texts, parts, part_names = prompt, [], [], []
    for name in names:
        data = _read(user_path(name))
        media_type = mimetypes.guess_type(name)[0] or ""
        text = (
            None if media_type.partition("/")[0] in _KINDS or media_type == "application/pdf" else _text(data)
        )
        shown = Path(name).name
        if text is None:
            parts.append(_part(name, data, media_type))
            part_names.append(shown)
        else:
            whole += f"{_SEPARATOR if whole else ''}{shown}:{_SEPARATOR}"
            texts.append((len(whole), shown))
            whole += text
    return whole, tuple(parts), Origins(tuple(texts), tuple(part_names))


def _read(path: Path) -> bytes:
    from golem_cli.cli.sources import read_file

    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        size = 0  # reading it says what is wrong
    if path.is_dir():
        raise WrongUsage(f"{path} is a folder; name a file to attach")
    if size > LARGEST:
        raise WrongUsage(f"{path} has {size:,} bytes; a file to attach may have {LARGEST:,}")
    return read_file(path)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _part(name: str, data: bytes, media_type: str) -> Part:
    if not media_type:
        raise WrongUsage(f"{name} is no text, and its name has no ending that says what it is")
    kind = _KINDS.get(media_type.partition("/")[0], "document")
    return Part(
        kind=kind,
        data=base64.b64encode(data).decode("ascii"),
        media_type=media_type,
    )
