"""Bytes → Unicode text: byte order marks, UTF-8, UTF-16 and UTF-32, and where a character came from."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

from golem_cli.core.errors import TranscriptError

# The longer mark first: UTF-32's begins with UTF-16's, and no JSON text begins with NUL.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDTHS: Final = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
"""Bytes of the smallest unit, where it is not one byte."""
_STOPS_SHORT: Final = frozenset({"unexpected end of data", "truncated data"})


@dataclass(frozen=True, kw_only=True)
class Text:
    """A document as UTF-8 without its mark, and what its bytes were.

    `torn` says that the bytes stopped inside their last character, which is left out; `padded` that zero
    bytes followed, left out too: what a file system gives for the end of a file that never reached the disk.
    """

    utf8: bytes
    encoding: str = "utf-8"
    mark: int = 0
    torn: bool = False
    padded: bool = False

    def characters(self) -> str:
        """The whole text as a string."""
        return self.utf8.decode()

    def offset(self, before: str) -> int:
        """The byte, from 0, of the original document that follows the text `before`."""
        return self.mark + len(before.encode(self.encoding))


def read_text(data: bytes | str) -> Text:
    """Decode a document.

    Raises TranscriptError, with the offset of the first bad byte, for bytes that are not the encoding they
    claim: UTF-8, or what the byte order mark says.
    """
    if isinstance(data, str):
        return _from_string(data)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode(data, encoding, len(mark))
    return _decode(data, "utf-8", 0)


def _from_string(data: str) -> Text:
    whole = data.removeprefix("\ufeff")
    body = whole.rstrip("\0")
    try:
        return Text(utf8=body.encode(), padded=body != whole)
    except UnicodeEncodeError as error:
        offset = len(body[: error.start].encode())
        text = f"not Unicode text: a lone surrogate at byte {offset}; write it as an escape"
        raise TranscriptError(text, offset=offset) from None


def _decode(data: bytes, encoding: str, mark: int) -> Text:
    body, padded = _without_padding(data[mark:] if mark else data, _WIDTHS.get(encoding, 1))
    if encoding == "utf-8" and body.isascii():
        return Text(utf8=body, mark=mark, padded=padded)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        if error.reason in _STOPS_SHORT and error.end == len(body):
            whole = body[: error.start].decode(encoding)
            return Text(utf8=whole.encode(), encoding=encoding, mark=mark, torn=True, padded=padded)
        offset = mark + error.start
        line = body[: error.start].decode(encoding).count("\n") + 1
        name = encoding.upper()
        problem = f"not {name} text: bad byte 0x{body[error.start]:02x} at byte {offset} (line {line})"
        raise TranscriptError(f"{problem}; convert the file to UTF-8", offset=offset, line=line) from None
    utf8 = body if encoding == "utf-8" else text.encode()
    return Text(utf8=utf8, encoding=encoding, mark=mark, padded=padded)


def _without_padding(body: bytes, width: int) -> tuple[bytes, bool]:
    """Leave out the zero bytes at the end, in whole characters; also return whether there were any."""
    zeros = len(body) - len(body.rstrip(b"\0"))
    zeros -= zeros % width
    return body[: len(body) - zeros], zeros > 0
