"""What is told of a file that is no model. The header's layout is the GGUF specification's."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.local.gguf import check_gguf

if TYPE_CHECKING:
    from pathlib import Path

HEADER = struct.Struct("<4sIQQ")


def flaw(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        check_gguf(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text


@pytest.mark.parametrize("version", [2, 3])
def test_a_header_of_a_current_version_passes(tmp_path: Path, version: int) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(HEADER.pack(b"GGUF", version, 1, 1))
    check_gguf(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"GG", "cut off"),
        (HEADER.pack(b"GGUF", 3, 1, 1)[:-1], "cut off"),
        (b"PK\x03\x04 some archive, long enough for a header", "not a GGUF model"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer"),
        (HEADER.pack(b"GGUF", 1, 1, 1), "version 1"),
        (HEADER.pack(b"GGUF", 99, 1, 1), "version 99"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 1, 1), "big-endian"),
    ],
    ids=["empty", "two-bytes", "short-header", "zip", "lfs", "version-1", "version-99", "big-endian"],
)
def test_a_file_that_is_no_model_is_named_with_its_flaw(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    assert told in flaw(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in flaw(tmp_path / "absent.gguf")


def test_a_folder_is_named(tmp_path: Path) -> None:
    assert "folder" in flaw(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert "not a regular file" in flaw(path)


def test_a_name_that_no_file_can_have_is_an_error_of_ours(tmp_path: Path) -> None:
    assert "cannot be read" in flaw(tmp_path / "a\0b")
