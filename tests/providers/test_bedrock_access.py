"""Who asks Bedrock, and where: regions, endpoints, credentials, signatures; over real servers and files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.errors import ConfigurationError, ModelError
from golem_cli.core.message import Message
from golem_cli.core.model import ModelRequest
from golem_cli.providers.bedrock import BedrockModel
from golem_cli.providers.bedrock.access import Access
from tests.support.http_server import HttpServer
from tests.support.strict_bedrock import (
    BEARER,
    HAIKU,
    KEY,
    REGION,
    SECRET,
    TOKEN,
    failure,
    strict_server,
)

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
FOUNDATION_ARN = f"arn:aws:bedrock:{REGION}::foundation-model/anthropic.claude-3-haiku-20240307-v1:0"


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with strict_server() as running:
        yield running


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


async def ask(server: HttpServer, *, model: str = HAIKU, region: str = REGION, api_key: str = "") -> str:
    asked = BedrockModel(model=model, base_url=server.url, region=region, api_key=api_key)
    try:
        whole = await asked.complete(REQUEST)
        streamed = await asked.stream(REQUEST, lambda _: None)
        assert whole.message == streamed.message
        assert await asked.count(REQUEST.messages) > 0
        return whole.message.content
    finally:
        await asked.aclose()


@pytest.mark.parametrize("model", [HAIKU, FOUNDATION_ARN, "my_model.1"])
@pytest.mark.usefixtures("keys")
async def test_requests_are_signed_with_the_keys_of_the_environment(model: str, server: HttpServer) -> None:
    """The server works the signature out by its public description; colons and slashes of an id included."""
    assert await ask(server, model=model) == "Hello"


@pytest.mark.usefixtures("keys")
async def test_a_session_token_goes_with_the_signature(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    assert await ask(server) == "Hello"
    assert server.requests[0].headers["x-amz-security-token"] == TOKEN
    assert "x-amz-security-token" in server.requests[0].headers["authorization"]


async def test_a_key_of_bedrocks_own_is_sent_as_it_is(server: HttpServer) -> None:
    assert await ask(server, api_key=BEARER) == "Hello"
    assert server.requests[0].headers["authorization"] == f"Bearer {BEARER}"


async def test_a_profile_gives_credentials_and_the_region(
    server: HttpServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / ".aws"
    folder.mkdir()
    keys = f"[work]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
    (folder / "credentials").write_text(keys, encoding="utf-8")
    (folder / "config").write_text(f"[profile work]\nregion = {REGION}\n", encoding="utf-8")
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert await ask(server, region="") == "Hello"


async def test_a_wrong_key_is_refused_in_the_providers_words(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(ModelError, match=r"403 \(UnrecognizedClientException\): The security token"):
        await ask(server)


@pytest.mark.usefixtures("keys")
async def test_a_session_token_that_an_answer_repeats_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS says what should have been signed, which holds the token."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    said = f"The Canonical String should have been x-amz-security-token:{TOKEN}"
    with (
        HttpServer([failure(403, "InvalidSignatureException", said)]) as server,
        pytest.raises(ModelError) as caught,
    ):
        await ask(server)
    assert TOKEN[:8] not in str(caught.value)


async def test_without_credentials_it_says_what_to_set(server: HttpServer) -> None:
    with pytest.raises(
        ConfigurationError, match="set AWS_BEARER_TOKEN_BEDROCK, or AWS_PROFILE, or"
    ) as caught:
        await ask(server)
    assert "\n" not in str(caught.value)
    assert not server.requests


def test_without_a_region_it_says_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match="set AWS_REGION"):
        Access()


def test_a_profile_that_does_not_exist_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobodys")
    with pytest.raises(ConfigurationError, match=r"cannot be used: The config profile \(nobodys\)"):
        Access()


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("eu-central-1", "https://bedrock-runtime.eu-central-1.amazonaws.com"),
        ("cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_each_region_has_an_address_of_its_own(
    region: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    assert Access().base_url == url


def test_another_address_is_taken_from_the_variable_of_every_aws_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:4566")
    assert Access(region=REGION).base_url == "http://127.0.0.1:4566"


def test_without_botocore_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'golem-cli\[bedrock\]'"):
        Access(region=REGION)
