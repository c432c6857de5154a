"""What looks random and nothing explains is doubted; names, usual numbers and what is explained are not."""

from __future__ import annotations

import base64
import json
from typing import Final
from urllib.parse import quote

import pytest

from golem_cli.core.secrets.randomness import entropy, looks_random
from golem_cli.core.secrets.unexplained import find_random
from tests.support.secrets import HEX, TAIL, in_full_width

LARGE: Final = 1_250_000
PNG: Final = b"\x89PNG\r\n\x1a\n"
DIGITS: Final = "31415926535897932384626433832795"  # those of pi
BYTES: Final = {"md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64}
"""RFC 1321 and FIPS 180-4."""


def base64_of(count: int) -> str:
    """Base64 of `count` bytes that look random."""
    return base64.b64encode(bytes(at * 151 % 256 for at in range(1, count + 1))).decode()


def test_entropy_is_that_of_a_hand_calculation() -> None:
    assert entropy("") == 0
    assert entropy("aabb") == 1
    assert entropy("abcdefgh") == 3


@pytest.mark.parametrize(
    "text", [TAIL[:20], HEX[:20], HEX[:40], "kJ8#mP2$vL9@xQ4!zR7&", "Zm9vYmFyYmF6cXV4-_x9"]
)
def test_keys_of_twenty_characters_look_random(text: str) -> None:
    assert looks_random(text)
    assert [run for _, _, run in find_random(f"it is {text} here")] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "get_user_account_by_identifier",
        "AbstractSingletonProxyFactoryBean",
        "internationalization",
        "map_httpcore_exceptions",
        "/usr/lib/python3/dist-packages/module/__init__.py",
        "https://docs.python.org/3/library/asyncio-task.html",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "local:smollm2-135m-instruct",
        "accounts/fireworks/models/llama-v3p3-70b-instruct",
        "====================================",
        "00000000000000000000000000",
    ],
)
def test_names_paths_and_addresses_do_not_look_random(text: str) -> None:
    assert not looks_random(text)


@pytest.mark.parametrize(
    "text",
    [
        "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11",
        "2026-01-02T03:04:05.678Z",
        f"commit {HEX[:40]}",
        f"sha256:{HEX[:64]}",
        f"data:image/png;base64,{base64.b64encode(PNG + bytes(range(256))).decode()}",
        "20261203T001908712345Z",
        "fe80:0001:0002:0003:0a1b:2c3d:4e5f:6a7b",
        f"git diff {HEX[:40]}..{HEX[20:60]}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{TAIL[:40]} bob@host",
        f"256 SHA256:{base64_of(32).rstrip('=')} bob@host (ED25519)",
        "18446744073709551615",  # the largest of 64 bits
        "1733180000123456789",  # nanoseconds since 1970
        "20261202231125123456",  # a time to the microsecond
        "took 0.30000000000000004441 s of 3.14159265358979323846264338",
        "100000000000000000000000000000",
        "1,234,567,890,123,456,789,012,345",
        "2026-12-02-23-11-25-123456",
        "4111 1111 1111 1111",
        "[1733180000123, 1733180000456, 1733180000789]",
    ],
)
def test_what_is_explained_and_numbers_of_everyday_are_let_be(text: str) -> None:
    for framed in (text, f"see {text} there"):
        assert find_random(framed) == []


@pytest.mark.parametrize(
    "text",
    [
        DIGITS,
        f"number {DIGITS[:24]}",
        f"token{DIGITS[:24]}",
        "98765432101234567891",  # more than 64 bits hold
        "01844674407370955161",  # no number begins like this
        f"12345.{DIGITS}",
        f"{'=' * 60}{TAIL[:20]}",
        f"{'-' * 60}{HEX[:32]}",
        f"commit {HEX[:32]}",
        f"tree: {TAIL[:40]}",
        f"ssh-rsa {TAIL[:40]}",
        f"-----BEGIN CERTIFICATE-----\nits password is {TAIL[:30]}\n-----END CERTIFICATE-----",
        f"data:image/svg+xml;base64,{TAIL[:60]}",
        f"data:image/png;base64,{base64.b64encode(TAIL[:60].encode()).decode()}",
        f"data:image/png;base64,{base64.b64encode(PNG + b'sk-ant-api03-' + TAIL[:93].encode()).decode()}",
    ],
)
def test_long_numbers_and_what_only_claims_to_explain_are_doubted(text: str) -> None:
    assert len(find_random(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"{TAIL[:30]}.",
        f"x={TAIL[:30]}",
        f'{{"x":"{TAIL[:30]}"}}',
        f"%61{TAIL[1:30]}",
        in_full_width(TAIL[:30]),
        json.dumps(TAIL[:30])[1:-1].replace("B", "\\u0042"),
        quote(TAIL[:30]),
        f"{TAIL[:10]}\u200b{TAIL[10:30]}",
    ],
)
def test_a_random_string_is_the_same_however_it_is_spelled(text: str) -> None:
    assert [run for _, _, run in find_random(text)] == [TAIL[:30]]


@pytest.mark.parametrize("name", BYTES)
def test_a_digest_is_explained_by_its_name_and_exact_length(name: str) -> None:
    count = BYTES[name]
    digest = bytes(at * 151 % 256 for at in range(1, count + 1))
    for spelled in (digest.hex(), digest.hex().upper(), base64.b64encode(digest).decode()):
        for text in (f"{name}: {spelled}", f'"{name.upper()}": "{spelled}"', f"{name}-{spelled} ok"):
            assert find_random(text) == []
    for wrong in (
        digest.hex()[:-1],
        f"{digest.hex()}a",
        f"{digest.hex()[:-1]}G",
        TAIL[:40],
        TAIL[: 2 * count],
    ):
        assert len(find_random(f"{name}: {wrong}")) == 1


def test_a_certificate_is_explained() -> None:
    body = "\n".join([base64_of(48)] * 3)
    for name in ("CERTIFICATE", "PUBLIC KEY", "PGP SIGNATURE"):
        assert find_random(f"-----BEGIN {name}-----\n{body}\n-----END {name}-----") == []


@pytest.mark.parametrize("repeated", [f"{TAIL[:24]} ", "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11 ", "a/b1"])
def test_no_large_text_makes_the_search_go_round_and_round(repeated: str) -> None:
    text = repeated * (LARGE // len(repeated))
    assert find_random(f"{text} {HEX[:32]}")[-1][2] == HEX[:32]
