"""Sends generateContent requests, streams the answers, counts tokens; says what went wrong. Never retries."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from golem_cli.core.errors import ModelError
from golem_cli.core.history import repair
from golem_cli.providers.addresses import checked_key
from golem_cli.providers.gemini.decode import StreamFold, decode_response
from golem_cli.providers.gemini.encode import encode_count, encode_request
from golem_cli.providers.gemini.parts import refusal_of
from golem_cli.providers.http import Timeouts, parse_json, read_text
from golem_cli.providers.server import Server
from golem_cli.providers.streaming import hand_out, not_streamed, read_events, read_whole, refuse_web_page
from golem_cli.providers.wire.fields import optional

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
        self._model = model.removeprefix("models/")
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
        with self._server.faults():
            answer = await read_whole(self._server, self._path("generateContent"), body)
            return decode_response(answer, origin=self.name)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`, whose exceptions pass through.

        Raises as `complete` does; a fragment that arrived before a fault has been handed out.
        """
        body = encode_request(request, model=self._model, origin=self.name)
        fold = StreamFold(self.name)
        await hand_out(self._deltas(body, fold), on_delta)
        return fold.response()

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens that `messages` cost as part of a request, as the server counts them.

        A `Counter`. They are repaired first, so that any part of a history can be counted.
        """
        body = encode_count(repair(messages), model=self._model, origin=self.name)
        if body is None:
            return 0
        with self._server.faults():
            answer = parse_json(await read_whole(self._server, self._path("countTokens"), body))
            counted = optional(answer, "totalTokens", int) if isinstance(answer, dict) else None
            if counted is None:
                raise ModelError("sent no count of tokens")
            return counted

    def refusal_of(self, part: Part) -> str:
        """Why the format cannot carry `part`; "" when it can."""
        return refusal_of(part)

    async def aclose(self) -> None:
        """Close the connections that this model opened."""
        await self._server.aclose()

    def _path(self, method: str) -> str:
        return f"/v1beta/models/{quote(self._model, safe='')}:{method}"

    async def _deltas(self, body: bytes, fold: StreamFold) -> AsyncGenerator[Delta, None]:
        path = f"{self._path('streamGenerateContent')}?alt=sse"
        with self._server.faults():
            async with self._server.answer("POST", path, body) as response:
                refuse_web_page(response)
                if response.headers.get("content-type", "").startswith("application/json"):
                    _refuse_whole(await read_text(response), self.name)
                async with aclosing(read_events(response)) as events:
                    async for event in events:
                        if (delta := fold.take(event.data)) is not None:
                            yield delta
            fold.check_complete()


def server_headers(api_key: str) -> dict[str, str]:
    """What every request carries. Raises `ConfigurationError` for a key that cannot be one."""
    key = {"x-goog-api-key": checked_key(api_key)} if api_key.strip() else {}
    return {"Content-Type": "application/json", **key}


def _refuse_whole(body: str, origin: str) -> None:
    """Raise `ModelError`: an answer that is no stream is the server's error, or a server that has none."""
    decode_response(body, origin=origin)
    raise not_streamed()
