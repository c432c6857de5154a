"""Server-sent events: bytes in, events out, wherever the network cut them.

Source: WHATWG HTML, section "Server-sent events" (parsing and interpreting an event stream). The stream is
always UTF-8; a line ends with CRLF, LF or CR; an event is complete at its blank line; one without data is not
dispatched; one that the end of the stream cuts off is dropped (`close` shows its data to whoever knows
better). httpx-sse is not used: it decodes by the Content-Type, keeps a byte order mark, and holds an event
back while its last line ends with a CR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_EVENT_BYTES: Final = 64 * 1024 * 1024
"""A line or an event beyond this is not an answer but a way to fill the memory."""

_BOM: Final = b"\xef\xbb\xbf"


class OversizedEventError(ValueError):
    """An event is longer than `MAX_EVENT_BYTES`."""


@dataclass(frozen=True, kw_only=True)
class ServerSentEvent:
    """A dispatched event. `kind` is its type, empty when the stream named none."""

    data: str
    kind: str = ""


class EventDecoder:
    r"""Decodes one stream.

    >>> decoder = EventDecoder()
    >>> decoder.feed(b"data: on"), decoder.feed(b"e\r\ndata: two\r\n\r\n")
    ([], [ServerSentEvent(data='one\ntwo', kind='')])
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._size = 0
        self._first = True
        self._after_cr = False
        self._data: list[str] = []
        self._kind = ""

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that `chunk` completes. Raises `OversizedEventError`."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        *lines, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        events = []
        for line in lines:
            self._grow(line)
            event = self._take_line()
            if event is not None:
                events.append(event)
        self._grow(rest)
        return events

    def close(self) -> str:
        """End the stream: return the data of the event that the end cut off, empty when there is none."""
        self._take_line()
        return "\n".join(self._data)

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_EVENT_BYTES:
            raise OversizedEventError
        self._line += piece

    def _take_line(self) -> ServerSentEvent | None:
        raw = bytes(self._line)
        self._line.clear()
        if self._first:
            raw, self._first = raw.removeprefix(_BOM), False
        if not raw:
            return self._dispatch()
        name, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        data, kind = "\n".join(self._data), self._kind
        self._data, self._kind, self._size = [], "", 0
        return ServerSentEvent(data=data, kind=kind) if data else None
