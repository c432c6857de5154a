"""The commands with models of Azure's and of Bedrock's, on strict servers: found, asked, explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import strict_bedrock, strict_openai
from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer, Reply

KEY = "azure-key-never-to-be-shown"


def listed(name: str) -> dict[str, object]:
    return next(row for row in golem("models", "--json").json if row["name"] == name)


@pytest.mark.parametrize("address", ["", "/", "/openai/v1", "/openai/v1/"])
def test_azure_is_asked_under_its_v1_address_with_its_key_as_a_bearer(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("GOLEM_MAX_TOKENS", "9")
    with strict_openai.strict_server("azure") as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url + address)
        assert golem("ask", "-m", "azure:my-deployment", "hi").out.strip() == "Hello"
    [request] = server.requests
    assert request.path == "/openai/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    sent = json.loads(request.body)
    assert (sent["model"], sent["max_completion_tokens"]) == ("my-deployment", 9)
    assert "max_tokens" not in sent


def test_azure_is_explained_when_its_address_or_key_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert listed("azure")["reason"] == "set AZURE_OPENAI_ENDPOINT to the server's address"
    assert "set AZURE_OPENAI_ENDPOINT" in golem("ask", "-m", "azure:d", "hi").error_line
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    assert listed("azure")["reason"] == "set AZURE_OPENAI_API_KEY"
    assert "Azure OpenAI needs a key" in golem("ask", "-m", "azure:d", "hi").error_line


def test_what_azures_filter_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"code": "content_filter", "message": "The response was filtered.", "status": 400}
    with HttpServer([Reply(status=400, body=json.dumps({"error": error}).encode())]) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        run = golem("ask", "-m", "azure:d", "hi")
    assert "400 (content_filter): The response was filtered." in run.error_line


def test_bedrock_is_asked_with_signed_requests_and_its_thinking_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", strict_bedrock.KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", strict_bedrock.SECRET)
    monkeypatch.setenv("AWS_REGION", strict_bedrock.REGION)
    assert listed("bedrock")["usable"] is True
    name = f"bedrock:{strict_bedrock.HAIKU}"
    with strict_bedrock.strict_server() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
        first = golem("ask", "-m", name, "hi", "--output-format", "json")
        assert first.json["output"] == "Hello"
        assert golem("ask", "-c", "more").out.strip() == "Hello"
    saved = Path(first.json["file"]).read_text(encoding="utf-8")
    assert strict_bedrock.SECRET not in saved
    again = strict_bedrock.read(server.requests[1])["messages"]
    assert strict_bedrock.thought() in again[1]["content"]


def test_bedrock_is_explained_when_nothing_says_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    row = listed("bedrock")
    assert (row["usable"], row["reason"]) == (
        False,
        "set AWS_BEARER_TOKEN_BEDROCK or AWS_PROFILE or AWS_ACCESS_KEY_ID",
    )
    assert "set AWS_REGION" in golem("ask", "-m", "bedrock:m", "hi").error_line
    monkeypatch.setenv("AWS_REGION", strict_bedrock.REGION)
    run = golem("ask", "-m", "bedrock:m", "hi")
    assert "Bedrock needs credentials: set AWS_BEARER_TOKEN_BEDROCK" in run.error_line
    assert "Traceback" not in run.err


def test_neither_is_chosen_by_its_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their models must be named: a deployment, or what the account was granted in its region."""
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    for name in ("azure", "bedrock"):
        assert f"name it, as in {name}:NAME" in golem("ask", "-m", f"{name}:", "hi").error_line
    from golem_cli.cli.model_choice import choose_model
    from golem_cli.store.settings import Configuration, Settings

    settings = Configuration(settings=Settings(), origins={})
    environment = {"AZURE_OPENAI_API_KEY": KEY, "AWS_BEARER_TOKEN_BEDROCK": KEY}
    assert choose_model("", "", settings, environment).name == "local:"
