"""Sends generateContent requests, streams the answers, counts tokens; says what went wrong. Never retries."""

from __future__ import annotations

from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from golem_cli.core.history import repair
from golem_cli.providers.addresses import checked_key, checked_model
from golem_cli.providers.gemini.decode import StreamFold, decode_response
from golem_cli.providers.gemini.encode import encode_count, encode_request
from golem_cli.providers.gemini.parts import refusal_of
from golem_cli.providers.http import Timeouts
from golem_cli.providers.server import Server
from golem_cli.providers.streaming import ask_streamed, ask_whole, decode_count, read_events

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    import httpx

    from golem_cli.core.message import Message, Part
    from golem_cli.core.model import Delta, ModelRequest, ModelResponse, OnDelta

BASE_URL: Final = "https://generativelanguage.googleapis.com"


class GeminiModel:
    """A model behind Google's Gemini API; a `StreamingModel`.

    `model` is the name that the server knows, `name` the one that people see, which also stands in the file
    beside what the model signed. `base_url` ends before `/v1beta`. The key travels in the header
    `x-goog-api-key`, never in an address; without `api_key` none is sent. `headers` are sent besides. `http`
    is a client to use instead of an own one; it is not closed here. Raises `ConfigurationError` for an
    address or a key that cannot be one.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = BASE_URL,
        api_key: str = "",
        name: str = "",
        timeouts: Timeouts | None = None,
        headers: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.name = name or f"gemini:{model}"
        self._model = checked_model(model).removeprefix("models/")
        self._server = Server(
            name=self.name,
            base_url=base_url,
            headers=server_headers(api_key) | dict(headers or {}),
            secret=checked_key(api_key),
            timeouts=timeouts,
            http=http,
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn. Raises `ModelError`; `HistoryError` for a part that cannot be sent."""
        body = encode_request(request, model=self._model, origin=self.name)
        read = partial(decode_response, origin=self.name)
        return await ask_whole(self._server, self._path("generateContent"), body, read)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`, whose exceptions pass through.

        Raises as `complete` does; a fragment that arrived before a fault has been handed out.
        """
        body = encode_request(request, model=self._model, origin=self.name)
        return await ask_streamed(
            self._server,
            f"{self._path('streamGenerateContent')}?alt=sse",
            body,
            StreamFold(self.name),
            on_delta,
            fragments=_fragments,
            read_whole=partial(decode_response, origin=self.name),
        )

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens that `messages` cost as part of a request, as the server counts them.

        A `Counter`. They are repaired first, so that any part of a history can be counted.
        """
        body = encode_count(repair(messages), model=self._model, origin=self.name)
        if body is None:
            return 0
        read = partial(decode_count, field="totalTokens")
        return await ask_whole(self._server, self._path("countTokens"), body, read)

    def refusal_of(self, part: Part) -> str:
        """Why the format cannot carry `part`; "" when it can."""
        return refusal_of(part)

    async def aclose(self) -> None:
        """Close the connections that this model opened."""
        await self._server.aclose()

    def _path(self, method: str) -> str:
        return f"/v1beta/models/{quote(self._model, safe='')}:{method}"


def server_headers(api_key: str) -> dict[str, str]:
    """What every request carries. Raises `ConfigurationError` for a key that cannot be one."""
    key = {"x-goog-api-key": checked_key(api_key)} if api_key.strip() else {}
    return {"Content-Type": "application/json", **key}


async def _fragments(response: httpx.Response, fold: StreamFold) -> AsyncGenerator[Delta, None]:
    """What `fold` makes of each event of a body: its end is that of the stream, no event is."""
    async with aclosing(read_events(response)) as events:
        async for event in events:
            if (delta := fold.take(event.data)) is not None:
                yield delta
