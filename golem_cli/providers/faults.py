"""Faults of providers as `ModelError`s: of the network, of a status, and those that an answer reports.

Foreign exceptions are translated here and nowhere else. No text made here holds a key: places are named by
their host, and what a provider says goes through `one_line`.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.providers.addresses import host_of
from golem_cli.providers.http import parse_json
from golem_cli.providers.sse import MAX_EVENT_BYTES, OversizedEventError
from golem_cli.providers.wire.fields import json_text, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx

_HINTS: Final = {
    401: "check the API key",
    404: "check the model's name and the base URL",
}
_MASK: Final = "***"
TELLING: Final = 8
"""Characters of a key from its beginning that must not be shown."""
_NUMBER: Final = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_RETRYABLE_STATUS: Final = frozenset({408, 429})
_RETRYABLE_CODES: Final = frozenset(
    {"server_error", "overloaded_error", "rate_limit_exceeded", "timeout", "api_error", "rate_limit_error"}
)


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
    """A copy of `error` whose text begins with `place` and does not hold `secret`, whole or cut off."""
    return ModelError(
        _masked(f"{place}: {error}", secret),
        retryable=error.retryable,
        status_code=error.status_code,
        code=_masked(error.code, secret),
        retry_after=error.retry_after,
    )


def _masked(text: str, secret: str) -> str:
    """`text` without `secret` and without what has the form of a key: a gateway may tell one of its own.

    The beginning of `secret` gives it away too: a long text that held it was shortened.
    """
    from golem_cli.core.secrets import find_secrets

    if secret:
        text = re.sub(rf"{re.escape(secret[:TELLING])}\S*", _MASK, text)
    for found in reversed(find_secrets(text)):
        text = f"{text[: found.start]}{_MASK}{text[found.end :]}"
    return text


def dropped() -> ModelError:
    """The connection ended before the answer did."""
    return ModelError("the connection was dropped before the answer was complete", retryable=True)


def _transport_fault(error: httpx.HTTPError) -> ModelError:
    import ssl

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
    code = code or headers.get("x-amzn-errortype", "").partition(":")[0]
    told = f" ({code})" if code not in {"", str(status)} else ""
    if not message:
        message = _reason(status) + (
            ", with a web page instead of an answer" if _is_html(headers, body) else ""
        )
    hint = f" ({_HINTS[status]})" if status in _HINTS else ""
    wait = retry_after(headers)
    if wait is None:
        wait = _told_delay(_parsed(body))
    return ModelError(
        f"{status}{told}: {message or 'no reason given'}{hint}",
        retryable=_is_retryable(status),
        status_code=status,
        code=code,
        retry_after=wait,
    )


def reported_error(error: object) -> ModelError:
    """What an error object in an answer with a good status, or in the middle of a stream, means."""
    message, code = _envelope_of({"error": error})
    status = _status_in(error)
    told = f" ({code})" if code else ""
    return ModelError(
        f"reported an error{told}: {message or 'no reason given'}",
        retryable=_is_retryable(status) if status else code in _RETRYABLE_CODES,
        status_code=status,
        code=code,
        retry_after=_told_delay({"error": error}),
    )


def envelope(body: str) -> tuple[str, str]:
    """Message and code of an error body in one of the shapes that are in use; empty texts when there is none.

    >>> envelope('{"error": {"message": "no such model", "code": 7}}')
    ('no such model', '7')
    """
    return _envelope_of(_parsed(body))


def _parsed(body: str) -> object:
    """The value of an error body; None when it is no JSON."""
    try:
        return parse_json(body)
    except ModelError:
        return None


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
    if isinstance(code, int) and isinstance(inner.get("status"), str):
        code = inner["status"]  # google.rpc: the number repeats the status line, the word says more
    if code is None or code == "":
        code = inner.get("type") or ""
    message = one_line(_text(message))
    return (message, one_line(_text(code), limit=60)) if message else ("", "")


def _status_in(error: object) -> int | None:
    """The HTTP status that an error object gives as its code."""
    code = _text(error.get("code")) if isinstance(error, dict) else ""
    return int(code) if code.isascii() and code.isdigit() and len(code) == 3 else None


def _told_delay(body: object) -> float | None:
    """Seconds to wait, from the details of a `google.rpc.Status`: its `retryDelay`, such as `34.07s`."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (seconds := _NUMBER.fullmatch(delay.removesuffix("s"))):
            return float(seconds[0])
    return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (RFC 9110: seconds or an HTTP date)."""
    if milliseconds := _NUMBER.fullmatch(headers.get("retry-after-ms", "").strip()):
        return float(milliseconds[0]) / 1000
    value = headers.get("retry-after", "").strip()
    if seconds := _NUMBER.fullmatch(value):
        return float(seconds[0])
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _is_retryable(status: int) -> bool:
    return status in _RETRYABLE_STATUS or 500 <= status < 600


def _reason(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _is_html(headers: Mapping[str, str], body: str) -> bool:
    return "html" in headers.get("content-type", "") or body.lstrip()[:1] == "<"
