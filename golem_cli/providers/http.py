"""HTTP as every adapter needs it: client settings, and bodies within bounds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.providers.addresses import host_of, is_loopback
from golem_cli.providers.wire.fields import one_line

if TYPE_CHECKING:
    import httpx

MAX_BODY_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds to wait: to `connect`, between two pieces of an answer (`read`), and to send one (`write`).

    A model may think for minutes before its first byte, hence the long `read`.
    """

    connect: float = 10.0
    read: float = 300.0
    write: float = 60.0


def new_client(base_url: str, timeouts: Timeouts) -> httpx.AsyncClient:
    """A client for the server at `base_url`; proxies and certificates as httpx reads the environment.

    Redirects are not followed: they would carry the key to another host. A server on this machine is never
    asked through a proxy. Raises `ConfigurationError` for a proxy or certificates that cannot be used.
    """
    import ssl

    import httpx

    timeout = httpx.Timeout(connect=timeouts.connect, read=timeouts.read, write=timeouts.write, pool=None)
    here = is_loopback(base_url)
    direct = {f"all://{host_of(base_url)}": None} if here else None
    # loading the trusted certificates takes longer than a local server's answer: without TLS, none
    plain = here and base_url.startswith("http://")
    verify: ssl.SSLContext | bool = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
    try:
        return httpx.AsyncClient(timeout=timeout, verify=verify, mounts=direct, follow_redirects=False)
    except ImportError as error:  # httpx asks for its extra
        raise ConfigurationError("a SOCKS proxy needs: pip install 'httpx[socks]'") from error
    except (OSError, ValueError, httpx.InvalidURL) as error:  # their texts may show a proxy's password
        raise ConfigurationError(
            "a proxy setting (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) or certificate setting (SSL_CERT_FILE, "
            "SSL_CERT_DIR) in the environment cannot be used"
        ) from error


def parse_json(text: str) -> object:
    """Read JSON from a provider, lone surrogates and big numbers included. `ModelError` when it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass  # the fast reader refuses some of what JSON allows
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            f"sent something that is not JSON: {one_line(text, limit=60) or 'nothing'}"
        ) from error


async def read_text(response: httpx.Response, *, limit: int = MAX_BODY_BYTES, cut: bool = False) -> str:
    """The body as text; bytes that are not UTF-8 become U+FFFD.

    A body beyond `limit` bytes is a `ModelError`, or with `cut` ends there.
    """
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            if cut:
                break
            raise ModelError(f"sent more than {limit:,} bytes")
    return body.decode("utf-8-sig", "replace")
