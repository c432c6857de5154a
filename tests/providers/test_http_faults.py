"""Faults as every adapter reports them: statuses, envelopes, waiting times, places."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from golem_cli.core.errors import ModelError
from golem_cli.providers.addresses import host_of, is_loopback
from golem_cli.providers.faults import envelope, faults_located, retry_after, status_error


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        (400, False),
        (401, False),
        (404, False),
        (408, True),
        (409, False),
        (425, False),
        (429, True),
        (500, True),
    ],
)
def test_which_statuses_may_pass_by_themselves(status: int, retryable: bool) -> None:
    assert status_error(status, {}, "").retryable is retryable


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"error":{"message":"m","code":"c","type":"t"}}', ("m", "c")),
        ('{"error":{"message":"m","code":null,"type":"t"}}', ("m", "t")),
        ('[{"error":{"message":"m","code":400}}]', ("m", "400")),
        ('{"object":"error","message":"m","type":"t"}', ("m", "t")),
        ('{"detail":"Not Found"}', ("Not Found", "")),
        ('{"detail":[{"msg":"bad"}]}', ('[{"msg":"bad"}]', "")),
        ('{"error":"m"}', ("m", "")),
        ('{"error":{"message":"two\\n  lines"}}', ("two lines", "")),
        ("<html>", ("", "")),
        ("", ("", "")),
        ("[]", ("", "")),
    ],
)
def test_the_message_is_found_in_the_shapes_that_are_in_use(body: str, expected: tuple[str, str]) -> None:
    assert envelope(body) == expected


def test_a_code_that_only_repeats_the_status_is_not_told_twice() -> None:
    error = status_error(401, {}, '{"error":{"message":"Invalid key","code":401}}')
    assert str(error) == "401: Invalid key (check the API key)"
    assert error.code == "401"


def test_a_long_message_is_shortened() -> None:
    error = status_error(400, {}, '{"error":{"message":"' + "x" * 100_000 + '"}}')
    assert len(str(error)) < 330


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_waiting_time_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_in_the_future_is_a_waiting_time() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    waiting = retry_after({"retry-after": when})
    assert waiting is not None
    assert 3000 < waiting <= 3600


def test_a_place_shows_no_user_and_no_query() -> None:
    assert host_of("https://user:pass@x.example:8443/v1?key=k") == "x.example:8443"
    assert host_of("http://[") == ""


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8080", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
    ],
)
def test_what_is_on_this_machine(url: str, local: bool) -> None:
    assert is_loopback(url) is local


KEY = "k-1"


def test_an_error_keeps_its_evidence_when_its_place_is_named() -> None:
    with pytest.raises(ModelError) as caught, faults_located("p", secret=KEY):
        raise status_error(429, {"retry-after": "2"}, '{"error":{"message":"k-1 waits","code":"c"}}')
    error = caught.value
    assert str(error) == "p: 429 (c): *** waits"
    assert (error.retryable, error.status_code, error.code, error.retry_after) == (True, 429, "c", 2.0)


LONG_KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize("shown", range(9, len(LONG_KEY) + 1))
def test_a_key_that_a_long_message_cuts_off_is_not_shown_in_part(shown: int) -> None:
    with pytest.raises(ModelError) as caught, faults_located("p", secret=LONG_KEY):
        raise ModelError(f"no such key: {LONG_KEY[:shown]}…", code=LONG_KEY[:shown])
    assert str(caught.value) == "p: no such key: ***"
    assert caught.value.code == "***"


def test_a_key_that_is_not_ours_is_not_shown_either() -> None:
    """A gateway may tell the key that it uses itself, and the error goes into the conversation's file."""
    theirs = "gsk_a1b2c3d4e5f6g7h8i9j0k1"
    with pytest.raises(ModelError) as caught, faults_located("p", secret=KEY):
        raise status_error(401, {}, f'{{"error":{{"message":"{theirs} is not allowed; ask","code":"c"}}}}')
    assert str(caught.value) == "p: 401 (c): *** is not allowed; ask (check the API key)"
