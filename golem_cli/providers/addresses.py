"""What a client is given: whether it can be an address, a key, a name, and what of it may be shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from golem_cli.core.errors import ConfigurationError


def checked_base_url(url: str) -> str:
    """Return `url` without a trailing slash; `ConfigurationError` when it is no http or https address."""
    wrong = "is not an http:// or https:// address"
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        wrong = "has a port that cannot be one" if usable else wrong
        _ = parts.port  # raises when it is no number, or too high
    except ValueError:
        usable = False
    if not usable:
        shown = re.sub(r"//[^/]*@", "//***@", url)  # a password may stand there
        raise ConfigurationError(f"the base URL {shown!r} {wrong}")
    return url.strip().rstrip("/")


def checked_key(key: str) -> str:
    """Return `key` without white space around it. `ConfigurationError`, not showing it, when it is no key."""
    key = key.strip()
    if not all("!" <= character <= "~" for character in key):
        raise ConfigurationError(
            "the API key holds a character that no key has (a space, a line break, an accent)"
        )
    return key


def checked_model(name: str) -> str:
    """Return the name of a model as its server knows it; `ConfigurationError` for one with nothing in it."""
    if not name.strip():
        raise ConfigurationError("a model needs a name: pass model=")
    return name


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
    from ipaddress import ip_address

    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
    except ValueError:
        return False
