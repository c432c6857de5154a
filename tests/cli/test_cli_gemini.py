"""The commands with a model of Gemini's, on a strict server: chosen, asked, gone on with, switched to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer
from tests.support.strict_gemini import strict_server

KEY = "AIza-never-to-be-shown"
FLASH = "gemini:gemini-3.8-flash"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with strict_server() as running:
        monkeypatch.setenv("GEMINI_BASE_URL", running.url)
        yield running


def bodies(server: HttpServer) -> list[Any]:
    """The requests for an answer; `models` asks for others."""
    return [json.loads(request.body) for request in server.requests if request.method == "POST"]


@pytest.mark.parametrize("variable", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_its_key_alone_chooses_it(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, KEY)
    listed = {row["name"]: row for row in golem("models", "--json").json}
    assert listed["gemini"]["reason"] == f"key from {variable}"
    assert listed["gemini"]["usable"]


def test_an_address_on_this_machine_alone_chooses_what_is_listed_there(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    listed = {row["name"]: row for row in golem("models", "--json").json}
    assert listed["gemini"]["models"] == ["gemini-3.8-flash"]
    assert golem("ask", "hi").error_line.startswith("golem: gemini:gemini-3.8-flash (127.0.0.1:")


def test_an_answer_is_kept_with_its_signature_and_the_model_that_signed_it(server: HttpServer) -> None:
    asked = golem("ask", "-m", FLASH, "hi", "--output-format", "json")
    assert asked.json["output"] == "Hello"
    assert asked.json["usage"]["inputTokens"] == 10
    saved = Path(asked.json["file"]).read_text(encoding="utf-8")
    [_, answer] = json.loads(saved)["messages"]
    assert answer["thinking"] == [
        {"text": "hm"},
        {"signature": "signed by gemini-3.8-flash", "after": [5, 0], "signs": 0},
    ]
    assert answer["signedBy"] == FLASH
    assert KEY not in saved


def test_the_next_prompt_sends_the_signature_back_and_another_model_does_not_get_it(
    server: HttpServer,
) -> None:
    for model in (FLASH, FLASH, "gemini:gemini-2.5-flash"):
        run = golem("ask", "-c", "-m", model, "more") if server.requests else golem("ask", "-m", model, "hi")
        assert (run.code, run.out.strip()) == (0, "Hello")
    signed = [
        [part for content in sent["contents"] for part in content["parts"] if "thoughtSignature" in part]
        for sent in bodies(server)
    ]
    assert signed == [[], [{"text": "", "thoughtSignature": "signed by gemini-3.8-flash"}], []]
    assert not any(KEY in request.path for request in server.requests)


def test_what_it_refuses_is_one_line_without_the_key(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_TEMPERATURE", "0.5")
    run = golem("ask", "-m", FLASH, "hi")
    assert run.code == 1
    assert "this model takes no temperature" in run.error_line
    assert server.requests == []


def test_a_signature_without_words_is_not_shown_as_thinking(server: HttpServer) -> None:
    golem("ask", "-m", FLASH, "hi")
    shown = golem("show").out
    assert "thinking: hm" in shown
    assert "redacted" not in shown
