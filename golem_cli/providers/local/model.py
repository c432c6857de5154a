"""The embedded model as the model port sees it."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import HistoryError, ModelError
from golem_cli.providers.local.weights import SMOLLM2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import httpx

    from golem_cli.core.message import Message, Part
    from golem_cli.core.model import ModelRequest, ModelResponse, OnDelta
    from golem_cli.providers.local.engine import Address, Engine
    from golem_cli.providers.local.engine_api import EngineApi, Properties
    from golem_cli.providers.local.token_count import TokenCounter
    from golem_cli.providers.openai import OpenAIModel

CONTEXT_EXCEEDED: Final = "exceed_context_size_error"
"""The code of the `ModelError` for a request beyond the window; llama.cpp's own word."""

_READ_SECONDS: Final = 3600.0  # a long prompt on a slow machine; a dead engine is noticed by its socket
_DEATH_POLLS: Final = 10
_DEATH_POLL_SECONDS: Final = 0.02


class LocalModel:
    """A model in a GGUF file, run by golem's own engine; a `WindowedModel`.

    `path` is the file; it is looked at when the engine starts. `name` is what people see: `local:` and the
    file's stem unless given. Takes text only: a part of another kind is a `HistoryError`. Nothing runs until
    `warm_up` or the first request. One event loop after the other may use it, not several at once. `batch`,
    `threads` and `context` are those of `EngineSettings`.
    """

    def __init__(
        self, path: Path, *, name: str = "", batch: int = 128, threads: int = 0, context: int = 0
    ) -> None:
        self.name = name or f"local:{SMOLLM2.name if path.name == SMOLLM2.filename else path.stem}"
        self._path = path.absolute()
        self._batch, self._threads, self._context = batch, threads, context
        self._http: httpx.AsyncClient | None = None
        self._loaded: _Loaded | None = None

    @cached_property
    def _engine(self) -> Engine:
        from golem_cli.providers.local.engine import Engine, EngineSettings

        return Engine(
            EngineSettings(
                path=self._path,
                name=self.name,
                batch=self._batch,
                threads=self._threads,
                context=self._context,
                sampling=_sampling_of(self._path),
            )
        )

    def warm_up(self) -> None:
        """Start the engine in the background and return at once.

        Raises `ConfigurationError` when the file is no model or xllamacpp is missing. What goes wrong while
        the model is loaded is told to the first request.
        """
        self._engine.start()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the completed turn. Raises `ModelError`, `HistoryError`, or as `warm_up` does."""
        try:
            loaded = await self._load()
            return await loaded.adapter.complete(await loaded.fitted(request))
        except ModelError as error:
            raise await self._explained(error) from error

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Return the completed turn, each fragment having gone to `on_delta`. Raises as `complete` does."""
        try:
            loaded = await self._load()
            return await loaded.adapter.stream(await loaded.fitted(request), on_delta)
        except ModelError as error:
            raise await self._explained(error) from error

    async def count(self, messages: Sequence[Message]) -> int:
        """Return the tokens that `messages` cost in a request; never fewer with more in front."""
        try:
            return await (await self._load()).counter.count(messages)
        except ModelError as error:
            raise await self._explained(error) from error

    async def context_window(self) -> int:
        """Return the tokens that a request and its answer may have together."""
        try:
            return (await self._load()).properties.window
        except ModelError as error:
            raise await self._explained(error) from error

    def refusal_of(self, part: Part) -> str:
        """Why the model cannot take `part`: it reads text only."""
        return f"{self.name} takes text only, no {part.kind or 'nameless'} part"

    async def aclose(self) -> None:
        """End the engine. A later request starts it again."""
        self._loaded = None
        self._engine.stop()
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def _load(self) -> _Loaded:
        """The engine, loaded: what was known of an earlier child is forgotten with it."""
        address = await self._engine.ready()
        if self._loaded is None or self._loaded.address != address:
            if self._http is None:
                self._http = _loopback_client()
            self._loaded = await _meet(address, self.name, self._http)
        return self._loaded

    async def _explained(self, error: ModelError) -> ModelError:
        """`error`, or the engine's death when that is behind it."""
        if error.status_code is not None or error.code == CONTEXT_EXCEEDED:
            return error
        for _ in range(_DEATH_POLLS):  # its sockets close a moment before the process is gone
            if death := self._engine.death():
                text = f"{self.name}: the embedded engine died ({death}); the next request starts it again"
                return ModelError(text, retryable=True)
            await asyncio.sleep(_DEATH_POLL_SECONDS)
        return error


class _Loaded:
    """One started engine and all that is asked of it."""

    def __init__(
        self, address: Address, name: str, api: EngineApi, properties: Properties, http: httpx.AsyncClient
    ) -> None:
        from golem_cli.providers.local.token_count import TokenCounter
        from golem_cli.providers.openai import OpenAIModel

        self.address = address
        self.properties = properties
        self.counter: TokenCounter = TokenCounter(api)
        self.adapter: OpenAIModel = OpenAIModel(
            model=name.partition(":")[2],
            name=name,
            base_url=f"{address.url}/v1",
            api_key=address.key,
            http=http,
        )
        self._name = name
        self._api = api

    async def fitted(self, request: ModelRequest) -> ModelRequest:
        """Return `request` in a form that the chat template takes. `ModelError` when it is too long."""
        from dataclasses import replace

        from golem_cli.providers.openai.encode import encode_request
        from golem_cli.providers.services import Quirks

        _refuse_parts(request.messages, self._name)
        self._check_size(request.messages)
        refusal: ModelError | None = None
        for form in self._forms():
            candidate = replace(request, messages=form(request.messages))
            body = encode_request(candidate, model=self._name, quirks=Quirks(), stream=False)
            try:
                prompt = await self._api.render(body)
            except ModelError as error:
                if error.status_code is None:
                    raise
                refusal = refusal or error
                continue
            await self._check_length(prompt)
            return candidate
        raise ModelError(f"{self._name}: the model's chat template takes no such conversation ({refusal})")

    def _forms(self) -> Iterator[Callable[[Sequence[Message]], list[Message]]]:
        from golem_cli.providers.wire.flatten import alternating, tools_as_text

        yield list if self.properties.tool_calls else tools_as_text
        yield alternating

    def _check_size(self, messages: Sequence[Message]) -> None:
        """Refuse at once what need not be counted to be known as too long."""
        from golem_cli.core.history import scalar_text
        from golem_cli.providers.local.engine_api import MOST_BYTES

        size = sum(len(scalar_text(message.content).encode()) for message in messages)
        if size > MOST_BYTES:
            raise ModelError(
                f"{self._name}: the request has {size:,} bytes of text and the model's window holds "
                f"{self.properties.window:,} tokens: send less history or a shorter prompt",
                code=CONTEXT_EXCEEDED,
            )

    async def _check_length(self, prompt: str) -> None:
        length, window = await self._api.tokens(prompt, special=True), self.properties.window
        if length >= window:  # one token of the answer must fit too
            raise ModelError(
                f"{self._name}: the request has {length:,} tokens and the model's window holds {window:,}: "
                "send less history or a shorter prompt",
                code=CONTEXT_EXCEEDED,
            )


async def _meet(address: Address, name: str, http: httpx.AsyncClient) -> _Loaded:
    from golem_cli.providers.local.engine_api import EngineApi

    api = EngineApi(address, name=name, http=http)
    return _Loaded(address, name, api, await api.properties(), http)


def _refuse_parts(messages: Sequence[Message], name: str) -> None:
    for number, message in enumerate(messages, 1):
        for part in message.parts:
            raise HistoryError(
                f"message {number} of the request: {name} takes text only, not its {part.kind} part"
            )


def _loopback_client() -> httpx.AsyncClient:
    """A client for the engine: no proxy, no certificates, and no connection that outlives its event loop."""
    import ssl

    import httpx

    return httpx.AsyncClient(
        timeout=httpx.Timeout(10.0, read=_READ_SECONDS),
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # trusts nobody; loading certificates would take time
    )


def _sampling_of(path: Path) -> dict[str, float]:
    """How the engine samples when a request does not say; of an unknown model it knows best itself."""
    if path.name != SMOLLM2.filename:
        return {}
    return {"temp": SMOLLM2.temperature, "top_p": SMOLLM2.top_p, "penalty_repeat": SMOLLM2.repeat_penalty}
