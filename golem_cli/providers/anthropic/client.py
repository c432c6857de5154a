"""Sends Messages requests, streams the answers, counts tokens; says what went wrong. Never retries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from golem_cli.core.history import repair
from golem_cli.providers.addresses import checked_key, checked_model
from golem_cli.providers.anthropic.decode import StreamFold, decode_response
from golem_cli.providers.anthropic.encode import encode_count, encode_request
from golem_cli.providers.anthropic.parts import refusal_of
from golem_cli.providers.http import Timeouts
from golem_cli.providers.server import Server
from golem_cli.providers.streaming import ask_streamed, ask_whole, decode_count, event_fragments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from golem_cli.core.message import Message, Part
    from golem_cli.core.model import ModelRequest, ModelResponse, OnDelta

BASE_URL: Final = "https://api.anthropic.com"

_MESSAGES: Final = "/v1/messages"
_COUNT: Final = "/v1/messages/count_tokens"
_VERSION: Final = "2023-06-01"


class AnthropicModel:
    """A model behind Anthropic's Messages API; a `StreamingModel`.

    `model` is the name that the server knows, `name` the one that people see, which also stands in the file
    beside what the model signed. `base_url` ends before `/v1/messages`. Without `api_key` no `x-api-key` is
    sent. `headers` are sent besides. `http` is a client to use instead of an own one; it is not closed here.
    Raises `ConfigurationError` for an address or a key that cannot be one.
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
        self.name = name or f"anthropic:{model}"
        self._model = checked_model(model)
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
        body = encode_request(request, model=self._model, origin=self.name, stream=False)
        read = partial(decode_response, origin=self.name)
        return await ask_whole(self._server, _MESSAGES, body, read)

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`, whose exceptions pass through.

        Raises as `complete` does; a fragment that arrived before a fault has been handed out.
        """
        body = encode_request(request, model=self._model, origin=self.name, stream=True)
        return await ask_streamed(
            self._server,
            _MESSAGES,
            body,
            StreamFold(self.name),
            on_delta,
            fragments=event_fragments,
            read_whole=partial(decode_response, origin=self.name),
        )

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens that `messages` cost as part of a request, as the server estimates them.

        A `Counter`. They are repaired first, so that any part of a history can be counted.
        """
        body = encode_count(repair(messages), model=self._model, origin=self.name)
        if body is None:
            return 0
        read = partial(decode_count, field="input_tokens")
        return await ask_whole(self._server, _COUNT, body, read)

    def refusal_of(self, part: Part) -> str:
        """Why the format cannot carry `part`; "" when it can."""
        return refusal_of(part)

    async def aclose(self) -> None:
        """Close the connections that this model opened."""
        await self._server.aclose()


def server_headers(api_key: str) -> dict[str, str]:
    """What every request carries. Raises `ConfigurationError` for a key that cannot be one."""
    key = {"x-api-key": checked_key(api_key)} if api_key.strip() else {}
    return {"Content-Type": "application/json", "anthropic-version": _VERSION, **key}
