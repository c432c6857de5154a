"""How every adapter asks: for a whole answer, or for one in fragments that are handed out as they come."""

from __future__ import annotations

import inspect
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from golem_cli.core.errors import ModelError
from golem_cli.providers.http import parse_json, read_text
from golem_cli.providers.server import NO_PASS
from golem_cli.providers.sse import EventDecoder
from golem_cli.providers.wire.fields import optional

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    import httpx

    from golem_cli.core.model import Delta, ModelResponse, OnDelta
    from golem_cli.providers.server import Pass, Server
    from golem_cli.providers.sse import ServerSentEvent

_LAST_BYTES_WAIT: Final = 0.05
"""Seconds to wait, after the last event, for the end of the body, which lets the connection serve again."""


class Fold(Protocol):
    """A turn in the making, from the fragments of its answer."""

    def check_complete(self) -> None:
        """Raise `ModelError` when the answer has ended before the turn did."""

    def response(self) -> ModelResponse:
        """The turn as far as it was folded."""


class EventFold(Fold, Protocol):
    """A fold that takes events, and is `done` once one was the last."""

    done: bool

    def take(self, data: str, *, kind: str = "") -> Delta | None:
        """Take the data of one event of that `kind`. Raises `ModelError`."""


Answer = TypeVar("Answer")
AnyFold = TypeVar("AnyFold", bound=Fold)


async def ask_whole(
    server: Server, path: str, body: bytes, read: Callable[[str], Answer], *, admitted: Pass = NO_PASS
) -> Answer:
    """What `read` makes of the answer to `body` at `path`. Raises `ModelError`, and what `read` raises."""
    with server.faults(secret=admitted.secret):
        async with server.answer("POST", path, body, headers=admitted.headers) as response:
            refuse_web_page(response)
            return read(await read_text(response))


def decode_count(body: str, *, field: str) -> int:
    """The tokens that the `field` of an answer tells. Raises `ModelError` for any other answer."""
    answer = parse_json(body)
    counted = optional(answer, field, int) if isinstance(answer, dict) else None
    if counted is None:
        raise ModelError("sent no count of tokens")
    return counted


async def ask_streamed(
    server: Server,
    path: str,
    body: bytes,
    fold: AnyFold,
    on_delta: OnDelta,
    *,
    fragments: Callable[[httpx.Response, AnyFold], AsyncGenerator[Delta, None]],
    read_whole: Callable[[str], object] | None,
    admitted: Pass = NO_PASS,
) -> ModelResponse:
    """The turn that `fold` makes of the answer to `body` at `path`, each fragment having gone to `on_delta`.

    `fragments` reads the body of an answer into `fold`. One that comes as a whole is an error: that which
    `read_whole` finds in it, or that the server does not stream. Without `read_whole`, `fragments` reads it.
    Raises `ModelError`; what `on_delta` raises passes through.
    """

    async def deltas() -> AsyncGenerator[Delta, None]:
        with server.faults(secret=admitted.secret):
            async with server.answer("POST", path, body, headers=admitted.headers) as response:
                refuse_web_page(response)
                if read_whole is not None and is_json(response):
                    read_whole(await read_text(response))
                    raise ModelError("answered as a whole where a stream was asked for; check the base URL")
                async with aclosing(fragments(response, fold)) as read:
                    async for delta in read:
                        yield delta
            fold.check_complete()

    await hand_out(deltas(), on_delta)
    return fold.response()


async def hand_out(deltas: AsyncGenerator[Delta, None], on_delta: OnDelta) -> None:
    """Pass each of `deltas` to `on_delta`, whose exceptions pass through, and close them."""
    async with aclosing(deltas):
        async for delta in deltas:
            outcome = on_delta(delta)
            if inspect.isawaitable(outcome):
                await outcome


async def event_fragments(response: httpx.Response, fold: EventFold) -> AsyncGenerator[Delta, None]:
    """What `fold` makes of each event of a body, read until it is done or the body ends."""
    async with aclosing(read_events(response)) as events:
        async for event in events:
            if (delta := fold.take(event.data, kind=event.kind)) is not None:
                yield delta
            if fold.done:
                await drain(events)
                return


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


def is_json(response: httpx.Response) -> bool:
    """Whether an answer came as a whole."""
    return bool(response.headers.get("content-type", "").startswith("application/json"))


async def drain(chunks: AsyncIterator[object]) -> None:
    """Read the end of a body when it is already there."""
    import asyncio

    import httpx

    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_LAST_BYTES_WAIT):
            async for _ in chunks:
                pass
