"""What every adapter does with an answer: read it whole or in events, and hand the fragments out."""

from __future__ import annotations

import inspect
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ModelError
from golem_cli.providers.http import read_text
from golem_cli.providers.sse import EventDecoder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    import httpx

    from golem_cli.core.model import Delta, OnDelta
    from golem_cli.providers.server import Server
    from golem_cli.providers.sse import ServerSentEvent

_LAST_BYTES_WAIT: Final = 0.05
"""Seconds to wait, after the last event, for the end of the body, which lets the connection serve again."""


async def hand_out(deltas: AsyncGenerator[Delta, None], on_delta: OnDelta) -> None:
    """Pass each of `deltas` to `on_delta`, whose exceptions pass through, and close them."""
    async with aclosing(deltas):
        async for delta in deltas:
            outcome = on_delta(delta)
            if inspect.isawaitable(outcome):
                await outcome


async def read_whole(server: Server, path: str, body: bytes) -> str:
    """The text of the answer to `body` at `path`. Raises as `Server.answer` does: use it inside `faults`."""
    async with server.answer("POST", path, body) as response:
        refuse_web_page(response)
        return await read_text(response)


async def read_events(response: httpx.Response) -> AsyncGenerator[ServerSentEvent, None]:
    """The events of a body as they come; one that its end cuts off is none."""
    decoder = EventDecoder()
    async for chunk in response.aiter_bytes():
        for event in decoder.feed(chunk):
            yield event


def refuse_web_page(response: httpx.Response) -> None:
    """Raise `ModelError` for a page where an answer was expected: the address is somebody else's."""
    if "html" in response.headers.get("content-type", ""):
        raise ModelError(
            f"answered {response.status_code} with a web page; check the base URL",
            status_code=response.status_code,
        )


def not_streamed() -> ModelError:
    """An answer came as a whole where a stream was asked for, and reports no error."""
    return ModelError("answered as a whole where a stream was asked for; check the base URL")


async def drain(chunks: AsyncIterator[object]) -> None:
    """Read the end of a body when it is already there."""
    import asyncio

    import httpx

    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_LAST_BYTES_WAIT):
            async for _ in chunks:
                pass
