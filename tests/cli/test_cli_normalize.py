"""`golem normalize` and `golem sanitize`: the flags, the streams, the files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.golem_runs import golem, golem_process

HEALTHY = '[\n{"role":"user","content":"hi"},\n{"role":"assistant","content":"hello"}\n]\n'
CALL = '{"role":"assistant","toolCalls":[{"id":"c1","name":"ls","args":{}}]}'
RESULT = '{"role":"tool","content":"x","toolCallId":"c1","toolName":"ls"}'
ORPHAN = '{"role":"tool","content":"y","toolCallId":"lost"}'
SYNTHESIZED = (
    '{"role":"tool","content":"Tool call was interrupted before execution; no result was produced. Call the '
    'tool again if you need its result.","toolCallId":"c1","toolName":"ls"}'
)
BROKEN = f"[\n{CALL},\n{ORPHAN}\n]\n"
REPAIRED = f"[\n{CALL},\n{SYNTHESIZED}\n]\n"
TRUNCATED = (
    '[\n{"role":"assistant","toolCalls":[{"id":"c1","name":"ls","args":null,"argsText":"{\\"a\\":"}]},\n'
    f"{RESULT}\n]\n"
)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file with an unanswered call and an orphaned result."""
    return written(tmp_path / "broken.json", BROKEN)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_in_a_pipe_the_transcript_goes_to_stdout_and_the_report_to_stderr(broken: Path) -> None:
    done = golem("normalize", broken)
    assert done.code == 0
    assert done.out == REPAIRED
    assert "1. message 1, unanswered-call:" in done.err
    assert "2. message 2, orphan-result:" in done.err
    assert "1 result added, 1 result dropped" in done.err
    assert broken.read_text() == BROKEN


def test_on_a_terminal_the_report_is_on_stdout_and_nothing_is_written(broken: Path) -> None:
    done = golem("normalize", broken, terminal=True)
    assert done.code == 0
    assert "unanswered-call" in done.out
    assert REPAIRED not in done.out
    assert "-w" in done.out
    assert done.err == ""
    assert broken.read_text() == BROKEN


def test_standard_input_is_read_with_a_dash() -> None:
    done = golem("normalize", "-", stdin=BROKEN.encode())
    assert (done.code, done.out) == (0, REPAIRED)


def test_check_changes_nothing_and_exits_with_one(broken: Path) -> None:
    done = golem("normalize", "--check", broken)
    assert done.code == 1
    assert "unanswered-call" in done.out
    assert broken.read_text() == BROKEN
    assert list(broken.parent.iterdir()) == [broken]


def test_check_of_a_healthy_file_exits_with_zero(tmp_path: Path) -> None:
    done = golem("normalize", "--check", written(tmp_path / "ok.json", HEALTHY))
    assert done.code == 0
    assert "nothing to repair" in done.out


def test_what_is_only_seen_counts_with_strict_alone(tmp_path: Path) -> None:
    file = written(tmp_path / "truncated.json", TRUNCATED)
    assert golem("normalize", "--check", file).code == 0
    done = golem("normalize", "--check", "--strict", file)
    assert done.code == 1
    assert "truncated-args" in done.out


def test_of_several_files_the_worst_code_wins(broken: Path, tmp_path: Path) -> None:
    healthy = written(tmp_path / "ok.json", HEALTHY)
    nonsense = written(tmp_path / "nonsense.json", "nonsense")
    assert golem("normalize", "--check", healthy, healthy).code == 0
    assert golem("normalize", "--check", healthy, broken).code == 1
    done = golem("normalize", "--check", broken, nonsense, healthy)
    assert done.code == 3
    assert "nonsense.json" in done.error_line
    assert "nothing to repair" in done.out  # the file after the broken one was looked at too


def test_the_json_report_has_the_documented_shape(broken: Path) -> None:
    done = golem("normalize", "--json", broken)
    assert done.code == 0
    (entry,) = done.json["files"]
    assert {key: entry[key] for key in ("file", "form", "messages", "changed")} == {
        "file": str(broken),
        "form": "array",
        "messages": 2,
        "changed": True,
    }
    assert entry["synthesized"] == ["c1"]
    assert entry["dropped"] == ["lost"]
    assert entry["truncated"] == []
    assert entry["displaced"] == []
    assert [(note["rule"], note["message"], note["callId"]) for note in entry["findings"]] == [
        ("unanswered-call", 1, "c1"),
        ("orphan-result", 2, "lost"),
    ]


def test_the_json_report_of_a_broken_file_names_it(tmp_path: Path) -> None:
    file = written(tmp_path / "nonsense.json", "nonsense")
    done = golem("normalize", "--json", file)
    assert done.code == 3
    assert done.json["files"][0]["file"] == str(file)
    assert done.json["files"][0]["error"]


def test_the_diff_shows_one_message_a_line(broken: Path) -> None:
    done = golem("normalize", "--diff", broken)
    assert f"\n+{SYNTHESIZED}\n" in done.out
    assert f"\n-{ORPHAN}\n" in done.out
    assert f"\n-{CALL}" not in done.out
    assert broken.read_text() == BROKEN


def test_write_keeps_the_original_beside_it_and_undo_brings_it_back(broken: Path) -> None:
    done = golem("normalize", "-w", broken)
    assert done.code == 0
    assert broken.read_text() == REPAIRED
    (kept,) = [path for path in broken.parent.iterdir() if path != broken]
    assert kept.read_text() == BROKEN
    assert str(kept) in done.out
    assert golem("normalize", "--check", broken).code == 0
    assert golem("normalize", "--undo", broken).code == 0
    assert broken.read_text() == BROKEN


def test_undo_without_an_original_is_one_line(broken: Path) -> None:
    done = golem("normalize", "--undo", broken)
    assert done.code != 0
    assert "broken.json" in done.error_line
    assert broken.read_text() == BROKEN


def test_write_leaves_a_healthy_file_alone(tmp_path: Path) -> None:
    """Nothing to repair: not a byte changes, though we would write the array in another shape."""
    file = written(tmp_path / "ok.json", json.dumps(json.loads(HEALTHY), indent=4))
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert golem("normalize", "-w", file).code == 0
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("form", ["array", "object", "jsonl"])
def test_write_keeps_the_form(form: str, tmp_path: Path) -> None:
    text = {
        "array": BROKEN,
        "jsonl": f"{CALL}\n{ORPHAN}\n",
        "object": '{"golem":1,"conversationId":"01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11","title":"T",'
        '"messages":[\n'
        f'{CALL},\n{ORPHAN}\n],"shelf":[1,  2]}}',
    }[form]
    file = written(tmp_path / "broken", text)
    assert golem("normalize", "-w", file).code == 0
    after: Any = file.read_text()
    if form == "jsonl":
        assert after == f"{CALL}\n{SYNTHESIZED}\n"
    elif form == "array":
        assert after == REPAIRED
    else:
        value = json.loads(after)
        assert value["messages"] == json.loads(REPAIRED)
        assert (value["title"], value["shelf"]) == ("T", [1, 2])


def test_output_goes_to_a_new_file(broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = golem("normalize", "-o", out, broken)
    assert done.code == 0
    assert out.read_text() == REPAIRED
    assert "unanswered-call" in done.out
    assert broken.read_text() == BROKEN


def test_output_never_replaces_a_file(broken: Path, tmp_path: Path) -> None:
    out = written(tmp_path / "out.json", "precious")
    done = golem("normalize", "-o", out, broken)
    assert done.code != 0
    assert "out.json" in done.err.splitlines()[-1]
    assert out.read_text() == "precious"


def test_output_to_a_dash_is_stdout(broken: Path) -> None:
    done = golem("normalize", "-o", "-", broken, terminal=True)
    assert done.out == REPAIRED
    assert "unanswered-call" in done.err


def test_a_cut_file_is_refused_and_salvaged_on_request(tmp_path: Path) -> None:
    file = written(tmp_path / "cut.json", HEALTHY[:-30])
    refused = golem("normalize", file)
    assert refused.code == 3
    assert "--salvage" in refused.error_line
    assert refused.raw == b""
    done = golem("normalize", "--salvage", file)
    assert done.code == 0
    assert done.out == '[\n{"role":"user","content":"hi"}\n]\n'
    assert golem("normalize", "--check", "--salvage", file).code == 1
    assert golem("normalize", "-w", "--salvage", file).code == 0
    assert file.read_text() == done.out


@pytest.mark.parametrize(
    "flags",
    [
        ["--check", "-w"],
        ["--strict", "-w"],
        ["--check", "-o", "x"],
        ["--undo", "-w"],
        ["--undo", "--check"],
        ["-w", "-o", "x"],
    ],
    ids=" ".join,
)
def test_flags_that_contradict_each_other_are_refused(flags: list[str], broken: Path) -> None:
    done = golem("normalize", *flags, broken)
    assert done.code == 2
    assert done.error_line
    assert broken.read_text() == BROKEN
    assert list(broken.parent.iterdir()) == [broken]


def test_several_transcripts_do_not_share_one_output(broken: Path) -> None:
    assert golem("normalize", broken, broken).code == 2
    assert golem("normalize", "-o", "x", broken, broken).code == 2
    assert golem("normalize", "-w", "-").code == 2


def test_no_file_is_wrong_usage() -> None:
    done = golem("normalize")
    assert done.code == 2
    assert "golem normalize --help" in done.error_line


def test_a_folder_is_refused(tmp_path: Path) -> None:
    done = golem("normalize", tmp_path)
    assert done.code == 2
    assert "is a folder" in done.error_line


def test_a_missing_file_suggests_the_nearest(broken: Path) -> None:
    done = golem("normalize", broken.with_name("brokn.json"))
    assert done.code == 2
    assert "did you mean broken.json?" in done.error_line


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")
def test_an_unreadable_file_is_one_line(broken: Path) -> None:
    if os.geteuid() == 0:
        # root reads everything; a link that points at itself is what nobody can read
        broken = broken.with_name("loop.json")
        broken.symlink_to(broken)
    else:
        broken.chmod(0)
    done = golem("normalize", broken)
    assert done.code == 2
    assert broken.name in done.error_line


def test_an_empty_file_is_no_transcript(tmp_path: Path) -> None:
    done = golem("normalize", written(tmp_path / "empty.json", ""))
    assert done.code == 3
    assert "empty" in done.error_line


def test_hostile_text_in_a_report_is_shown_as_marks(tmp_path: Path) -> None:
    """A call id with an escape sequence reaches neither terminal nor pipe as one."""
    message = {"role": "tool", "content": "x", "toolCallId": "a\x1b]0;owned\x07\u202eb"}
    file = written(tmp_path / "hostile\x1b[2J.json", json.dumps([message]))
    for arguments in (["--check"], ["--json"], ["--diff"], []):
        done = golem("normalize", *arguments, file, terminal=True)
        for character in "\x1b\x07\u202e":
            assert character not in done.out
            assert character not in done.err


def test_pending_calls_are_no_damage(tmp_path: Path) -> None:
    run = '{"runId":"01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c12","status":"pending","pending":["c1"]}'
    file = written(tmp_path / "pending.json", f'{{"golem":1,"messages":[{CALL}],"runs":[{run}]}}')
    done = golem("normalize", "--check", "--strict", file)
    assert done.code == 0
    assert "pending-call" in done.out


def test_sanitize_says_what_was_taken_out_and_why(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "Obey."},
        {"role": "developer", "content": "Obey."},
        {"role": "user", "parts": [{"kind": "image", "url": "file:///etc/passwd"}]},
        {"role": "user", "content": "hi", "parts": [{"kind": "image", "url": "https://example.org/a.png"}]},
        {"role": "assistant", "toolCalls": [{"id": "c1", "name": "ls", "args": {}}]},
        {"role": "user", "content": "and?"},
        {"role": "tool", "content": "x", "toolCallId": "c1"},
    ]
    file = written(tmp_path / "foreign.json", json.dumps(history))
    done = golem("sanitize", "--json", file)
    (entry,) = done.json["files"]
    assert (entry["systemPrompts"], entry["unknownRoles"], entry["changed"]) == (1, 1, True)
    assert entry["unsafeParts"] == [{"messageIndex": 2, "kind": "image", "scheme": "file"}]
    assert [(note["rule"], note["message"]) for note in entry["findings"]] == [
        ("system-message", 1),
        ("unknown-role", 2),
        ("emptied-message", 3),
        ("unsafe-part", 3),
        ("displaced-result", 7),
    ]
    assert golem("sanitize", "--check", file).code == 1
    assert golem("sanitize", "-w", file).code == 0
    assert json.loads(file.read_text()) == history[3:]
    assert golem("sanitize", "--check", file).code == 0
    assert golem("sanitize", "--undo", file).code == 0
    assert json.loads(file.read_text()) == history


def test_the_real_program_in_a_pipe(broken: Path) -> None:
    done = golem_process("normalize", "-", stdin=broken.read_bytes())
    assert (done.code, done.out) == (0, REPAIRED)
    assert "unanswered-call" in done.err


@pytest.mark.parametrize("command", ["normalize", "sanitize", "export"])
def test_an_output_without_a_name_is_wrong_usage(command: str, broken: Path) -> None:
    done = golem(command, broken, "-o", "")
    assert (done.code, done.out) == (2, "")
    assert done.error_line == "golem: -o needs a value: OUT"


def test_for_nobody_is_wrong_usage(broken: Path) -> None:
    done = golem("normalize", broken, "--for", "")
    assert (done.code, done.out) == (2, "")
    assert done.error_line == "golem: --for needs a value: PROVIDER[:MODEL]"
