"""The safe-URL rule of `sanitize_history`: which addresses a part of foreign origin may name."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY: Final = re.compile(r"//([^/?#]*)")
_BRACKETED: Final = re.compile(r"\[([0-9A-Fa-f:.]+)\]\Z")


def unsafe_scheme(url: str) -> str | None:
    r"""Return None when `url` is safe, else its scheme in lower case, "" when it has none or does not parse.

    Safe is `http` or `https`, `://`, a host, and no backslash. Source: the semantics page, section 3.
    Userinfo and port are not looked at. An IPv6 address with a zone counts as forbidden, as in browsers.

    >>> unsafe_scheme("https://example.com/a.png")
    >>> unsafe_scheme("FILE:///etc/passwd"), unsafe_scheme("http://[::1"), unsafe_scheme("https:a")
    ('file', '', 'https')
    """
    scheme = _SCHEME.match(url)
    if scheme is None or _has_stray_space(url):
        return ""
    authority = _AUTHORITY.match(url, scheme.end())
    host = _host(authority[1]) if authority else ""
    if host is None:
        return ""
    name = scheme[1].lower()
    safe = name in ("http", "https") and host != "" and "\\" not in url
    return None if safe else name


def _has_stray_space(url: str) -> bool:
    """Whether white space stands at either end, or a control character anywhere."""
    return url[0].isspace() or url[-1].isspace() or any(unicodedata.category(char) == "Cc" for char in url)


def _host(authority: str) -> str | None:
    """Return the host of `authority`, "" when it has none, None when it does not parse."""
    if authority.count("[") != authority.count("]"):
        return None
    address = authority.rpartition("@")[2]
    host, colon, port = ("", "", "") if address.endswith("]") else address.rpartition(":")
    if not colon:
        host = address
    if "[" in port or "]" in port or _is_forbidden(host):
        return None
    return host


def _is_forbidden(host: str) -> bool:
    """Whether `host` is neither a bracketed IPv6 address nor text that means the same to every reader."""
    if "[" in host or "]" in host:
        return not _is_bracketed_ipv6(host)
    if any(category[0] == "Z" or category == "Cf" for category in map(unicodedata.category, host)):
        return True
    return not set(unicodedata.normalize("NFKC", host)).isdisjoint("/?#@:")


def _is_bracketed_ipv6(host: str) -> bool:
    import ipaddress

    bracketed = _BRACKETED.match(host)
    if bracketed is None:
        return False
    try:
        ipaddress.IPv6Address(bracketed[1])
    except ValueError:
        return False
    return True
