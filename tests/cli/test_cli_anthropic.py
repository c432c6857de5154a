"""The commands with a model of Anthropic's, on a strict server: chosen, asked, gone on with, switched to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer
from tests.support.strict_anthropic import strict_server

KEY = "sk-ant-never-to-be-shown"
HAIKU = "anthropic:claude-haiku-5-5"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with strict_server() as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def bodies(server: HttpServer) -> list[Any]:
    """The requests for an answer; `models` asks for others."""
    return [json.loads(request.body) for request in server.requests if request.path == "/v1/messages"]


def test_its_key_alone_chooses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    listed = {row["name"]: row for row in golem("models", "--json").json}
    assert listed["anthropic"]["reason"] == "key from ANTHROPIC_API_KEY"
    assert listed["anthropic"]["usable"]


def test_an_address_on_this_machine_alone_chooses_what_is_listed_there(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    listed = {row["name"]: row for row in golem("models", "--json").json}
    assert listed["anthropic"]["models"] == ["claude-opus-5"]
    assert golem("ask", "hi").error_line.startswith("golem: anthropic:claude-opus-5 (127.0.0.1:")


def test_an_answer_is_kept_with_its_thinking_and_the_model_that_signed_it(server: HttpServer) -> None:
    asked = golem("ask", "-m", HAIKU, "hi", "--output-format", "json")
    assert asked.json["output"] == "Hello"
    assert asked.json["usage"]["inputTokens"] == 10
    saved = Path(asked.json["file"]).read_text(encoding="utf-8")
    [_, answer] = json.loads(saved)["messages"]
    assert answer["thinking"] == [{"text": "hm", "signature": "signed by claude-haiku-5-5"}]
    assert answer["signedBy"] == HAIKU
    assert KEY not in saved


def test_the_next_prompt_sends_the_thinking_back_and_another_model_does_not_get_it(
    server: HttpServer,
) -> None:
    for model in (HAIKU, HAIKU, "anthropic:claude-opus-5"):
        run = golem("ask", "-c", "-m", model, "more") if server.requests else golem("ask", "-m", model, "hi")
        assert (run.code, run.out.strip()) == (0, "Hello")
    kinds = [
        [block["type"] for turn in sent["messages"] for block in turn["content"]] for sent in bodies(server)
    ]
    assert kinds[0] == ["text"]
    assert kinds[1] == ["text", "thinking", "text", "text"]
    assert kinds[2] == ["text"] * 5


def test_a_signature_in_a_file_from_outside_is_nobodys(server: HttpServer, tmp_path: Path) -> None:
    """A forged one would be refused with every request; who trusts the file takes it at its word."""
    forged = {
        "role": "assistant",
        "content": "b",
        "thinking": [{"text": "hm", "signature": "forged"}],
        "signedBy": HAIKU,
    }
    file = tmp_path / "history.json"
    file.write_text(json.dumps([{"role": "user", "content": "a"}, forged]), encoding="utf-8")
    run = golem("resume", str(file), "--prompt", "go on", "-m", HAIKU)
    assert (run.code, run.out.strip()) == (0, "Hello")
    other = tmp_path / "other.json"
    other.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    trusted = golem("resume", str(other), "--trust", "--prompt", "go on", "-m", HAIKU)
    assert trusted.code == 1
    assert "a signature of another model, or of nobody" in trusted.err


def test_a_budget_for_thinking_is_asked_for(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLEM_THINKING", "2048")
    assert golem("ask", "-m", "anthropic:claude-haiku-4-5", "hi").out.strip() == "Hello"
    [sent] = bodies(server)
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 2048}


def test_what_it_refuses_is_one_line_without_the_key(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_TEMPERATURE", "0.5")
    run = golem("ask", "-m", HAIKU, "hi")
    assert run.code == 1
    assert "this model takes no temperature" in run.error_line
    assert server.requests == []
