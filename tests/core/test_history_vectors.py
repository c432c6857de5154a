"""The recorded vectors and the cases from public bug reports, replayed exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golem_cli.core.codec import load_messages
from golem_cli.core.errors import ProcessorError
from golem_cli.core.history import UnsafePart, normalize_history, repair, sanitize_history, trim_history
from golem_cli.core.message import Message

VECTORS = Path(__file__).parents[1] / "conformance"
REPAIR = json.loads((VECTORS / "repair.json").read_text(encoding="utf-8"))
TRIM = json.loads((VECTORS / "trim.json").read_text(encoding="utf-8"))
CASES = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((VECTORS / "cases").glob("*.json"))]


def messages_of(values: list[dict[str, Any]]) -> list[Message]:
    return load_messages(json.dumps(values))


def cases_of(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["shape"]) for case in CASES if case["kind"] == kind]


@pytest.mark.parametrize("vector", REPAIR, ids=lambda vector: vector["name"])
def test_repair_gives_what_the_vector_records(vector: dict[str, Any]) -> None:
    history, expected = messages_of(vector["in"]), messages_of(vector["out"])
    messages, report = normalize_history(history)
    assert messages == expected
    assert repair(history) == expected
    assert report.synthesized == vector["synthesized"]
    assert report.dropped == vector["dropped"]


@pytest.mark.parametrize("vector", TRIM, ids=lambda vector: vector["name"])
def test_trim_gives_what_the_vector_records(vector: dict[str, Any]) -> None:
    trim = trim_history(vector["maxMessages"])
    if "error" in vector:
        with pytest.raises(ProcessorError):
            trim(messages_of(vector["in"]))
    else:
        assert trim(messages_of(vector["in"])) == messages_of(vector["out"])


@pytest.mark.parametrize("case", cases_of("normalize"))
def test_normalize_gives_what_the_case_expects(case: dict[str, Any]) -> None:
    expect = case["expect"]
    messages, report = normalize_history(messages_of(case["transcript"]))
    assert messages == messages_of(expect["messages"])
    assert report.synthesized == expect["synthesized"]
    assert report.dropped == expect["dropped"]
    assert report.truncated == expect["truncated"]
    assert report.displaced == expect["displaced"]


@pytest.mark.parametrize("case", cases_of("sanitize"))
def test_sanitize_gives_what_the_case_expects(case: dict[str, Any]) -> None:
    expect = case["expect"]
    messages, report = sanitize_history(messages_of(case["transcript"]))
    assert messages == messages_of(expect["messages"])
    assert report.system_prompts == expect["systemPrompts"]
    assert report.unknown_roles == expect["unknownRoles"]
    assert report.unsafe_parts == [
        UnsafePart(message_index=part["messageIndex"], kind=part["kind"], scheme=part["scheme"])
        for part in expect["unsafeParts"]
    ]
    assert report.repair.synthesized == expect["synthesized"]
    assert report.repair.dropped == expect["dropped"]
    assert report.repair.truncated == expect["truncated"]
    assert report.repair.displaced == expect["displaced"]
