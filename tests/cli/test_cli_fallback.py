"""The commands with several models, prices and a bound on the cost, on real servers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer, Reply
from tests.support.strict_openai import strict_server
from tests.support.strict_responses import strict_server as responses_server

DOWN = Reply(status=503, body=b'{"error": {"message": "down for repairs"}}')


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GOLEM_HOME", str(tmp_path))
    monkeypatch.setenv("GOLEM_MAX_ATTEMPTS", "1")
    return tmp_path


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    """OpenAI's Responses API, which reports 10 tokens of input, 7 of them cached, and 5 of output."""
    with responses_server() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    with HttpServer([DOWN]) as server:
        monkeypatch.setenv("GROQ_BASE_URL", server.url)
        yield server


BOTH = "groq:x,openai-responses:gpt-5-mini"


def test_the_next_model_answers_when_one_is_down_and_the_line_says_so(
    home: Path, answering: HttpServer, down: HttpServer
) -> None:
    asked = golem("ask", "-m", BOTH, "hi", "--output-format", "json")
    assert asked.json["output"] == "Hello"
    assert "down for repairs" in asked.err
    assert "; asking openai-responses:gpt-5-mini" in asked.err
    saved = json.loads(Path(asked.json["file"]).read_text(encoding="utf-8"))
    assert (saved["model"], saved["runs"][0]["model"]) == (BOTH, "openai-responses:gpt-5-mini")


def test_a_conversation_goes_on_with_all_its_models(
    home: Path, answering: HttpServer, down: HttpServer
) -> None:
    first = golem("ask", "-m", BOTH, "hi", "--output-format", "json").json
    golem("resume", first["conversationId"], "-p", "again")
    assert len(down.requests) == 2
    assert len(answering.requests) == 2


def test_the_setting_names_several_models_too(
    home: Path, answering: HttpServer, down: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_MODEL", BOTH.replace(",", ", "))
    assert golem("ask", "hi").out == "Hello\n"


def test_every_name_must_be_one() -> None:
    assert "there is no provider grok" in golem("ask", "-m", "ollama:x,grok:y", "hi").error_line


def test_prices_give_the_cost_and_max_cost_bounds_it(
    home: Path, answering: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.toml").write_text(
        '[prices."openai-responses:gpt-5-mini"]\ninput = 100000\ncache_read = 10000\noutput = 200000\n'
    )
    asked = golem("ask", "-m", "openai-responses:gpt-5-mini", "hi", "--output-format", "json")
    assert asked.json["cost"] == pytest.approx(3 * 0.1 + 7 * 0.01 + 5 * 0.2)
    monkeypatch.setenv("GOLEM_MAX_COST", "1.3")
    bounded = golem("ask", "-m", "openai-responses:gpt-5-mini", "hi")
    assert bounded.code == 1
    assert "run exceeded the cost limit of 1.3 (used 1.37)" in bounded.error_line


def test_golem_config_shows_prices(home: Path) -> None:
    (home / "config.toml").write_text('[prices."openai:gpt-5-mini"]\ninput = 0.25\noutput = 2\n')
    assert golem("config", "--json").json["prices"] == {"openai:gpt-5-mini": {"input": 0.25, "output": 2.0}}
    assert "prices.openai:gpt-5-mini" in golem("config").out


def test_a_mistral_model_is_sent_what_mistral_takes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the whole way: a sample with tool calls is gone on with, and its strict server refuses nothing."""
    monkeypatch.setenv("MISTRAL_API_KEY", "k")
    sample = Path(__file__).parents[2] / "transcripts" / "tool-calls.json"
    with strict_server("mistral") as server:
        monkeypatch.setenv("MISTRAL_BASE_URL", server.url)
        asked = golem("resume", str(sample), "-m", "mistral:mistral-small-latest", "-p", "go on")
    assert asked.out == "Hello\n"


def test_the_responses_api_takes_the_key_and_address_that_are_set_for_openai(
    home: Path, answering: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    (home / "config.toml").write_text(
        f'[providers.openai]\nbase_url = "{answering.url}"\napi_key_command = "echo a-key"\n'
    )
    assert golem("ask", "-m", "openai-responses:gpt-5-mini", "hi").out == "Hello\n"
    assert answering.requests[0].headers["authorization"] == "Bearer a-key"
    assert answering.requests[0].path == "/responses"


def test_doctor_looks_at_every_model_that_is_set_and_at_the_prices(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_MODEL", "groq:x,grok:y")
    (home / "config.toml").write_text('[prices."opnai:z"]\ninput = 1\noutput = 1\n')
    done = golem("doctor", "--offline")
    assert "the model grok:y, from environment GOLEM_MODEL, has no known provider" in done.out
    assert '[prices."opnai:z"] is of no known provider' in done.out
