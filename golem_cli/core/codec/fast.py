"""Documents → transcripts by the fast library, where it can prove that nothing is lost.

The proof is by length. The library refuses unknown fields, and what it writes for a message is the shortest
spelling of it. A repeated key, a null or empty field or a longer escape would each make the original
longer; so a message of the same length, white space between tokens aside, has none. Every other message is
read by the definition, and a document with an error in it is left to the definition as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.codec.document import BASE_DEPTH, Reading, form_of_object, read_message
from golem_cli.core.codec.flaw import Flaw
from golem_cli.core.codec.scan import Cursor
from golem_cli.core.codec.text import Text
from golem_cli.core.codec.transcript import Transcript
from golem_cli.core.codec.wire import WireMessage, from_wire
from golem_cli.core.errors import TranscriptError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from golem_cli.core.message import Message

_SPACE: Final = b" \t\r\n"
_SURELY_SHALLOW: Final = 9_000
_UNSURE: Final = (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, Flaw, TranscriptError)


class _Object(msgspec.Struct, gc=False):
    golem: int
    messages: msgspec.Raw


class _Stitched(Reading):
    """A conversation object whose messages were read apart: an empty list stands in their place."""

    def __init__(self, text: Text, *, place: int, messages: list[Message]) -> None:
        super().__init__(text)
        self._place = place
        self._apart = messages

    def _read_messages(self, cursor: Cursor) -> tuple[Message, ...]:
        cursor.peek()
        if cursor.position != self._place:
            raise Flaw("expected the place of the messages", cursor.position)
        cursor.value()
        self.messages = self._apart
        return ()


def read_fast(text: Text) -> Transcript | None:
    """Read a document, or None when the definition must decide."""
    if text.torn or text.padded:
        return None
    opener = text.utf8[:_PEEK].lstrip(_SPACE)[:1]
    try:
        if opener == b"[":
            return Transcript(form="array", messages=_read_array(text.utf8))
        if opener != b"{":
            return None
        try:
            document = _OBJECT.decode(text.utf8)
        except msgspec.MsgspecError:
            return _read_lines(text.utf8)
        return _read_object(text.utf8, bytes(document.messages))
    except _UNSURE:
        return None


def _read_array(data: bytes) -> list[Message]:
    return _read_messages(map(bytes, _LIST.decode(data)))


def _read_lines(data: bytes) -> Transcript | None:
    lines = [line for line in (line.strip(_SPACE) for line in data.split(b"\n")) if line]
    if form_of_object(Cursor(lines[0].decode())) != "jsonl":
        return None
    return Transcript(form="jsonl", messages=_read_messages(lines))


def _read_object(data: bytes, messages: bytes) -> Transcript | None:
    place = data.find(messages[:_PEEK])
    if not (messages.startswith(b"[") and data.startswith(messages, place)):
        return None
    head, tail = data[:place], data[place + len(messages) :]
    stitched = Text(utf8=head + b"[]" + tail)
    return _Stitched(stitched, place=len(head.decode()), messages=_read_array(messages)).read(salvage=False)


def _read_messages(documents: Iterable[bytes]) -> list[Message]:
    share = dict[str, str]().setdefault
    messages = []
    for data in documents:
        wire = _decode(data)
        messages.append(_define(data) if wire is None else from_wire(wire, share))
    return messages


def _decode(data: bytes) -> WireMessage | None:
    """One message, or None without the proof."""
    if len(data) > _SURELY_SHALLOW and data.count(b"[") + data.count(b"{") > _SURELY_SHALLOW:
        return None
    try:
        wire = _DECODER.decode(data)
        written = _ENCODER.encode(wire)
        if len(written) == len(data) or len(_FORMAT(written, indent=-1)) == len(_FORMAT(data, indent=-1)):
            return wire
    except (msgspec.MsgspecError, RecursionError):
        pass  # wrong, or beyond the library: the definition decides
    return None


def _define(data: bytes) -> Message:
    """One message by the definition. Raises Flaw."""
    cursor = Cursor(data.decode(), depth=BASE_DEPTH["jsonl"])
    message = read_message(cursor)
    if cursor.peek():
        raise cursor.flaw("expected the end of the text")
    return message


_PEEK: Final = 256
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECT: Final = msgspec.json.Decoder(_Object)
_DECODER: Final = msgspec.json.Decoder(WireMessage)
_ENCODER: Final = msgspec.json.Encoder()
_FORMAT: Final = msgspec.json.format
