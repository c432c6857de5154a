"""`--raw-output`: control characters as they are, in a pipe, with a warning; refused on a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.chat_replies import answer
from tests.support.golem_runs import golem, golem_process
from tests.support.http_server import HttpServer

TEXT: Final = "a\x1b[31mb\u202ec\r\nd"
WARNING: Final = "golem: --raw-output writes control characters as they are; show them to no terminal"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "it.json"
    path.write_text(json.dumps([{"role": "user", "content": TEXT}]), encoding="utf-8")
    return path


def test_ask_writes_the_answer_as_it_came() -> None:
    pieces = [TEXT[:2], TEXT[2:11], TEXT[11:]]
    with HttpServer().reply(answer(*pieces)) as server:
        variables = {"OPENAI_BASE_URL": f"{server.url}/v1"}
        marked = golem_process("-m", "openai:test", "-p", "hi", variables=variables)
        raw = golem_process("-m", "openai:test", "-p", "hi", "--raw-output", variables=variables)
    assert marked.out == "a⟦U+001B⟧[31mb⟦U+202E⟧c\nd\n"
    assert marked.err == ""
    assert raw.raw == f"{TEXT}\n".encode()
    assert raw.err.splitlines() == [WARNING]


def test_show_writes_a_message_as_it_is(transcript: Path) -> None:
    assert TEXT.encode() not in golem("show", transcript, "1").raw
    done = golem("show", transcript, "1", "--raw-output")
    assert TEXT.encode() in done.raw
    assert done.error_line == WARNING


@pytest.mark.parametrize("arguments", [["show"], ["ask", "hi"], ["resume", "--no-run"]])
def test_a_terminal_is_refused(transcript: Path, arguments: list[str]) -> None:
    command, *rest = arguments
    last = [] if command == "ask" else [transcript]
    done = golem(command, "--raw-output", *rest, *last, terminal=True)
    assert (done.code, done.raw) == (2, b"")
    assert "--raw-output is for pipes and files" in done.error_line
