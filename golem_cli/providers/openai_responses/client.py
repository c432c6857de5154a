"""Sends Responses requests, streams the answers, and says clearly what went wrong. Never retries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from golem_cli.providers.addresses import checked_key, checked_model
from golem_cli.providers.http import Timeouts
from golem_cli.providers.openai_responses.decode import StreamFold, decode_response
from golem_cli.providers.openai_responses.encode import encode_request
from golem_cli.providers.openai_responses.parts import refusal_of
from golem_cli.providers.server import Server
from golem_cli.providers.streaming import ask_streamed, ask_whole, event_fragments

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from golem_cli.core.message import Part
    from golem_cli.core.model import ModelRequest, ModelResponse, OnDelta

BASE_URL: Final = "https://api.openai.com/v1"

_RESPONSES: Final = "/responses"


class ResponsesModel:
    """A model behind OpenAI's Responses API; a `StreamingModel`.

    `model` is the name that the server knows, `name` the one that people see, which also stands in the file
    beside what the model encrypted. `base_url` ends before `/responses`. Without `api_key` no `Authorization`
    is sent. `headers` are sent besides. `http` is a client to use instead of an own one; it is not closed
    here. Raises `ConfigurationError` for an address or a key that cannot be one.
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
        self.name = name or f"openai-responses:{model}"
        self._model = checked_model(model)
        key = checked_key(api_key)
        sent = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._server = Server(
            name=self.name,
            base_url=base_url,
            headers=sent | dict(headers or {}),
            secret=key,
            timeouts=timeouts,
            http=http,
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn. Raises `ModelError`; `HistoryError` for a part that cannot be sent."""
        body = encode_request(request, model=self._model, origin=self.name, stream=False)
        read = partial(decode_response, origin=self.name)
        return await ask_whole(self._server, _RESPONSES, body, read)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`, whose exceptions pass through.

        Raises as `complete` does; a fragment that arrived before a fault has been handed out.
        """
        body = encode_request(request, model=self._model, origin=self.name, stream=True)
        return await ask_streamed(
            self._server,
            _RESPONSES,
            body,
            StreamFold(self.name),
            on_delta,
            fragments=event_fragments,
            read_whole=partial(decode_response, origin=self.name),
        )

    def refusal_of(self, part: Part) -> str:
        """Why the format cannot carry `part`; "" when it can."""
        return refusal_of(part)

    async def aclose(self) -> None:
        """Close the connections that this model opened."""
        await self._server.aclose()
