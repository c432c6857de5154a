"""Signature Version 4, worked out from its public description, to check what a client signed.

Source: AWS IAM user guide, "Create a signed AWS API request": the canonical request, the string to sign, the
derived key. The path is encoded once more than it travels, as for every service but S3.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from urllib.parse import quote

from tests.support.http_server import Request

_FORM = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>\w+)/(?P<scope>[^,]+), "
    r"SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


def is_signed(request: Request, *, key: str, secret: str, region: str, service: str) -> bool:
    """Whether `request` carries the signature that the owner of `key` would make."""
    found = _FORM.fullmatch(request.headers.get("authorization", ""))
    moment = request.headers.get("x-amz-date", "")
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    if found is None or found["key"] != key or found["scope"] != scope:
        return False
    named = found["headers"].split(";")
    headers = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in named)
    canonical = [
        request.method,
        quote(request.path, safe="/-_.~"),
        "",
        headers,
        found["headers"],
        hashlib.sha256(request.body).hexdigest(),
    ]
    hashed = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    derived = f"AWS4{secret}".encode()
    for piece in scope.split("/"):
        derived = _hmac(derived, piece)
    expected = _hmac(derived, f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashed}").hex()
    return "host" in named and hmac.compare_digest(expected, found["signature"])


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
