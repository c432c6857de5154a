"""Sends Converse requests, streams the answers, counts tokens; says what went wrong. Never retries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from golem_cli.core.errors import ModelError
from golem_cli.core.history import repair
from golem_cli.core.model import Delta, ToolCallDelta
from golem_cli.providers.addresses import checked_model
from golem_cli.providers.bedrock.access import Access
from golem_cli.providers.bedrock.decode import StreamFold, decode_response
from golem_cli.providers.bedrock.encode import encode_count, encode_request
from golem_cli.providers.bedrock.families import family_of
from golem_cli.providers.bedrock.frames import FrameDecoder
from golem_cli.providers.bedrock.names import foundation_model
from golem_cli.providers.bedrock.parts import refusal_of
from golem_cli.providers.http import Timeouts
from golem_cli.providers.server import Server
from golem_cli.providers.streaming import Answer, ask_streamed, ask_whole, decode_count, drain, hand_out

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    import httpx

    from golem_cli.core.message import Message, Part
    from golem_cli.core.model import ModelRequest, ModelResponse, OnDelta

_NOT_STREAMED: Final = "tool use in streaming mode"
"""What the server says of a model that calls tools in whole answers only, as Llama does."""


class BedrockModel:
    """A model behind AWS Bedrock's Converse; a `CountingModel`.

    `model` is its id, an inference profile's or an ARN, `name` the one that people see, which also stands in
    the file beside what the model signed. `region`, `base_url` and `api_key` are those of `Access`. `http` is
    a client to use instead of an own one; it is not closed here. Raises `ConfigurationError` as `Access`
    does, and for an address or a key that cannot be one.
    """

    def __init__(
        self,
        *,
        model: str,
        region: str = "",
        base_url: str = "",
        api_key: str = "",
        name: str = "",
        timeouts: Timeouts | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.name = name or f"bedrock:{model}"
        self._model = checked_model(model)
        self._access = Access(region=region, base_url=base_url, api_key=api_key)
        self._server = Server(
            name=self.name, base_url=self._access.base_url, headers={}, timeouts=timeouts, http=http
        )
        self._streams_tools = True

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn. Raises `ModelError`; `HistoryError` for a part that cannot be sent.

        `ConfigurationError` when there are no credentials.
        """
        body = encode_request(request, model=self._model, origin=self.name, stream=False)
        return await self._ask(self._path("converse"), body, partial(decode_response, origin=self.name))

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`, whose exceptions pass through.

        Raises as `complete` does; a fragment that arrived before a fault has been handed out. A model that
        does not stream while it has tools is asked for a whole answer instead.
        """
        if self._streams_tools:
            try:
                return await self._stream(request, on_delta)
            except ModelError as error:
                if error.status_code != 400 or _NOT_STREAMED not in str(error):
                    raise
                self._streams_tools = False
        response = await self.complete(request)
        await hand_out(_as_one(response.message), on_delta)
        return response

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens that `messages` cost as part of a request, as the server counts them.

        A `Counter`. They are repaired first, so that any part of a history can be counted.
        """
        body = encode_count(repair(messages), model=self._model, origin=self.name)
        if body is None:
            return 0
        path = self._path("count-tokens", model=foundation_model(self._model))
        return await self._ask(path, body, partial(decode_count, field="inputTokens"))

    def refusal_of(self, part: Part) -> str:
        """Why the model cannot take `part`; "" when it can."""
        return refusal_of(part, family_of(self._model))

    async def aclose(self) -> None:
        """Close the connections that this model opened."""
        await self._server.aclose()

    def _path(self, operation: str, *, model: str = "") -> str:
        return f"/model/{quote(model or self._model, safe='')}/{operation}"

    async def _ask(self, path: str, body: bytes, read: Callable[[str], Answer]) -> Answer:
        """What `read` makes of the answer to `body`."""
        admitted = await self._access.admit(self._server.base_url + path, body)
        return await ask_whole(self._server, path, body, read, admitted=admitted)

    async def _stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        body = encode_request(request, model=self._model, origin=self.name, stream=True)
        path = self._path("converse-stream")
        return await ask_streamed(
            self._server,
            path,
            body,
            StreamFold(self.name),
            on_delta,
            fragments=_fragments,
            read_whole=partial(decode_response, origin=self.name),
            admitted=await self._access.admit(self._server.base_url + path, body),
        )


async def _fragments(response: httpx.Response, fold: StreamFold) -> AsyncGenerator[Delta, None]:
    """The fragments of an answer, read until its usage is told or the connection ends."""
    import httpx

    decoder = FrameDecoder()
    chunks = response.aiter_bytes()
    try:
        async for chunk in chunks:
            for frame in decoder.feed(chunk):
                if (delta := fold.take(frame)) is not None:
                    yield delta
            if fold.done:
                await drain(chunks)
                return
    except httpx.TransportError:
        if not fold.stopped:  # a turn that told why it ended lacks nothing but its usage
            raise


async def _as_one(turn: Message) -> AsyncGenerator[Delta, None]:
    """The one fragment of a turn that came as a whole."""
    calls = tuple(
        ToolCallDelta(index=index, id=call.id, name=call.name, args_fragment=call.args)
        for index, call in enumerate(turn.tool_calls)
    )
    thinking = "".join(block.text for block in turn.thinking)
    if turn.content or thinking or calls:
        yield Delta(content=turn.content, thinking=thinking, tool_calls=calls)
