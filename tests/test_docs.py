"""The documents: what they name exists, what they list is complete, what they show runs."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from golem_cli.cli import exit_codes
from golem_cli.cli.app import COMMANDS
from golem_cli.core.codec import contract, dump_conversation, dump_message
from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.core.usage import Usage
from golem_cli.providers.services import SERVICES
from golem_cli.repl.command_table import COMMANDS as SLASH_COMMANDS
from golem_cli.store.settings import SETTINGS
from tests.support.golem_runs import golem

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES: Final = ROOT / "docs" / "examples"
DECISIONS: Final = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
DOCUMENTS: Final = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "transcripts/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SCHEMA: Final[dict[str, Any]] = json.loads(
    (ROOT / "docs" / "conversation.schema.json").read_text(encoding="utf-8")
)
SAMPLES: Final = sorted(path for path in (ROOT / "transcripts").glob("*.json*") if path.stem != "cut-off")


def fenced(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a document: language and text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """The fenced blocks of the README in that language."""
    return [text for name, text in fenced(README) if name == language]


def first_cells(section: str) -> list[str]:
    """The first cell of each row of the first table under a heading of the README, without its head."""
    text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [row.split("|")[1].strip() for row in rows[2:]]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# Set-up


def test_the_readme_has_two_commands_that_set_up() -> None:
    """One opens the chat, the other passes the tests; each is one line in a block of its own."""
    chat, tests = (block for block in blocks("sh") if "venv" in block)
    make = "python3 -m venv .venv && . .venv/bin/activate && pip install"
    assert chat == f"{make} '.[local]' && golem -m local:\n"
    assert tests == f"{make} -e '.[dev]' && golem models fetch && pytest\n"


def test_ci_runs_the_second_of_them() -> None:
    """CI takes the command from the README by this pattern."""
    pattern = r"^python3 -m venv .*&& pytest$"
    assert pattern in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(re.findall(pattern, README, flags=re.MULTILINE)) == 1


# Tables


def test_the_table_of_commands_is_that_of_the_program() -> None:
    assert first_cells("Commands") == [f"`golem {name}`" for name in COMMANDS]


def test_the_table_of_slash_commands_is_that_of_the_chat() -> None:
    listed = sorted(cell.replace("`", "") for cell in first_cells("In the chat"))
    assert listed == sorted(
        ", ".join([command.usage, *(f"/{alias}" for alias in command.aliases)])
        for command in SLASH_COMMANDS.all
    )


def test_the_table_of_providers_is_that_of_the_program() -> None:
    """Same services in the same order, since the order decides which one answers."""
    text = README.partition("\n## Providers\n")[2]
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    listed = [
        (cells[0].strip("| `"), cells[1], cells[2].replace("`", ""), cells[3].strip(" |`"))
        for cells in rows
        if len(cells) == 4
    ]
    assert listed == [
        (service.name, service.title, ", ".join(service.key_variables) or "none", service.base_url_variable)
        for service in SERVICES
    ] + [("local", "the embedded model, or `local:/path/to/model.gguf`", "none", "")]


def test_the_table_of_settings_is_that_of_the_program() -> None:
    text = README.partition("| setting | means |\n")[2].partition("\n\n")[0]
    names = re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in text.splitlines()))
    assert sorted(names) == sorted(setting.name for setting in SETTINGS)


def test_the_settings_file_that_is_shown_is_a_good_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`golem config` takes it, and shows what it says."""
    monkeypatch.setenv("GOLEM_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text(blocks("toml")[0], encoding="utf-8")
    shown = golem("config", "--json").json
    values = {row["name"]: row["value"] for row in shown["settings"]}
    assert (values["model"], values["trim"]) == ("openai:gpt-6.1-terra", 40)
    assert shown["providers"]["ollama"] == {"base_url": "http://192.168.1.20:11434/v1"}


def test_the_readme_names_the_commands_that_report_in_json() -> None:
    text = README.partition("\n## For programs\n")[2]
    listed = re.findall(r"`(\w+)`", text.partition("have `--json`")[0].rpartition("\n\n")[2])
    assert listed == [name for name in COMMANDS if re.search(r"--json\b", golem(name, "--help").out)]


def test_the_readme_explains_every_exit_code() -> None:
    codes = {value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    text = README.partition("\nExit codes: ")[2].partition("An error is")[0]
    assert {int(code) for code in re.findall(r"(?:^|; )(\d+)\b", text.replace("\n", " "))} == codes


# Commands that are shown


def commands_in(text: str) -> list[list[str]]:
    """The words of each `golem …` in blocks, behind a `$` or not, and in spans of code."""
    code = "\n".join(block for _, block in fenced(text))
    lines = re.findall(r"^(?:\$ )?(golem(?: .*)?)$", code, flags=re.MULTILINE)
    lines += re.findall(r"`(golem [^`]+)`", text)
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_every_golem_command_that_a_document_shows_exists(path: Path) -> None:
    """The command is one, and its help names every option."""
    for words in commands_in(path.read_text(encoding="utf-8")):
        name = words[0] if words and not words[0].startswith("-") else "ask" if "-p" in words else "chat"
        assert name in COMMANDS, words
        known = golem(name, "--help").out
        for option in (word for word in words[1:] if re.match(r"--?[a-z]", word)):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", known), (words, option)


def test_the_commands_that_repair_in_a_minute_run_and_end_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line of the block; one whose exit code is shown ends with 1, the others with 0."""
    shutil.copytree(ROOT / "transcripts", tmp_path / "transcripts")
    monkeypatch.chdir(tmp_path)
    shown = next(block for block in blocks("") if block.startswith("broken.json: array"))
    block = next(block for block in blocks("sh") if "--undo" in block)
    reports = []
    for line in block.splitlines():
        command, echoed, _ = line.partition(' || echo "exit code $?"')
        words = shlex.split(command)
        if words[0] == "cp":
            shutil.copy(words[1], words[2])
            continue
        finished = golem(*words[1:])
        assert finished.code == (1 if echoed else 0), line
        reports.append(finished.out + finished.err)
    assert reports[0] == shown


# Text


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link of a document names a file or folder of the repository."""
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if not re.match(r"https?://", target):
            assert (path.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_modules_that_are_named_exist(path: Path) -> None:
    """A name such as `core/codec/scan.py` in a document is one of the package or of the repository."""
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", path.read_text(encoding="utf-8")):
        assert (ROOT / name).is_file() or (ROOT / "golem_cli" / name).is_file(), name


def test_decisions_are_numbered_without_a_gap_and_have_their_three_parts() -> None:
    for number, path in enumerate(DECISIONS, 1):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert path.name.startswith(f"{number:04d}-")
        assert lines[0].startswith(f"# {number}. ")
        parts = [line for line in lines if line.startswith("## ")]
        assert parts == ["## Context", "## Decision", "## Consequences"], path.name


def test_the_list_of_decisions_is_complete() -> None:
    listed = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\d+\. \[(.+)\]\((.+)\)$", listed, flags=re.MULTILINE) == [
        (path.read_text(encoding="utf-8").splitlines()[0].partition(". ")[2], path.name) for path in DECISIONS
    ]


# Python


def test_the_readmes_python_runs() -> None:
    """What asks a real provider is only compiled, and its imports are made."""
    scripted, real = blocks("python")
    subprocess.run([sys.executable, "-c", scripted], check=True)
    assert "OpenAIModel" in real
    body = ast.parse(real).body
    made = "\n".join(ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom))
    subprocess.run([sys.executable, "-c", made], check=True)


def example(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an example as a reader would."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


def test_there_is_a_test_for_every_example() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == [
        "chain_and_fork.py",
        "repair_and_explain.py",
        "resume_failed_run.py",
    ]


def test_the_example_that_chains_and_forks() -> None:
    """A fork has its own id, and its history keeps the parent's stamps."""
    assert example("chain_and_fork.py").stdout.splitlines() == [
        "one conversation: True",
        "two runs: True",
        "another conversation: True",
        "stamps: [True, True, False, False]",
        "['A name for a small blue boat?', 'Kingfisher.', 'Where do I paint it?', 'In white, on the bow.']",
        "['A name for a small blue boat?', 'Kingfisher.', 'And a quieter name?', 'Then Little Heron.']",
    ]


def test_the_example_that_repairs_and_explains() -> None:
    """Of `orphaned-results.json` three results are dropped, each with its reason; the rest is written."""
    finished = example("repair_and_explain.py", str(ROOT / "transcripts" / "orphaned-results.json"))
    assert finished.returncode == 1
    rules = [line.split(", ")[1].split(":")[0] for line in finished.stderr.splitlines()[:-1]]
    assert rules == ["orphan-result", "duplicate-result", "result-without-id"]
    assert finished.stderr.splitlines()[-1] == "0 added, 3 dropped"
    assert len(json.loads(finished.stdout)) == 6


def test_the_example_that_repairs_says_what_is_no_transcript(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("[1]", encoding="utf-8")
    finished = example("repair_and_explain.py", str(broken))
    assert (finished.returncode, finished.stdout) == (3, "")
    assert len(finished.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [((), "usage: python docs/examples/repair_and_explain.py FILE"), (("no-such.json",), "no-such.json: ")],
)
def test_the_example_that_repairs_needs_a_file(arguments: tuple[str, ...], line: str) -> None:
    finished = example("repair_and_explain.py", *arguments)
    assert finished.returncode != 0
    (said,) = finished.stderr.splitlines()
    assert said.startswith(line)


def test_the_example_that_resumes_a_failed_run() -> None:
    """The tool that had run is not run again."""
    assert example("resume_failed_run.py").stdout.splitlines() == [
        "failed: model stage: the connection was dropped",
        "completed: ['user', 'assistant', 'tool']",
        "requests: 2 tool calls: 1",
        "answer: You have table 7 at eight.",
        "booked: 1 time",
    ]


# The schema


TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}
KEYWORDS: Final = {
    *("$schema", "$defs", "$ref", "title", "description", "examples"),
    *("type", "anyOf", "required", "properties", "additionalProperties", "items", "minimum"),
}
"""The keywords that `faults` knows: the schema may use no other, or it would not be checked."""
SHAPES: Final = {
    "conversation": contract.CONVERSATION,
    "settings": contract.SETTINGS,
    "message": contract.MESSAGE,
    "part": contract.PART,
    "thinking": contract.THINKING,
    "toolCall": contract.CALL,
    "run": contract.RUN,
    "usage": contract.USAGE,
}


def faults(value: object, schema: dict[str, Any], place: str = "$") -> list[str]:
    """What of `value` breaks `schema`: the few keywords of JSON Schema that ours has."""
    if "$ref" in schema:
        return faults(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], place)
    if "anyOf" in schema:
        found = [faults(value, choice, place) for choice in schema["anyOf"]]
        return [] if [] in found else found[0]
    kind = schema.get("type")
    is_flag = isinstance(value, bool) and kind != "boolean"
    if kind is not None and (is_flag or not isinstance(value, TYPES[kind])):
        return [f"{place} is no {kind}"]
    found = []
    if isinstance(value, dict):
        found = [[f"{place} has no {name}"] for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties", {})
        found += [
            faults(each, known[name], f"{place}.{name}") for name, each in value.items() if name in known
        ]
    elif isinstance(value, list):
        found = [faults(each, schema["items"], f"{place}[{i}]") for i, each in enumerate(value)]
    elif isinstance(value, int) and value < schema.get("minimum", value):
        return [f"{place} is below its minimum"]
    return [fault for each in found for fault in each]


def subschemas(schema: object) -> list[dict[str, Any]]:
    """`schema` and every schema in it; the names of properties and definitions are no keywords."""
    if not isinstance(schema, dict):
        return []
    inner = [*schema.get("$defs", {}).values(), *schema.get("properties", {}).values(), schema.get("items")]
    return [schema, *(each for part in [*inner, *schema.get("anyOf", ())] for each in subschemas(part))]


FULL_PART: Final = Part(kind="image", data="aGk=", media_type="image/png", extra={"new": "1"})
FULL_MESSAGES: Final = (
    Message(role="user", content="hi", parts=(FULL_PART, Part(kind="audio", url="https://example.com/a"))),
    Message(
        role="assistant",
        thinking=(ThinkingBlock(text="hm", signature="s"), ThinkingBlock(redacted="r")),
        tool_calls=(
            ToolCall(id="1", name="ls", args='{"a": [1]}', signature="s"),
            ToolCall(id="2", name="ls", args="[1"),
            ToolCall(name="ls"),
        ),
        interrupted=True,
        signed_by="anthropic:m",
        run_id="r",
        conversation_id="c",
    ),
    Message(role="tool", tool_call_id="1", tool_name="ls", failed=True, extra={"new": '{"a":null}'}),
)
FULL_RUN: Final = RunRecord(
    run_id="r",
    status="failed",
    stage="model",
    error="gone",
    model="openai:m",
    requests=1,
    tool_calls=2,
    usage=Usage(
        input_tokens=5, output_tokens=4, cache_read_tokens=3, cache_write_tokens=2, reasoning_tokens=1
    ),
    cost=0.25,
    started_at="2026-01-02T03:04:05.678Z",
    ended_at="2026-01-02T03:04:06.678Z",
    prompt="hi",
    prompt_parts=(FULL_PART,),
    partial_text="h",
    pending=("1",),
)
FULL: Final = Conversation(
    conversation_id="c",
    title="t",
    created_at="2026-01-02T03:04:05.678Z",
    updated_at="2026-01-02T03:04:05.678Z",
    model="openai:m",
    instructions="Be brief.",
    settings=ConversationSettings(trim=20, budget=0),
    forked_from="p",
    messages=FULL_MESSAGES,
    runs=(FULL_RUN, RunRecord(run_id="r2")),
    extra={"new": "[]", "importedFrom": '{"path":"/a","revision":"b"}'},
)


def test_the_schema_uses_only_what_is_checked_here() -> None:
    for schema in subschemas(SCHEMA):
        assert set(schema) <= KEYWORDS


def test_every_object_of_the_schema_is_open() -> None:
    """Fields are only ever added, so nothing may refuse one that it does not know."""
    objects = [schema for schema in subschemas(SCHEMA) if schema.get("type") == "object"]
    assert objects
    assert all(schema["additionalProperties"] is True for schema in objects)


@pytest.mark.parametrize("name", SHAPES)
def test_the_schema_names_the_fields_of_the_contract(name: str) -> None:
    """All of them and no other, in the order of writing; `importedFrom` is an addition of the store."""
    schema, shape = SCHEMA["$defs"][name], SHAPES[name]
    assert [key for key in schema["properties"] if key != "importedFrom"] == list(shape.fields)


def test_the_schema_takes_what_is_written() -> None:
    """A conversation with every field, one with none, and a message with every field."""
    for conversation in (FULL, Conversation()):
        assert faults(msgspec.json.decode(dump_conversation(conversation)), SCHEMA) == []
    for message in FULL_MESSAGES:
        assert faults(json.loads(dump_message(message)), SCHEMA["$defs"]["message"]) == []


def test_what_the_schema_requires_is_always_written() -> None:
    """An empty record has exactly the required fields."""
    empty = json.loads(dump_conversation(Conversation(runs=(RunRecord(run_id=""),))))
    assert sorted(empty) == sorted(SCHEMA["$defs"]["conversation"]["required"])
    assert sorted(empty["runs"][0]) == sorted(SCHEMA["$defs"]["run"]["required"])
    assert sorted(json.loads(dump_message(Message(role="")))) == SCHEMA["$defs"]["message"]["required"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_schema_takes_the_sample_transcripts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        for line in text.splitlines():
            assert faults(json.loads(line), SCHEMA["$defs"]["message"]) == []
    else:
        assert faults(json.loads(text), SCHEMA) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"golem": 0}, "$.golem is below its minimum"),
        ({"golem": True}, "$.golem is no integer"),
        ({"title": None}, "$.title is no string"),
        ({"messages": [{"content": "hi"}]}, "$.messages[0] has no role"),
        ({"messages": [{"role": "user", "content": []}]}, "$.messages[0].content is no string"),
        (
            {"messages": [{"role": "user", "toolCalls": [{"argsText": 1}]}]},
            "$.messages[0].toolCalls[0].argsText is no string",
        ),
        ({"runs": [{"runId": "r"}]}, "$.runs[0] has no status"),
    ],
)
def test_the_schema_refuses_what_is_no_conversation(change: dict[str, object], fault: str) -> None:
    value = {**json.loads(dump_conversation(Conversation())), **change}
    assert faults(value, SCHEMA)[0] == fault
