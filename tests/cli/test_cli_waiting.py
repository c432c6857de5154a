"""A run that waits for approval: no damage in one's own history, closed in history that others wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.core.run_status import INTERRUPTED, PENDING
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer

SAMPLE = Path(__file__).parents[2] / "transcripts" / "pending-approval.json"
NEUTRAL = (
    "Tool call was interrupted before execution; no result was produced. Call the tool again if you need "
    "its result."
)


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    with HttpServer([answer("On.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("GOLEM_MODEL", "openai:test")
        yield server


def listed_status(conversation_id: str) -> str:
    (status,) = (
        each["status"] for each in golem("list", "--json").json if each["conversationId"] == conversation_id
    )
    return str(status)


def test_the_fork_of_a_file_closes_what_waits_and_its_run_waits_no_more(home: Path) -> None:
    done = golem("fork", "--json", SAMPLE)
    assert "1 result added" in done.err
    assert "nothing waits for an answer in its copy (--trust lets it wait)" in done.err
    copy = Store(home / "golem").read(done.json["conversationId"])
    assert [message.role for message in copy.messages] == ["user", "assistant", "tool"]
    assert copy.messages[2].content == NEUTRAL
    assert (copy.runs[0].status, copy.runs[0].pending) == (INTERRUPTED, ())
    assert listed_status(copy.conversation_id) == INTERRUPTED
    assert golem("normalize", "--strict", copy.conversation_id).code == 0
    assert golem("sanitize", "--strict", copy.conversation_id).code == 0


def test_a_trusted_copy_waits_and_normalize_leaves_it_alone(home: Path) -> None:
    done = golem("fork", "--json", "--trust", SAMPLE)
    assert done.err == ""
    conversation_id = done.json["conversationId"]
    assert len(Store(home / "golem").read(conversation_id).messages) == 2
    assert listed_status(conversation_id) == PENDING
    checked = golem("normalize", "--strict", conversation_id)
    assert (checked.code, "pending-call" in checked.out) == (0, True)


def test_the_copy_that_resume_goes_on_with_says_where_it_stopped(server: HttpServer) -> None:
    done = golem("resume", "--prompt", "No, leave them.", SAMPLE)
    assert done.code == 0
    assert "nothing waits for an answer in its copy" in done.err
    assert "the last run was interrupted at a tool" in done.err
    messages = json.loads(server.requests[-1].body)["messages"]
    assert [(each["role"], each["content"]) for each in messages[-2:]] == [
        ("tool", NEUTRAL),
        ("user", "No, leave them."),
    ]


def test_a_look_at_the_file_says_what_becomes_of_the_call() -> None:
    said = golem("resume", "--no-run", SAMPLE).out
    assert "The last run waits for 1 answer." in said
    assert "Nothing waits for an answer in that copy; --trust lets it wait." in said
    trusted = golem("resume", "--no-run", "--trust", SAMPLE).out
    assert "Nothing waits" not in trusted


def test_sanitize_says_and_writes_that_the_run_waits_no_more(tmp_path: Path) -> None:
    file = tmp_path / "received.json"
    shutil.copy(SAMPLE, file)
    checked = golem("sanitize", "--check", file)
    assert checked.code == 1
    assert "waiting-run" in checked.out
    golem("sanitize", "-w", file)
    written = json.loads(file.read_text())
    assert [message["role"] for message in written["messages"]] == ["user", "assistant", "tool"]
    assert written["runs"][0]["status"] == INTERRUPTED
    assert "pending" not in written["runs"][0]
    assert golem("sanitize", "--check", file).code == 0


def test_a_run_that_claims_to_wait_for_a_call_that_is_not_there_waits_no_more(tmp_path: Path) -> None:
    file = tmp_path / "forged.json"
    text = SAMPLE.read_text().replace('"pending":["call_rm"]', '"pending":["made_up"]')
    file.write_text(text)
    golem("sanitize", "-w", file)
    golem("sanitize", "-o", tmp_path / "again.json", file)
    assert json.loads(file.read_text())["runs"][0]["status"] == INTERRUPTED
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
