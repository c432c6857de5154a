"""Replies of a server that speaks chat completions, for `http_server`: whole answers and broken ones."""

from __future__ import annotations

import json
from typing import Final

from tests.support.http_server import Piece, Reply

_STREAM: Final = {"Content-Type": "text/event-stream"}
_USAGE: Final = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}\n\n'
_DONE: Final = b"data: [DONE]\n\n"


def chunk(content: str, finish: str | None = None) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def answer(*pieces: str | Piece, finish: str = "stop") -> Reply:
    """A whole answer of 9 tokens in and 4 out; pieces that are no text are those of `Reply.body`."""
    body = [chunk(piece) if isinstance(piece, str) else piece for piece in pieces]
    return Reply(headers=_STREAM, body=[*body, chunk("", finish), _USAGE, _DONE])


def hanging(*pieces: str) -> Reply:
    """An answer that begins and then never goes on."""
    return Reply(headers=_STREAM, body=[chunk(piece) for piece in pieces], end="hang")


def dropped(*pieces: str) -> Reply:
    """An answer whose connection is lost in its middle."""
    return Reply(headers=_STREAM, body=[chunk(piece) for piece in pieces], end="cut")
