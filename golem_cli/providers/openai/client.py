"""Sends chat-completions requests, streams the answers, and says clearly what went wrong. Never retries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ModelError
from golem_cli.providers.addresses import checked_key, checked_model
from golem_cli.providers.faults import located
from golem_cli.providers.http import Timeouts, parse_json, read_text
from golem_cli.providers.openai.decode import DONE, StreamFold, decode_response
from golem_cli.providers.openai.encode import encode_request
from golem_cli.providers.openai.parts import refusal_of
from golem_cli.providers.server import Server
from golem_cli.providers.services import Quirks
from golem_cli.providers.sse import EventDecoder
from golem_cli.providers.streaming import ask_streamed, ask_whole, drain, is_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    import httpx

    from golem_cli.core.message import Part
    from golem_cli.core.model import Delta, ModelRequest, ModelResponse, OnDelta

_CHAT: Final = "/chat/completions"


class OpenAIModel:
    """A model behind a chat-completions server; a `StreamingModel`.

    `model` is the name that the server knows, `name` the one that people see. `base_url` ends before
    `/chat/completions`. Without `api_key` no `Authorization` is sent. `headers` are sent besides. `http` is a
    client to use instead of an own one; it is not closed here. The environment is read only as httpx does it,
    for proxies and certificates. Raises `ConfigurationError` for an address or a key that cannot be one.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str = "",
        name: str = "",
        quirks: Quirks | None = None,
        timeouts: Timeouts | None = None,
        headers: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.name = name or f"openai:{model}"
        self._model = checked_model(model)
        self._quirks = quirks or Quirks()
        self._server = _server(
            name=self.name, base_url=base_url, api_key=api_key, headers=headers, timeouts=timeouts, http=http
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn. Raises `ModelError`; `HistoryError` for a part that cannot be sent."""
        body = encode_request(request, model=self._model, quirks=self._quirks, stream=False)
        return await ask_whole(self._server, _CHAT, body, decode_response)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`, whose exceptions pass through.

        Raises as `complete` does; a fragment that arrived before a fault has been handed out.
        """
        body = encode_request(request, model=self._model, quirks=self._quirks, stream=True)
        return await ask_streamed(
            self._server, _CHAT, body, StreamFold(), on_delta, fragments=_fragments, read_whole=None
        )

    def refusal_of(self, part: Part) -> str:
        """Why the format cannot carry `part`; "" when it can."""
        return refusal_of(part)

    async def aclose(self) -> None:
        """Close the connections that this model opened."""
        await self._server.aclose()


async def list_models(
    *,
    base_url: str,
    api_key: str = "",
    name: str = "",
    timeout: float = 10.0,  # noqa: ASYNC109 (a bound on the whole, connection and all, that callers set)
    http: httpx.AsyncClient | None = None,
) -> list[str]:
    """Return the names of the models that a server offers, within `timeout` seconds. Raises `ModelError`."""
    import asyncio

    server = _server(name=name, base_url=base_url, api_key=api_key, http=http)
    try:
        async with asyncio.timeout(timeout):
            with server.faults():
                async with server.answer("GET", "/models") as response:
                    return _model_names(parse_json(await read_text(response)))
    except TimeoutError as error:
        silent = ModelError(f"did not list its models within {timeout:g} s", retryable=True)
        raise located(silent, server.place) from error
    finally:
        await server.aclose()


def _server(
    *,
    name: str,
    base_url: str,
    api_key: str,
    headers: Mapping[str, str] | None = None,
    timeouts: Timeouts | None = None,
    http: httpx.AsyncClient | None = None,
) -> Server:
    key = checked_key(api_key)
    sent = {"Content-Type": "application/json", **(headers or {})}
    if key:
        sent["Authorization"] = f"Bearer {key}"
    return Server(name=name, base_url=base_url, headers=sent, secret=key, timeouts=timeouts, http=http)


async def _fragments(response: httpx.Response, fold: StreamFold) -> AsyncGenerator[Delta, None]:
    """The fragments of an answer, read until the turn or the connection ends."""
    import httpx

    if is_json(response):  # the server does not stream
        if (delta := fold.take(await read_text(response), field="message")) is not None:
            yield delta
        fold.done = fold.answered
        return
    decoder = EventDecoder()
    chunks = response.aiter_bytes()
    try:
        async for chunk in chunks:
            for event in decoder.feed(chunk):
                if (delta := fold.take(event.data, kind=event.kind)) is not None:
                    yield delta
                if fold.done:
                    await drain(chunks)
                    return
    except httpx.TransportError:
        if not fold.complete:  # a turn that told why it ended lacks nothing but the sentinel
            raise
    if decoder.close().strip() == DONE:  # some servers leave out the blank line behind it
        fold.done = True


def _model_names(listing: object) -> list[str]:
    """The ids in a listing: `{"data": [{"id": …}]}`, or the bare list that some services send.

    Gemini's is `{"models": [{"name": "models/…"}]}`.
    """
    rows = listing.get("data", listing.get("models")) if isinstance(listing, dict) else listing
    found = (
        [row.get("id", row.get("name")) for row in rows if isinstance(row, dict)]
        if isinstance(rows, list)
        else None
    )
    names = [name.removeprefix("models/") for name in found or () if isinstance(name, str)]
    if found is None or len(names) < len(found):
        raise ModelError("sent no list of models")
    return names
