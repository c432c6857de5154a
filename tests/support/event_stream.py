"""Frames of an AWS event stream, made by its public format, for servers in tests.

Source: Smithy documentation, "Amazon Event Stream Specification": a prelude of two lengths and its CRC,
headers (the type 7 is text), the payload, and the CRC of all before it.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

TEXT = 7


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """One frame."""
    packed = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack("!II", 12 + len(packed) + len(payload) + 4, len(packed))
    head = prelude + struct.pack("!I", zlib.crc32(prelude)) + packed + payload
    return head + struct.pack("!I", zlib.crc32(head))


def event(kind: str, **fields: Any) -> bytes:
    """An event with a JSON payload."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps(fields).encode())


def exception(kind: str, message: str) -> bytes:
    """A fault in mid-stream."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())


def _header(name: str, value: str) -> bytes:
    raw = value.encode()
    return struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", TEXT, len(raw)) + raw
