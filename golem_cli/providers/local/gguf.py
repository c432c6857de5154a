"""Tells a GGUF model file from everything else before the engine is asked to load it.

Source: the GGUF specification of ggml (docs/gguf.md): the magic `GGUF`, the version, the number of tensors
and the number of metadata entries, little-endian, 24 bytes in all.
"""

from __future__ import annotations

import stat
import struct
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

MAGIC: Final = b"GGUF"
_HEADER: Final = struct.Struct("<4sIQQ")
_VERSIONS: Final = (2, 3)
_LFS_POINTER: Final = b"version https://git-lfs"


def check_gguf(path: Path) -> None:
    """Raise `ConfigurationError`, which names `path` and what is wrong, unless it begins as GGUF."""
    if reason := _flaw(path):
        raise ConfigurationError(f"{path}: {reason}")


def _flaw(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return "this is a folder; name the .gguf file in it"
        if not stat.S_ISREG(mode):
            return "this is not a regular file; name a .gguf file"
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except FileNotFoundError:
        return "there is no such file; name a .gguf file"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    return _header_flaw(head)


def _header_flaw(head: bytes) -> str:
    if not head:
        return "the file is empty; download the model again"
    if head.startswith(_LFS_POINTER[: _HEADER.size]):
        return "this is a Git LFS pointer, not the model itself; fetch it with `git lfs pull`"
    if not head.startswith(MAGIC[: len(head)]):
        return "this is not a GGUF model (it does not begin with the letters GGUF)"
    if len(head) < _HEADER.size:
        return "the GGUF header is cut off; download the model again"
    _, version, _tensors, _entries = _HEADER.unpack(head)
    if version in _VERSIONS:
        return ""
    if version.to_bytes(4, "little")[:2] == b"\0\0":
        return "this GGUF file is big-endian; a little-endian one is needed"
    return f"this is GGUF version {version}; versions {_VERSIONS[0]} and {_VERSIONS[1]} can be used"
