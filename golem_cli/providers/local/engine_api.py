"""What the engine's server answers beside chat completions: its properties, its chat template, its tokenizer.

Source: the manual of llama.cpp's server, endpoints `/props`, `/apply-template` and `/tokenize`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ModelError
from golem_cli.providers.http import parse_json, read_text
from golem_cli.providers.server import Server
from golem_cli.providers.wire.fields import optional, text

if TYPE_CHECKING:
    import httpx

    from golem_cli.providers.local.engine import Address
    from golem_cli.providers.wire.fields import Json


MOST_BYTES: Final = 4 << 20
"""Bytes of text that are counted: more than the window of any model that runs here holds."""
_SLICE: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Properties:
    """Of the loaded model: its `window` in tokens, and whether its chat template knows tool calls."""

    window: int
    tool_calls: bool


class EngineApi:
    """The endpoints of the engine at `address`. Every method raises `ModelError`."""

    def __init__(self, address: Address, *, name: str, http: httpx.AsyncClient) -> None:
        headers = {"Authorization": f"Bearer {address.key}", "Content-Type": "application/json"}
        self._server = Server(name=name, base_url=address.url, headers=headers, secret=address.key, http=http)

    async def properties(self) -> Properties:
        """What the model is."""
        answer = await self._ask("GET", "/props")
        generation = optional(answer, "default_generation_settings", dict) or {}
        window = optional(generation, "n_ctx", int)
        if not window:
            raise ModelError("the embedded engine did not tell its context window")
        caps = optional(answer, "chat_template_caps", dict) or {}
        return Properties(window=window, tool_calls=optional(caps, "supports_tool_calls", bool) or False)

    async def render(self, body: bytes) -> str:
        """The prompt that a chat-completions request becomes; a template that refuses it is an error."""
        return text(await self._ask("POST", "/apply-template", body), "prompt")

    async def tokens(self, content: str, *, special: bool) -> int:
        """The tokens of `content`, never fewer; `special` reads the model's markers, as requests do.

        A long text is counted in slices, so that no answer is too long to be read; what of it is beyond
        `MOST_BYTES` counts a token for each byte, which no tokenizer exceeds.
        """
        data = content.encode(errors="replace")
        slices = (data[at : at + _SLICE] for at in range(0, min(len(data), MOST_BYTES), _SLICE))
        counts = [await self._tokens_of(each.decode(errors="replace"), special=special) for each in slices]
        return sum(counts) + max(0, len(data) - MOST_BYTES)

    async def _tokens_of(self, content: str, *, special: bool) -> int:
        body = msgspec.json.encode({"content": content, "add_special": special, "parse_special": special})
        return len(optional(await self._ask("POST", "/tokenize", body), "tokens", list) or [])

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> Json:
        with self._server.faults():
            async with self._server.answer(method, path, body) as response:
                answer = parse_json(await read_text(response))
            if not isinstance(answer, dict):
                raise ModelError(f"{path} sent no object")
            return answer
