"""`golem normalize --for`: what a provider would refuse, said without a key and without a network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golem_cli.providers.services import SERVICES
from tests.support.golem_runs import golem

FOREIGN = (
    '[\n{"role":"user","content":"hi"},\n'
    '{"role":"assistant","content":"hello","thinking":[{"text":"hm","signature":"s"}],"signedBy":"gemini:g"}\n]\n'
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A sound transcript with thinking that a model of Gemini signed."""
    path = tmp_path / "foreign.json"
    path.write_text(FOREIGN)
    return path


def test_a_finding_is_numbered_with_the_others_and_the_file_stays(foreign: Path) -> None:
    done = golem("normalize", "--for", "anthropic:claude-opus-4-8", foreign, terminal=True)
    assert done.code == 0
    assert "  1. message 2, foreign-signature: thinking of 'gemini:g' stays behind" in done.out
    assert (
        "for anthropic:claude-opus-4-8: 1 thing left out or reshaped in requests, none in the file"
        in done.out
    )
    assert foreign.read_text() == FOREIGN


def test_in_a_pipe_the_transcript_is_still_the_only_thing_on_stdout(foreign: Path) -> None:
    done = golem("normalize", "--for", "openai", foreign)
    assert done.out == FOREIGN
    assert "unsent-thinking" in done.err


def test_what_the_provider_takes_as_it_is_is_said_too(foreign: Path) -> None:
    done = golem("normalize", "--check", "--strict", "--for", "gemini:g", foreign, terminal=True)
    assert (done.code, "for gemini:g: everything is sent as it is" in done.out) == (0, True)


def test_check_counts_what_repair_would_change_and_strict_counts_what_the_provider_minds(
    foreign: Path,
) -> None:
    assert golem("normalize", "--check", "--for", "anthropic", foreign).code == 0
    assert golem("normalize", "--check", "--strict", "--for", "anthropic", foreign).code == 1
    assert golem("normalize", "--check", "--strict", foreign).code == 0


def test_json_has_the_findings_beside_those_of_the_repair(foreign: Path) -> None:
    done = golem("normalize", "--json", "--for", "anthropic:claude-opus-4-8", foreign)
    (entry,) = done.json["files"]
    assert entry["for"] == "anthropic:claude-opus-4-8"
    assert [(each["rule"], each["message"]) for each in entry["findings"]] == [("foreign-signature", 2)]
    assert entry["changed"] is False
    assert "for" not in golem("normalize", "--json", foreign).json["files"][0]


def test_without_a_model_the_conversations_own_is_meant_or_the_providers_usual_one(
    tmp_path: Path, foreign: Path
) -> None:
    file = tmp_path / "conversation.json"
    messages = json.loads(FOREIGN)
    messages[1]["signedBy"] = "gemini:mine"
    file.write_text(
        json.dumps({"golem": 1, "conversationId": "c", "model": "gemini:mine", "messages": messages})
    )
    done = golem("normalize", "--json", "--for", "gemini", file, foreign)
    assert [entry["for"] for entry in done.json["files"]] == ["gemini:mine", "gemini:gemini-3.5-flash-lite"]
    assert done.json["files"][0]["findings"] == []


def test_a_provider_that_there_is_not_is_one_line_that_names_those_there_are(foreign: Path) -> None:
    done = golem("normalize", "--for", "antropic", foreign, foreign)
    assert done.code == 2
    assert done.out == ""
    assert "there is no provider 'antropic'" in done.error_line
    assert all(name in done.error_line for name in ["local", *(service.name for service in SERVICES)])


def test_undo_takes_no_provider(foreign: Path) -> None:
    assert golem("normalize", "--undo", "--for", "openai", foreign).code == 2
