"""The sample transcripts: each is what its table says, before and after `-w`."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.support.golem_runs import golem, golem_process

SAMPLES: Final = Path(__file__).parents[2] / "transcripts"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What `normalize` says of a sample."""

    form: str = "array"
    messages: int
    synthesized: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    truncated: list[str] = field(default_factory=list)
    displaced: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    check: int = 0
    strict: int = 0


EXPECTED: Final = {
    "healthy-chat.json": Expected(form="object", messages=4),
    "tool-calls.json": Expected(messages=9),
    "interrupted-batch.json": Expected(
        messages=5,
        synthesized=["call_test", "call_type", "call_type2"],
        rules=["unanswered-call"] * 3,
        check=1,
        strict=1,
    ),
    "orphaned-results.json": Expected(
        messages=9,
        dropped=["call_readme", "call_log", ""],
        rules=["orphan-result", "duplicate-result", "result-without-id"],
        check=1,
        strict=1,
    ),
    "truncated-arguments.json": Expected(
        messages=8,
        synthesized=["call_write"],
        truncated=["call_write", "call_ls"],
        rules=["unanswered-call", "truncated-args", "truncated-args"],
        check=1,
        strict=1,
    ),
    "displaced-result.json": Expected(
        messages=5, displaced=["call_backup"], rules=["displaced-result"], strict=1
    ),
    "lines.jsonl": Expected(
        form="jsonl", messages=8, synthesized=["call_0"], rules=["unanswered-call"], check=1, strict=1
    ),
    "go-array.json": Expected(messages=5, rules=["system-message"], strict=1),
    "failed-run.json": Expected(form="object", messages=2),
    "pending-approval.json": Expected(form="object", messages=2, rules=["pending-call"]),
    "hostile.json": Expected(
        messages=10,
        dropped=["call_never_made"],
        rules=["system-message", "unknown-role", "system-message", "orphan-result"],
        check=1,
        strict=1,
    ),
}
CUT: Final = "cut-off.json"


@pytest.fixture
def sample(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of the sample that the test is for."""
    return Path(shutil.copy(SAMPLES / request.param, tmp_path / request.param))


def test_every_sample_is_replayed_and_named_in_the_table() -> None:
    names = {path.name for path in SAMPLES.iterdir()} - {"README.md"}
    assert names == {*EXPECTED, CUT}
    table = (SAMPLES / "README.md").read_text(encoding="utf-8")
    for name in names:
        assert f"| `{name}` |" in table


@pytest.mark.parametrize(("sample", "expected"), EXPECTED.items(), ids=EXPECTED, indirect=["sample"])
def test_the_report_of_a_sample(sample: Path, expected: Expected) -> None:
    entry = golem("normalize", "--json", sample).json["files"][0]
    assert (entry["form"], entry["messages"]) == (expected.form, expected.messages)
    assert entry["synthesized"] == expected.synthesized
    assert entry["dropped"] == expected.dropped
    assert entry["truncated"] == expected.truncated
    assert entry["displaced"] == expected.displaced
    assert [note["rule"] for note in entry["findings"]] == expected.rules
    assert entry["changed"] == bool(expected.synthesized or expected.dropped)


@pytest.mark.parametrize(("sample", "expected"), EXPECTED.items(), ids=EXPECTED, indirect=["sample"])
def test_check_write_check_undo(sample: Path, expected: Expected) -> None:
    """Before the repair the code is the table's, after it 0; undo brings the very bytes back."""
    original = sample.read_bytes()
    assert golem("normalize", "--check", sample).code == expected.check
    assert golem("normalize", "--check", "--strict", sample).code == expected.strict
    assert golem("normalize", "-w", sample).code == 0
    assert golem("normalize", "--check", sample).code == 0
    if expected.check:
        assert sample.read_bytes() != original
        assert golem("normalize", "--undo", sample).code == 0
    assert sample.read_bytes() == original


@pytest.mark.parametrize("sample", EXPECTED, indirect=True)
def test_a_sanitized_sample_passes_the_check(sample: Path) -> None:
    assert golem("sanitize", "-w", sample).code == 0
    assert golem("sanitize", "--check", sample).code == 0
    assert golem("normalize", "--check", sample).code == 0


@pytest.mark.parametrize("sample", [name for name, e in EXPECTED.items() if not e.check], indirect=True)
def test_a_healthy_sample_goes_through_a_pipe_as_the_same_value(sample: Path) -> None:
    done = golem_process("normalize", "-", stdin=sample.read_bytes())
    assert done.code == 0
    assert json.loads(done.raw) == json.loads(sample.read_bytes())


def test_what_sanitize_takes_out_of_the_hostile_sample() -> None:
    entry = golem("sanitize", "--json", SAMPLES / "hostile.json").json["files"][0]
    assert (entry["systemPrompts"], entry["unknownRoles"]) == (2, 1)
    assert [(part["messageIndex"], part["scheme"]) for part in entry["unsafeParts"]] == [
        (2, "file"),
        (5, "javascript"),
    ]
    assert entry["dropped"] == ["call_never_made"]


@pytest.mark.parametrize("command", ["show", "normalize", "sanitize"])
def test_nothing_hostile_reaches_a_terminal(command: str) -> None:
    """No control, bidi or tag character of the hostile sample is in what is written to a terminal."""
    for arguments in ([], ["--json"], ["--diff"] if command != "show" else ["4"]):
        done = golem(command, SAMPLES / "hostile.json", *arguments, terminal=True)
        assert done.code == 0
        assert "\x1b[8m" not in done.out  # the sample's own: conceal
        shown = re.sub(r"\x1b\[[0-9;]*m", "", done.out + done.err)  # ours: colours
        assert not {c for c in shown if (not c.isprintable() and c != "\n") or ord(c) > 0xE0000}


def test_the_cut_sample_is_refused_and_salvaged(tmp_path: Path) -> None:
    sample = Path(shutil.copy(SAMPLES / CUT, tmp_path / CUT))
    original = sample.read_bytes()
    done = golem("normalize", "--check", sample)
    assert done.code == 3
    assert "2 whole messages" in done.error_line
    assert "--salvage" in done.error_line
    assert golem("normalize", "-w", sample).code == 3
    assert sample.read_bytes() == original
    assert golem("normalize", "--check", "--salvage", sample).code == 1
    assert golem("normalize", "-w", "--salvage", sample).code == 0
    assert golem("normalize", "--check", sample).code == 0
    assert len(json.loads(sample.read_bytes())) == 2
    assert golem("normalize", "--undo", sample).code == 0
    assert sample.read_bytes() == original


def test_normalize_show_and_list_count_the_messages_of_a_stopped_run_alike() -> None:
    sample = SAMPLES / "failed-run.json"
    said = golem("normalize", "--check", sample).out
    assert "object, 4 messages, 2 of them in the record of a stopped run" in said
    assert golem("show", sample).out.splitlines()[0].endswith(", 4 messages")
    golem("fork", sample)
    (listed,) = golem("list", "--json").json
    assert listed["messages"] == 4
    assert "object, 4 messages, 2 of them" in golem("normalize", listed["conversationId"], terminal=True).out
