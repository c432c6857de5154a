"""What explains a string that looks random: forms of which everybody knows that they are no secret."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from golem_cli.core.secrets.data import bytes_in, secrets_in_data

_DIGESTS: Final = {
    "md5": 16,
    "sha-?1": 20,
    "sha-?224": 28,
    "sha-?256": 32,
    "sha-?384": 48,
    "sha-?512": 64,
}
"""Names → bytes (RFC 1321, FIPS 180-4)."""
_BEGINNING: Final = 24
"""Bytes that tell media from text."""
_LAST_OF_TWO: Final = "[AEIMQUYcgkosw048]=?"  # ssh leaves the padding away
_LAST_OF_ONE: Final = "[AQgw]=="


def explained(text: str) -> list[tuple[int, int]]:
    """Return where something explained stands in `text`, in order, none overlapping another.

    Explained are UUIDs, times, decimal fractions, IPv6 addresses, media in `data:` addresses, certificates,
    signatures and public keys, digests that are called so and have exactly the length of their algorithm
    (hexadecimal or base64), and git's names of objects after git's words.

    >>> explained("md5: d41d8cd98f00b204e9800998ecf8427e")
    [(0, 37)]
    """
    return [
        match.span()
        for match in _expression().finditer(text)
        if match["media"] is None or _is_media(match["media"])
    ]


def _is_media(data: str) -> bool:
    """Whether base64 that is called media may be: no text begins so, and no secret is in its bytes."""
    raw = bytes_in(data)
    if raw is None:
        return False
    begins = raw[:_BEGINNING]
    return not (begins.isascii() and begins.decode().isprintable()) and not secrets_in_data(data)


def _digest(name: str, size: int) -> str:
    """A digest behind its name: hexadecimal of one case, or base64, of exactly its length."""
    whole, rest = divmod(size, 3)
    last = {0: "", 1: f"[A-Za-z0-9+/]{_LAST_OF_ONE}", 2: f"[A-Za-z0-9+/]{{2}}{_LAST_OF_TWO}"}[rest]
    forms = f"[0-9a-f]{{{2 * size}}}|[0-9A-F]{{{2 * size}}}|[A-Za-z0-9+/]{{{4 * whole}}}{last}"
    return rf"""\b(?i:{name})["']?[ \t]*[-:= ][ \t]*["']?(?:{forms})(?![A-Za-z0-9+/=])"""


@cache
def _expression() -> re.Pattern[str]:
    day, time = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", r"(?:[01]\d|2[0-3])(?:[0-5]\d){2}"
    return re.compile(
        r"(?i:(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f]))"  # UUIDs: they name
        r"|\b\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)?"  # times
        rf"|\b(?:19|20)\d\d{day}T?{time}(?:\d{{6}}|\d{{9}})Z?\b"
        r"|(?<![\w:])(?i:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4})(?![\w:])"  # addresses of machines
        r"|(?<![\w.])\d{1,3}\.\d++(?!\.?\w)"  # fractions
        r"|(?i:\bdata:(?:image(?!/svg)|audio|video|font)/[a-z0-9.+-]+;base64,)(?P<media>[A-Za-z0-9+/=_-]+)"
        r"|-----BEGIN [A-Z0-9 ]{0,40}(?:PUBLIC KEY|CERTIFICATE|SIGNATURE)[A-Z0-9 ]{0,20}-----\s+"
        r"(?:(?:Version|Hash|Charset): [^\n]{0,60}\n)*(?:[A-Za-z0-9+/=]++[ \t\r]*+\n\s*+)*+-----END"
        r"|\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+)[ \t]+AAAA[A-Za-z0-9+/=]+"  # public keys
        r"|\b(?:[0-9a-f]{40}\.{2,3}[0-9a-f]{40}|[0-9a-f]{64}\.{2,3}[0-9a-f]{64})\b"  # git diff
        r"|(?i:\b(?:commit|tree|parent|blob|object|merge)[ \t/:]+)(?:[0-9a-f]{40}|[0-9a-f]{64})\b"  # git
        r"|" + "|".join(_digest(name, size) for name, size in _DIGESTS.items())
    )
