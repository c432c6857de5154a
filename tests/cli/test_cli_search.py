"""`golem search`: what it shows, what it tells programs, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from golem_cli.core.conversation import RunRecord
from golem_cli.store.store import Store
from tests.support.golem_runs import golem, golem_process

FIRST = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11"
SECOND = "01936f4e-5f3f-7a65-8d0c-2f6f8a6b1c12"


@pytest.fixture
def store(home: Path) -> Store:
    store = Store(home / "golem")
    put(store, FIRST, 1, title="Bread", messages=[{"role": "user", "content": "How do I bake rye bread?"}])
    call = {"id": "c1", "name": "weather", "args": {"city": "Reykjavík"}}
    messages = [
        {"role": "user", "content": "Where is a small blue boat?"},
        {"role": "assistant", "toolCalls": [call]},
        {"role": "tool", "toolCallId": "c1", "toolName": "weather", "content": "rain, 漢字も"},
    ]
    put(store, SECOND, 2, title="The boat", messages=messages)
    return store


def put(store: Store, identifier: str, second: int, **fields: Any) -> None:
    store.conversations.mkdir(parents=True, exist_ok=True)
    moment = f"2026-01-01T00:00:{second:02}.000Z"
    value = {"golem": 1, "conversationId": identifier, "createdAt": moment, "updatedAt": moment, "runs": []}
    store.path_of(identifier).write_text(json.dumps(value | fields))


@pytest.mark.usefixtures("store")
def test_a_result_is_a_line_of_the_list_and_the_place() -> None:
    done = golem("search", "BOAT")
    assert (done.code, done.err) == (0, "")
    header, line, place = done.out.splitlines()
    assert header.split() == ["ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE"]
    assert SECOND.startswith(line.split()[0])
    assert line.endswith("The boat")
    assert place == "    1 user: Where is a small blue boat?"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["weather"], "2 assistant: weather"),
        (["reykjavík"], "2 assistant: city Reykjavík"),
        (["rain"], "3 tool: rain, 漢字も"),
        (["漢字"], "3 tool: rain, 漢字も"),
        (["bre*", "rye"], "1 user: How do I bake rye bread?"),
        (["rye bread"], "1 user: How do I bake rye bread?"),
    ],
)
def test_all_text_is_searched(words: list[str], place: str) -> None:
    done = golem("search", *words)
    assert done.code == 0
    assert done.out.splitlines()[2].strip() == place
    number, _, _ = place.partition(" ")
    shown = golem("show", done.out.splitlines()[1].split()[0], number)
    assert shown.out.startswith(place.partition(":")[0])


@pytest.mark.usefixtures("store")
def test_a_title_alone_has_no_message_number() -> None:
    put(Store(Path(golem("config", "--json").json["data"])), FIRST, 3, title="Zanzibar", messages=[])
    assert golem("search", "zanzibar").out.splitlines()[2] == "    title: Zanzibar"
    (entry,) = golem("search", "zanzibar", "--json").json
    assert "message" not in entry
    assert (entry["place"], entry["snippet"]) == ("title", "Zanzibar")


def test_for_programs_a_result_has_the_shape_of_the_list_and_more(store: Store) -> None:
    done = golem("search", "blue boat", "--json")
    (entry,) = done.json
    (listed,) = [each for each in golem("list", "--json").json if each["conversationId"] == SECOND]
    assert entry == listed | {"place": "user", "message": 1, "snippet": "Where is a small blue boat?"}
    assert entry["file"] == str(store.path_of(SECOND))


@pytest.mark.usefixtures("store")
def test_the_newest_come_first_and_only_so_many() -> None:
    ids = [entry["conversationId"] for entry in golem("search", "a*", "b*", "--json").json]
    assert ids == [SECOND]
    both = [entry["conversationId"] for entry in golem("search", "b*", "--json").json]
    assert both == [SECOND, FIRST]
    assert [entry["conversationId"] for entry in golem("search", "b*", "--json", "-n", "1").json] == [SECOND]


@pytest.mark.usefixtures("store")
def test_nothing_found_ends_with_1_as_grep_does() -> None:
    done = golem("search", "submarine")
    assert (done.code, done.out) == (1, "")
    assert done.error_line == "golem: nothing was found; wor* finds all words that begin so"
    done = golem("search", "submarine", "--json")
    assert (done.code, done.json) == (1, [])


def test_an_empty_store_has_nothing(home: Path) -> None:
    assert golem("search", "x").code == 1
    assert not (home / "golem").exists()


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "text",
    ["boat AND", "(boat", 'boat"', "boat OR NOT", "NEAR(boat", "{boat}:", "^boat", "boat; --", "boat'"],
)
def test_no_text_is_a_syntax_error(text: str) -> None:
    done = golem("search", text)
    assert done.code in {0, 1}
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("text", ["", "?!", "*", '""'])
def test_a_query_without_a_word_is_wrong_usage(text: str) -> None:
    done = golem("search", text)
    assert (done.code, done.out) == (2, "")
    assert "no word to search for" in done.error_line


@pytest.mark.usefixtures("store")
def test_a_search_without_words_is_wrong_usage() -> None:
    assert golem("search").code == 2


def test_what_a_stopped_run_left_is_found(store: Store) -> None:
    with store.open(FIRST) as writer:
        writer.begin_run(RunRecord(run_id="r", prompt="And with walnuts?"))
        writer.note_partial("r", "Walnuts go we")
        assert golem("search", "walnuts").out.splitlines()[2] == "    2 user: And with walnuts?"
        assert golem("search", "walnuts go").out.splitlines()[2] == "    3 assistant: Walnuts go we"


def test_damaged_conversations_are_counted_on_standard_error(store: Store) -> None:
    store.path_of(FIRST).write_text("nonsense")
    done = golem("search", "boat")
    assert done.code == 0
    assert done.error_line == "golem: 1 conversation could not be searched: damaged; see golem list"


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_on_a_terminal_lines_fit_and_the_match_is_bold(
    store: Store, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    text = "long " * 60 + "before the Kingfisher 漢字 " * 3 + "after " * 60
    put(store, FIRST, 3, title="birds", messages=[{"role": "user", "content": text}])
    lines = golem("search", "kingfisher", terminal=True).out.splitlines()
    assert "\x1b[1mKingfisher\x1b[0m"[: columns - 6] in lines[2] or columns < 30
    assert all(cell_len(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) <= columns for line in lines[1:])
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in golem("search", "kingfisher", terminal=True).out


@pytest.mark.parametrize("terminal", [True, False])
def test_hostile_text_reaches_no_terminal(
    store: Store, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    hostile = "\x1b]0;owned\x07 boat \x1b[2J\u202e\r\n\x9b31m\U000e0041"
    put(store, FIRST, 3, title=hostile, messages=[{"role": "us\x1b[2Jer", "content": hostile}])
    out = golem("search", "boat", "owned", terminal=terminal).out
    assert len(out.splitlines()) == 3
    plain = out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert not set(plain) & set("\x1b\x07\u202e\r\x9b\U000e0041")
    raw = golem("search", "boat", "owned", "--json", terminal=terminal).raw
    assert raw.isascii()


@pytest.mark.usefixtures("store")
def test_the_program_itself_searches() -> None:
    """Twice: with the index to be made, and with the index there."""
    for _ in range(2):
        done = golem_process("search", "blue boat", "--json")
        assert (done.code, done.err) == (0, "")
        assert [entry["conversationId"] for entry in done.json] == [SECOND]
