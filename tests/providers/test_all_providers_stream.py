"""A streamed answer, with every adapter: however its bytes come it is the same; half of one is none.

What is cut, slowed and stopped here is the answer that each strict server streams: `Hello`, in two pieces.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from golem_cli.core.errors import ModelError
from golem_cli.core.message import Message
from golem_cli.core.model import Delta, ModelRequest, ModelResponse, StreamingModel
from golem_cli.providers.anthropic.decode import StreamFold as AnthropicFold
from golem_cli.providers.bedrock.decode import StreamFold as BedrockFold
from golem_cli.providers.bedrock.frames import FrameDecoder
from golem_cli.providers.gemini.decode import StreamFold as GeminiFold
from golem_cli.providers.openai_responses.decode import StreamFold as ResponsesFold
from golem_cli.providers.sse import EventDecoder
from tests.support import strict_anthropic, strict_bedrock, strict_gemini, strict_responses
from tests.support.every_provider import EVERY, Provider
from tests.support.http_server import HttpServer, Reply, Request

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
each_provider = pytest.mark.parametrize("provider", EVERY, ids=str)


# In process: every byte ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How a format's answer is read: its decoder, its fold, how that takes an event, and a whole stream."""

    name: str
    decoder: Callable[[], Any]
    fold: Callable[[str], Any]
    take: Callable[[Any, Any], object]
    stream: bytes

    def __str__(self) -> str:
        return self.name

    def read(self, pieces: Iterable[bytes]) -> ModelResponse:
        """The turn of a body that came in `pieces` and has ended."""
        decoder, fold = self.decoder(), self.fold("o")
        for piece in pieces:
            for event in decoder.feed(piece):
                self.take(fold, event)
        fold.check_complete()
        response: ModelResponse = fold.response()
        return response


def with_kind(fold: Any, event: Any) -> None:
    fold.take(event.data, kind=event.kind)


READINGS = (
    Reading("anthropic", EventDecoder, AnthropicFold, with_kind, strict_anthropic.streamed("claude-opus-5")),
    Reading(
        "gemini",
        EventDecoder,
        GeminiFold,
        lambda fold, event: fold.take(event.data),
        strict_gemini.streamed("gemini-3.8-flash"),
    ),
    Reading("openai-responses", EventDecoder, ResponsesFold, with_kind, strict_responses.streamed("gpt-5")),
    Reading(
        "bedrock",
        FrameDecoder,
        BedrockFold,
        lambda fold, frame: fold.take(frame),
        strict_bedrock.streamed(strict_bedrock.HAIKU),
    ),
)


@pytest.mark.parametrize("reading", READINGS, ids=str)
def test_a_stream_cut_at_any_byte_into_two_pieces_gives_the_same_turn(reading: Reading) -> None:
    turn = reading.read([reading.stream])
    assert (turn.message.content, turn.message.thinking[0].text) == ("Hello", "hm")
    for cut in range(len(reading.stream)):
        assert reading.read([reading.stream[:cut], reading.stream[cut:]]) == turn, cut


@pytest.mark.parametrize("reading", [each for each in READINGS if each.decoder is EventDecoder], ids=str)
def test_a_connection_dropped_at_any_byte_is_an_error_never_half_an_answer(reading: Reading) -> None:
    for cut in range(len(reading.stream) - 1):  # the last byte ends the blank line behind the last event
        with pytest.raises(ModelError, match="dropped before the answer was complete") as caught:
            reading.read([reading.stream[:cut]])
        assert caught.value.retryable


# Over a socket ---------------------------------------------------------------------------------------------


async def answer_of(provider: Provider, *, stream: bool = True) -> tuple[Reply, ModelResponse]:
    """What the strict server answers, and what the adapter makes of it."""
    replies: list[Reply] = []

    def respond(request: Request) -> Reply:
        replies.append(provider.respond(request))
        return replies[-1]

    with HttpServer(respond=respond) as server:
        model = provider.make(server.url)
        response = await (model.stream(REQUEST, lambda _: None) if stream else model.complete(REQUEST))
        await model.aclose()
    assert response.message.content == "Hello"
    return replies[0], response


def body_of(reply: Reply) -> bytes:
    assert isinstance(reply.body, bytes)
    return reply.body


async def half_of(provider: Provider) -> Reply:
    """The answer up to the word's second piece."""
    reply, _ = await answer_of(provider)
    return replace(reply, body=body_of(reply)[: body_of(reply).index(b'"lo"')])


@each_provider
async def test_a_stream_that_comes_byte_by_byte_compressed_gives_the_same_turn(provider: Provider) -> None:
    reply, response = await answer_of(provider)
    body = [bytes([byte]) for byte in gzip.compress(body_of(reply))]
    slow = replace(reply, headers={**reply.headers, "Content-Encoding": "gzip"}, body=body)
    deltas: list[Delta] = []
    with HttpServer([slow]) as server:
        model = provider.make(server.url)
        assert await model.stream(REQUEST, deltas.append) == response
        await model.aclose()
    assert [delta.content for delta in deltas if delta.content] == ["Hel", "lo"]


@each_provider
async def test_a_dropped_connection_is_told_and_what_arrived_was_handed_out(provider: Provider) -> None:
    deltas: list[Delta] = []
    with HttpServer([replace(await half_of(provider), end="cut")]) as server:
        model = provider.make(server.url)
        with pytest.raises(ModelError) as caught:
            await model.stream(REQUEST, deltas.append)
        await model.aclose()
        assert str(caught.value).startswith(
            f"{model.name} (127.0.0.1:{server.port}): the connection was dropped"
        )
    assert caught.value.retryable
    assert deltas[-1] == Delta(content="Hel")


@each_provider
async def test_cancelling_the_task_closes_the_connection(provider: Provider) -> None:
    heard = asyncio.Event()
    with HttpServer([replace(await half_of(provider), end="hang")]) as server:
        model = provider.make(server.url)
        task = asyncio.create_task(model.stream(REQUEST, lambda _: heard.set()))
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.left.wait, 10)  # before the model is closed
        await model.aclose()


@each_provider
@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), httpx.ReadError("not ours to translate")])
async def test_a_callback_that_raises_closes_the_connection_and_its_error_passes(
    provider: Provider, error: Exception
) -> None:
    def refuse(_: Delta) -> None:
        raise error

    with HttpServer([replace(await half_of(provider), end="hang")]) as server:
        model = provider.make(server.url)
        with pytest.raises(type(error)) as caught:
            await model.stream(REQUEST, refuse)
        assert caught.value is error
        assert await asyncio.to_thread(server.left.wait, 10)
        await model.aclose()


@pytest.mark.parametrize("provider", [each for each in EVERY if not each.reads_whole], ids=str)
async def test_a_server_that_does_not_stream_is_told_of(provider: Provider) -> None:
    """Chat completions alone have servers of which some never stream."""
    whole, _ = await answer_of(provider, stream=False)
    with HttpServer([whole]) as server:
        model = provider.make(server.url)
        with pytest.raises(ModelError, match="answered as a whole where a stream was asked for"):
            await model.stream(REQUEST, lambda _: None)
        await model.aclose()


@each_provider
def test_every_adapter_streams(provider: Provider) -> None:
    assert isinstance(provider.make("http://127.0.0.1:1"), StreamingModel)
