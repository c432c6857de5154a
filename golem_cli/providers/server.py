"""One provider's server: where it is, what every request to it carries, and the connections to it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from golem_cli._version import __version__
from golem_cli.providers.addresses import checked_base_url, host_of
from golem_cli.providers.faults import faults_located, status_error
from golem_cli.providers.http import Timeouts, new_client, read_text

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncIterator, Mapping
    from contextlib import AbstractContextManager

    import httpx

_MAX_ERROR_BYTES: Final = 64 * 1024


class Pass(NamedTuple):
    """The `headers` that let one request in, and what of them must never be shown."""

    headers: Mapping[str, str]
    secret: str


NO_PASS: Final = Pass({}, "")
"""Of a request that the server's own headers let in."""


class Server:
    """The server at `base_url`, for the model that people know as `name`.

    `headers` go with each request; `secret` is what in them must never be shown. `http` is a client to use
    instead of an own one; it stays open. Opening connections waits for the first request.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        headers: Mapping[str, str],
        secret: str = "",
        timeouts: Timeouts | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.base_url = checked_base_url(base_url)
        self.place = f"{name} ({host_of(self.base_url)})" if name else host_of(self.base_url)
        self._headers = {"User-Agent": f"golem-cli/{__version__}", **headers}
        self._secret = secret
        self._timeouts = timeouts or Timeouts()
        self._given = http
        self._own: tuple[AbstractEventLoop, httpx.AsyncClient] | None = None

    def faults(self, *, secret: str = "") -> AbstractContextManager[None]:
        """A block whose faults become `ModelError`s that begin with this server's place.

        `secret` is what must not be shown of the headers of this one request.
        """
        return faults_located(self.place, secret=secret or self._secret)

    @asynccontextmanager
    async def answer(
        self, method: str, path: str, body: bytes | None = None, *, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[httpx.Response]:
        """Send a request; give the response whose body has not been read. Leaving the block closes it.

        `headers` are those of this one request.

        Raises `ModelError` for a status outside 2xx, and httpx's exceptions: use it inside `faults`.
        """
        sent = {**self._headers, **(headers or {})}
        request = self._client().stream(method, self.base_url + path, content=body, headers=sent)
        async with request as response:
            if not response.is_success:
                text = await read_text(response, limit=_MAX_ERROR_BYTES, cut=True)
                raise status_error(response.status_code, response.headers, text)
            yield response

    async def aclose(self) -> None:
        """Close the connections that were opened here."""
        own, self._own = self._own, None
        if own is not None:
            await own[1].aclose()

    def _client(self) -> httpx.AsyncClient:
        """The client; a new one when the event loop is another, since connections belong to their loop."""
        if self._given is not None:
            return self._given
        import asyncio

        loop = asyncio.get_running_loop()
        if self._own is None or self._own[0] is not loop:
            self._own = loop, new_client(self.base_url, self._timeouts)
        return self._own[1]
