"""Every `load` case of the conformance data through the command line: one line, a code, no harm."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.golem_runs import golem

CASES: Final = Path(__file__).parents[1] / "conformance" / "cases"
LOAD: Final = {
    path.stem: case
    for path in sorted(CASES.glob("*.json"))
    if (case := json.loads(path.read_text(encoding="utf-8")))["kind"] == "load"
}

# What the semantics page says of each: refused (and what the line must name), or read.
REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "112-jsonl-instead-of-array": ("line 3",),
    "113-clean-jsonl": ("2 whole messages", "--salvage"),
    "116-only-whitespace-or-nul": ("byte 0",),
    "117-nul-block-mid-file": ("byte 71",),
    "120-two-arrays-glued": ("only one JSON value",),
    "121-truncated-record-then-full-record": ("message 1", "line 1"),
    "123-raw-newline-in-string": ("message 1", "line 1"),
    "130-bare-nan-in-args": ("message 2", "args"),
    "135-deeply-nested-content-position": (),
    "136-wrapper-object": ("messages", "array"),
    "137-content-is-array-or-object": ("message 1", "content"),
    "139-provider-style-tool-calls": ("message 1", "tool_calls", "OpenAI"),
    "141-duplicate-role-key": ("message 1", "role"),
    "146-message-without-role": ("message 2", "role"),
}
READ: Final[dict[str, list[str]]] = {
    "126-crlf-lines": [],
    "127-utf16-le": [],
    "128-non-ascii-under-c-locale": [],
    "131-overflowing-number-in-args": [],
    "132-big-integers-keep-digits": [],
    "133-args-key-order-and-duplicates": [],
    "138-null-fields": ["empty-message", "empty-message", "result-without-id"],
    "140-developer-and-odd-roles": ["unknown-role"] * 5,
    "145-null-id-and-empty-name": ["call-without-id", "result-without-id"],
}


def written(name: str, folder: Path) -> Path:
    case: dict[str, Any] = LOAD[name]
    data = base64.b64decode(case["rawBase64"]) if "rawBase64" in case else case["raw"].encode()
    path = folder / f"{name}.json"
    path.write_bytes(data)
    return path


def test_every_load_case_has_its_place() -> None:
    assert set(REFUSED) | set(READ) == set(LOAD)
    assert not set(REFUSED) & set(READ)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", ["normalize", "sanitize", "show", "fork"])
def test_what_is_no_transcript_is_refused_in_one_line(name: str, command: str, tmp_path: Path) -> None:
    file = written(name, tmp_path)
    before = file.read_bytes()
    done = golem(command, file)
    assert done.code == 3
    assert done.raw == b""
    assert str(file) in done.error_line
    assert done.error_line.isprintable()
    for word in REFUSED[name]:
        assert word in done.error_line
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_leaves_the_file_as_it_was(name: str, tmp_path: Path) -> None:
    """Neither -w nor -o writes anything for a file that is no transcript."""
    file = written(name, tmp_path)
    before = file.read_bytes()
    assert golem("normalize", "-w", file).code == 3
    assert golem("normalize", "-o", tmp_path / "out.json", file).code == 3
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_reported(name: str, tmp_path: Path) -> None:
    file = written(name, tmp_path)
    before = file.read_bytes()
    done = golem("normalize", "--json", file)
    assert done.code == 0
    assert done.err == ""
    assert [note["rule"] for note in done.json["files"][0]["findings"]] == READ[name]
    assert file.read_bytes() == before


def test_numbers_in_args_keep_their_spelling_through_a_write(tmp_path: Path) -> None:
    """Case 132: every digit, zero and escape of the args is in the output."""
    done = golem("normalize", written("132-big-integers-keep-digits", tmp_path))
    expected = r'{ "id":2512292042121000001, "a":1.0,"b":1e2,"c":-0,"d":0.10,"e":"\u0041\/" }'
    assert f'"args":{expected}' in done.out


def test_utf16_comes_out_as_utf8(tmp_path: Path) -> None:
    """Case 127."""
    done = golem("normalize", written("127-utf16-le", tmp_path))
    assert json.loads(done.raw) == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]
