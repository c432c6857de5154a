"""HTTP as every adapter needs it: client settings, bodies within bounds, and faults turned into `ModelError`.

Foreign exceptions are translated here and nowhere else. No text made here holds a key: places are named by
their host, and what a provider says goes through `one_line`.
"""

from __future__ import annotations

import json
import os
import re
import ssl
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.providers.sse import MAX_EVENT_BYTES, OversizedEventError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx

MAX_BODY_BYTES: Final = 64 * 1024 * 1024
_MAX_ERROR_TEXT: Final = 300
_HINTS: Final = {
    401: "check the API key",
    404: "check the model's name and the base URL",
}
_NUMBER: Final = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_RETRYABLE_STATUS: Final = frozenset({408, 429})
_RETRYABLE_CODES: Final = frozenset({"server_error", "overloaded_error", "rate_limit_exceeded", "timeout"})


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
    asked through a proxy.
    """
    import httpx

    timeout = httpx.Timeout(connect=timeouts.connect, read=timeouts.read, write=timeouts.write, pool=None)
    here = is_loopback(base_url)
    plain = here and base_url.startswith("http://")
    # loading the trusted certificates takes longer than a local server's answer: there, trust nobody
    verify: ssl.SSLContext | bool = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
    return httpx.AsyncClient(timeout=timeout, verify=verify, trust_env=not here, follow_redirects=False)


def checked_base_url(url: str) -> str:
    """Return `url` without a trailing slash; `ConfigurationError` when it is no http or https address."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port  # raises when it is no number
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(f"the base URL {url!r} is not an http:// or https:// address")
    return url.strip().rstrip("/")


def checked_key(key: str) -> str:
    """Return `key` without white space around it. `ConfigurationError`, not showing it, when it is no key."""
    key = key.strip()
    if not all("!" <= character <= "~" for character in key):
        raise ConfigurationError(
            "the API key holds a character that no key has (a space, a line break, an accent)"
        )
    return key


def host_of(url: str) -> str:
    """Host and port of `url`: what an error may show of it.

    >>> host_of("https://user:secret@api.example.com:8443/v1?key=x")
    'api.example.com:8443'
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""


def is_loopback(url: str) -> bool:
    """Whether `url` points at this machine by name or address."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False


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


@contextmanager
def faults_located(place: str, *, secret: str = "") -> Iterator[None]:
    """Turn httpx's exceptions into `ModelError`, and begin each `ModelError` of the block with `place`."""
    import httpx

    try:
        yield
    except ModelError as error:
        raise located(error, place, secret=secret) from error.__cause__
    except OversizedEventError as error:
        raise located(ModelError(f"sent an event of more than {MAX_EVENT_BYTES:,} bytes"), place) from error
    except httpx.HTTPError as error:
        raise located(_transport_fault(error), place, secret=secret) from error
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"{place}: the address cannot be used: {one_line(str(error))}") from error


def located(error: ModelError, place: str, *, secret: str = "") -> ModelError:
    """A copy of `error` whose text begins with `place` and does not hold `secret`."""
    text = f"{place}: {error}"
    return ModelError(
        text.replace(secret, "***") if secret else text,
        retryable=error.retryable,
        status_code=error.status_code,
        code=error.code,
        retry_after=error.retry_after,
    )


def dropped() -> ModelError:
    """The connection ended before the answer did."""
    return ModelError("the connection was dropped before the answer was complete", retryable=True)


def _transport_fault(error: httpx.HTTPError) -> ModelError:
    import httpx

    if _caused_by(error, ssl.SSLCertVerificationError):
        return ModelError(f"its certificate is not trusted ({one_line(str(error))})")
    detail = one_line(_reason_of_system(error) or str(error)) or type(error).__name__
    table: tuple[tuple[type[httpx.HTTPError], str, bool], ...] = (
        (httpx.ConnectTimeout, "no connection within the time limit", True),
        (httpx.ReadTimeout, "it accepted the request but sent nothing within the time limit", True),
        (httpx.TimeoutException, "the time limit passed", True),
        (httpx.ProxyError, f"the proxy refused ({detail})", True),
        (httpx.ConnectError, f"cannot be reached ({detail})", True),
        (httpx.NetworkError, "the connection was dropped", True),
        (httpx.RemoteProtocolError, "the connection was dropped before the answer was complete", True),
        (httpx.UnsupportedProtocol, f"the address or proxy cannot be used ({detail})", False),
        (httpx.DecodingError, "sent a compressed body that cannot be read", False),
    )
    for kind, text, retryable in table:
        if isinstance(error, kind):
            return ModelError(text, retryable=retryable)
    return ModelError(f"the request failed ({detail})", retryable=isinstance(error, httpx.TransportError))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """`error` and what led to it, first exceptions of groups included."""
    while error is not None:
        yield error
        first = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else None
        error = first or error.__cause__ or error.__context__


def _caused_by(error: BaseException, kind: type[BaseException]) -> bool:
    return any(isinstance(cause, kind) for cause in _causes(error))


def _reason_of_system(error: BaseException) -> str:
    """What the operating system said, such as `Connection refused`; empty when it said nothing."""
    said = ""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.strerror:
            # asyncio puts its own words beside the number; a resolver's numbers are negative and not errno
            said = os.strerror(cause.errno) if cause.errno is not None and cause.errno > 0 else cause.strerror
    return said


def status_error(status: int, headers: Mapping[str, str], body: str) -> ModelError:
    """What a response outside 2xx means. `body` is its text, which may be anything."""
    if 300 <= status < 400:
        target = host_of(headers.get("location", "")) or "another address"
        return ModelError(
            f"redirects to {target}; keys are not sent there: check the base URL", status_code=status
        )
    message, code = envelope(body)
    told = f" ({code})" if code else ""
    if not message:
        message = _reason(status) + (
            ", with a web page instead of an answer" if _is_html(headers, body) else ""
        )
    hint = f" ({_HINTS[status]})" if status in _HINTS else ""
    return ModelError(
        f"{status}{told}: {message or 'no reason given'}{hint}",
        retryable=_is_retryable(status),
        status_code=status,
        code=code,
        retry_after=retry_after(headers),
    )


def reported_error(error: object) -> ModelError:
    """What an error object in an answer with a good status, or in the middle of a stream, means."""
    message, code = _envelope_of({"error": error})
    status = int(code) if code.isascii() and code.isdigit() and len(code) == 3 else None
    told = f" ({code})" if code else ""
    return ModelError(
        f"reported an error{told}: {message or 'no reason given'}",
        retryable=_is_retryable(status) if status else code in _RETRYABLE_CODES,
        status_code=status,
        code=code,
    )


def envelope(body: str) -> tuple[str, str]:
    """Message and code of an error body in one of the shapes that are in use; empty texts when there is none.

    >>> envelope('{"error": {"message": "no such model", "code": 7}}')
    ('no such model', '7')
    """
    try:
        return _envelope_of(parse_json(body))
    except ModelError:
        return "", ""


def _envelope_of(value: object) -> tuple[str, str]:
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return "", ""
    inner = value.get("error", value)
    if not isinstance(inner, dict):
        return one_line(_text(inner)), ""
    message = next((inner[key] for key in ("message", "detail", "error") if inner.get(key)), "")
    code = inner.get("code")
    if code is None or code == "":
        code = inner.get("type") or ""
    message = one_line(_text(message))
    return (message, one_line(_text(code), limit=60)) if message else ("", "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def one_line(text: str, *, limit: int = _MAX_ERROR_TEXT) -> str:
    """`text` as a single line of at most `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (RFC 9110: seconds or an HTTP date)."""
    if milliseconds := _NUMBER.fullmatch(headers.get("retry-after-ms", "").strip()):
        return float(milliseconds[0]) / 1000
    value = headers.get("retry-after", "").strip()
    if seconds := _NUMBER.fullmatch(value):
        return float(seconds[0])
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _is_retryable(status: int) -> bool:
    return status in _RETRYABLE_STATUS or 500 <= status < 600


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _is_html(headers: Mapping[str, str], body: str) -> bool:
    return "html" in headers.get("content-type", "") or body.lstrip()[:1] == "<"
