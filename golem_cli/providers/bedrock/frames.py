"""The frames of an AWS event stream, as botocore reads them, each as its kind and the JSON that it holds.

Source: Smithy documentation, "Amazon Event Stream Specification" (headers `:message-type`, `:event-type`,
`:exception-type`, `:error-code`, `:error-message`); botocore's `eventstream` checks lengths and both CRCs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from golem_cli.core.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.eventstream import EventStreamMessage


class Frame(NamedTuple):
    """One frame: the `kind` of its event or of its fault, and the `text` that it carries, mostly JSON."""

    kind: str
    text: str
    fault: bool = False


class FrameDecoder:
    """Cuts a stream of bytes into frames, wherever the pieces end."""

    def __init__(self) -> None:
        from botocore.eventstream import EventStreamBuffer

        self._buffer = EventStreamBuffer()

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that `chunk` completes. Raises `ModelError` for bytes that are no frame."""
        from botocore.eventstream import ParserError

        self._buffer.add_data(chunk)
        try:
            for message in self._buffer:
                yield _frame(message)
        except (ParserError, ValueError, LookupError) as error:
            raise ModelError("sent a damaged event stream", retryable=True) from error


def _frame(message: EventStreamMessage) -> Frame:
    headers = {name: str(value) for name, value in message.headers.items()}
    body = message.payload.decode("utf-8", "replace")
    kind = headers.get(":message-type", "event")
    if kind == "error":
        return Frame(headers.get(":error-code", kind), headers.get(":error-message", "") or body, fault=True)
    if kind == "exception":
        return Frame(headers.get(":exception-type", kind), body, fault=True)
    return Frame(headers.get(":event-type", ""), body)
