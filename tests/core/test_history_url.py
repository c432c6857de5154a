"""The safe-URL rule in pairs at its boundaries, by hand from the semantics page, section 3."""

from __future__ import annotations

import pytest

from golem_cli.core.history import unsafe_scheme

SAFE = [
    "http://h", "https://h", "HtTpS://H", "http://h:", "http://h:port/", "http://u:p@h/",
    "http://h?q", "http://h#f",
    "http://h/a@b:c[d", "http://[::1]", "http://[::1]:80/x", "http://u@[2001:db8::1]",
    "http://[::ffff:1.2.3.4]/",
    "https://h/a b", "https://h/\u200b", "http://b\u00fccher.example/", "http://h/\u2100", "http://10.0.0.1/",
    "http://\uff48/",
]  # fmt: skip
UNSAFE = [
    # another scheme
    ("file:///etc/passwd", "file"), ("FTP://h", "ftp"), ("data:,x", "data"), ("httpx://h", "httpx"),
    ("view-source:https://h/", "view-source"), ("C:\\a.png", "c"), ("C:/a.png", "c"),
    # no scheme
    ("", ""), ("a.png", ""), ("/a", ""), ("//h/a", ""), ("://h", ""), ("1http://h", ""), ("%68ttp://h", ""),
    ("\u017fhttp://h", ""), ("http\u200b://h", ""),
    # no "://", no host, a backslash
    ("http:", "http"), ("http:h", "http"), ("http:/h", "http"), ("http://", "http"), ("http:///h", "http"),
    ("https://?q", "https"), ("https://#f", "https"), ("http://:80/", "http"), ("http://u@/", "http"),
    ("http:\\\\h", "http"), ("http://h\\@i/", "http"), ("http://h/a\\b", "http"),
    # a host that is forbidden
    ("http://h i/", ""), ("http://h\u00a0i/", ""), ("http://h\u2028i/", ""), ("http://h\u00adi/", ""),
    ("http://h\u200di/", ""), ("http://h\u2100/", ""), ("http://h\uff0fi/", ""), ("http://h\uff1fi/", ""),
    ("http://h\uff03i/", ""), ("http://h\uff20i/", ""), ("http://h\uff1ai/", ""), ("http://::1/", ""),
    ("http://[h]/", ""), ("http://[]/", ""), ("http://[::1]x/", ""), ("http://a[::1]/", ""),
    ("http://[1::2::3]/", ""),
    ("http://[v1.x]/", ""), ("http://[fe80::1%25eth0]/", ""), ("http://h:[80]/", ""),
    # an unbalanced bracket
    ("http://[::1/", ""), ("http://::1]/", ""), ("http://h]", ""), ("ftp://[h", ""),
    # white space at an end, a control character anywhere
    (" http://h", ""), ("http://h ", ""), ("\u3000http://h", ""), ("http://h/\u2003", ""),
    ("\nfile:///x", ""),
    ("ht\ntp://h", ""), ("http://h/\x00", ""), ("http://h/a\x7fb", ""), ("http://h/a\x85b", ""),
    ("file:///a\tb", ""),
]  # fmt: skip


@pytest.mark.parametrize("url", SAFE, ids=ascii)
def test_a_safe_url_has_no_unsafe_scheme(url: str) -> None:
    assert unsafe_scheme(url) is None


@pytest.mark.parametrize(("url", "scheme"), UNSAFE, ids=ascii)
def test_an_unsafe_url_is_reported_by_its_scheme(url: str, scheme: str) -> None:
    assert unsafe_scheme(url) == scheme
