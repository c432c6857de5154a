"""Servers that refuse, fail, hang or lie: one line each, no key in it, and a conversation that goes on."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.run_status import DONE, FAILED
from golem_cli.store.store import Store
from tests.support.chat_replies import answer, dropped
from tests.support.golem_runs import golem, golem_process
from tests.support.http_server import HttpServer, Reply, free_port

KEY = "sk-never-to-be-shown"
JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html"}


def refusal(status: int, message: str, **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}}).encode()
    return Reply(status=status, headers={**JSON, **headers}, body=body)


BAD = {
    "401": (refusal(401, f"Incorrect API key provided: {KEY}"), "401", ""),
    "404": (refusal(404, "The model test does not exist"), "does not exist", ""),
    "429": (refusal(429, "Slow down", **{"Retry-After": "0"}), "Slow down", ""),
    "500": (Reply(status=500, headers={"Retry-After": "0"}, body=b"oops"), "500", ""),
    "drop": (dropped("Hel"), "dropped", "Hel"),
    "reset": (Reply(headers={"Content-Type": "text/event-stream"}, end="reset"), "dropped", ""),
    "page": (Reply(headers=HTML, body=b"<html>Log in</html>"), "web page", ""),
    "502 page": (Reply(status=502, headers=HTML, body=b"<html>\x1b[2J</html>"), "web page", ""),
    "redirect": (Reply(status=302, headers={"Location": "https://evil.example/"}), "evil.example", ""),
    "nothing": (Reply(headers={"Content-Type": "text/event-stream"}), "dropped", ""),
    "another shape": (Reply(headers=JSON, body=b'{"hello": 1}'), "golem:", ""),
    "no JSON": (Reply(headers=JSON, body=b"{oh"), "golem:", ""),
}
"""Name → the reply, what the line says, and what had arrived. A 500 and the like are tried three times."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[HttpServer]:
    (home / "golem").mkdir()
    (home / "golem" / "config.toml").write_text("max_attempts = 1\n", encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with HttpServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


@pytest.mark.parametrize("name", BAD)
def test_a_bad_server_costs_one_line_and_the_conversation_goes_on(
    server: HttpServer, name: str, home: Path
) -> None:
    reply, said, arrived = BAD[name]
    server.reply(reply, answer("Better."))
    done = golem("ask", "-m", "openai:test", "hi")
    assert done.code == 1
    assert said in done.error_line
    assert KEY not in done.err
    assert "\x1b" not in done.err
    assert "Traceback" not in done.err
    assert done.out == (f"{arrived}\n" if arrived else "")
    store = Store(home / "golem")
    identity = store.ids()[0]
    assert f"golem resume {identity} goes on" in done.error_line
    failed = store.read(identity).runs[-1]
    assert (failed.status, failed.stage, failed.prompt) == (FAILED, "model", "hi")
    assert KEY not in store.path_of(identity).read_text(encoding="utf-8")

    again = golem("resume", identity, in_terminal=False)
    assert (again.code, again.out) == (0, "Better.\n")
    assert "the last run failed" in again.error_line
    expected = ["hi", arrived, "continue"] if arrived else ["hi"]
    assert [message["content"] for message in json.loads(server.requests[-1].body)["messages"]] == expected
    assert store.read(identity).runs[-1].status == DONE


def test_a_rate_limit_is_waited_for_and_said(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLEM_MAX_ATTEMPTS", "2")
    server.reply(refusal(429, "Slow down", **{"Retry-After": "0"}), answer("Now."))
    done = golem("ask", "-m", "openai:test", "hi")
    assert (done.code, done.out) == (0, "Now.\n")
    assert "Slow down; trying again in 0.0 s" in done.error_line


def test_a_port_where_nobody_listens_is_named(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.reply(answer())
    port = free_port()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    done = golem("ask", "-m", "openai:test", "hi")
    assert done.code == 1
    assert f"127.0.0.1:{port}" in done.error_line
    assert "cannot be reached" in done.error_line


@pytest.mark.usefixtures("server")
def test_a_name_that_does_not_resolve_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    for name in [each for each in os.environ if each.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://no-such-host.invalid/v1")
    done = golem("ask", "-m", "openai:test", "hi")
    assert done.code == 1
    assert "no-such-host.invalid" in done.error_line
    assert KEY not in done.err


def test_a_conversation_that_failed_is_listed_and_shown_as_such(server: HttpServer) -> None:
    server.reply(dropped("Hel"))
    golem("ask", "-m", "openai:test", "hi")
    assert [(one["status"], one["messages"]) for one in golem("list", "--json").json] == [("failed", 2)]
    shown = golem("show").out
    assert "failed at stage model" in shown
    assert "1 user\nhi\n\n2 assistant (interrupted)\nHel\n" in shown


def test_the_real_program_says_one_line_too(server: HttpServer) -> None:
    server.reply(BAD["401"][0])
    done = golem_process("ask", "-m", "openai:test", "hi")
    assert (done.code, done.raw) == (1, b"")
    assert KEY not in done.error_line


def test_an_address_that_is_none_names_what_said_it(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    (home / "golem").mkdir()
    settings = home / "golem" / "config.toml"
    settings.write_text('[providers.groq]\nbase_url = "ftp://x"\n', encoding="utf-8")
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    monkeypatch.setenv("GOLEM_BASE_URL", "nonsense")
    for model, source in (("generic:x", "GOLEM_BASE_URL"), ("groq:x", "base_url in the settings file")):
        done = golem("ask", "-m", model, "hi")
        assert done.code == 2
        assert done.error_line.startswith(f"golem: {source}: the base URL ")


def test_models_and_doctor_know_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    monkeypatch.setenv("GROQ_BASE_URL", "http://127.0.0.1:99999/v1")
    said = "GROQ_BASE_URL: the base URL 'http://127.0.0.1:99999/v1' has a port that cannot be one"
    (groq,) = (line for line in golem("models").out.splitlines() if "groq" in line)
    assert groq.split()[0] == "no"
    assert said in groq
    assert said in golem("doctor", "--offline").out
