"""The table of conversations on screens of every width: whole ids, and no line beyond the screen."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from golem_cli.render.listing import conversation_lines, distinguishing_length

NOW = datetime(2026, 1, 1, 0, 5, tzinfo=UTC)
FIRST, SECOND = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11", "01936f4e-5f3f-7a65-8d0c-2f6f8a6b1c12"
SHOWN_IDS = ["01936f4e-5f3e", "01936f4e-5f3f"]
"""As much of the two as tells them apart."""
LONG = {
    "latin": "openrouter:" + "x" * 300,
    "cjk": "模型" * 100,
    "hostile": "\x1b[2J\u202e" * 40,
    "emoji": "👩\u200d👩\u200d👧" * 50,
}


def conversation(conversation_id: str, **fields: Any) -> Any:
    known = {"updated_at": "2026-01-01T00:00:00Z", "message_count": 6, "status": "interrupted"}
    more = {"model": "openai:gpt-5-mini", "title": "Why do we sleep?", "problem": ""}
    return SimpleNamespace(conversation_id=conversation_id, **{**known, **more, **fields})


def lines(width: int | None, **fields: Any) -> list[str]:
    """The table of an ordinary conversation, and of one with these fields."""
    shown = [conversation(FIRST), conversation(SECOND, **fields)]
    return list(conversation_lines(shown, [FIRST, SECOND], width=width, now=NOW))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("field", ["model", "title", "status", "problem"])
def test_a_long_text_neither_widens_the_table_nor_cuts_an_id(field: str, text: str, width: int) -> None:
    table = lines(width, **{field: text})
    assert [line.split()[0] for line in table[1:]] == SHOWN_IDS
    assert all(cell_len(line) <= width for line in table)
    assert "Why" in table[1], "the other conversation still has its title"


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_model_does_not_push_the_titles_of_others_away_in_a_pipe(text: str) -> None:
    """At most 40 cells are the model's; the title is whole."""
    head, other, long = lines(None, model=text, title="t" * 300)
    assert cell_len(other.partition("openai:gpt-5-mini")[0]) + 40 + 2 >= other.index("Why")
    assert head.index("TITLE") == other.index("Why")
    assert long.endswith("  " + "t" * 300)


def test_eighty_columns_show_every_column() -> None:
    head, first, _ = lines(80, model="m" * 99)
    assert head.split() == ["ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE"]
    assert first.split() == [SHOWN_IDS[0], "5", "min", "6", "interrupted", *first.split()[5:]]
    assert first.endswith("Why do we sleep?")


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (71, ["ID", "AGE", "MESSAGES", "STATUS", "MODEL", "TITLE"]),
        (57, ["ID", "AGE", "MESSAGES", "STATUS", "TITLE"]),
        (47, ["ID", "AGE", "STATUS", "TITLE"]),
        (40, ["ID", "STATUS", "TITLE"]),
        (27, ["ID", "TITLE"]),
        (13, ["ID"]),
    ],
)
def test_a_narrow_screen_loses_whole_columns_the_id_last(width: int, columns: list[str]) -> None:
    """13 cells are the id, 5 the age, 8, 11, at least 12 each the model and the title; gaps take 2."""
    assert lines(width)[0].split() == columns
    assert len(lines(width - 1)[0].split()) == max(len(columns) - 1, 1)
    assert [line.split()[0] for line in lines(width - 1)[1:]] == SHOWN_IDS


def test_columns_are_as_wide_as_the_cells_they_take() -> None:
    """Three characters of two cells each fill six; the title begins below its head."""
    _, first, second = lines(80, model="模型名")
    assert cell_len(first.partition("Why")[0]) == cell_len(second.partition("Why")[0])


def test_the_reason_of_a_damaged_one_has_neither_its_path_nor_advice() -> None:
    path = f"/home/me/.local/share/golem/conversations/{SECOND}.json"
    for problem, shown in (
        (f"{path}: the text stops in the middle, at byte 7", "the text stops in the middle, at byte 7"),
        (f"cannot read {path}: permission denied", "permission denied"),
        ("something else", "something else"),
    ):
        last = lines(None, problem=problem, advice="golem list", status="damaged")[-1]
        assert last.endswith(f"  {shown}")
        assert SECOND not in last


@given(ids=st.sets(st.text("01", min_size=12, max_size=12), min_size=1), data=st.data())
def test_as_much_of_an_id_as_tells_what_is_shown_from_all_others(ids: set[str], data: st.DataObject) -> None:
    """No other id begins so; one character less would not do, but eight are shown at least."""
    shown = data.draw(st.sets(st.sampled_from(sorted(ids)), min_size=1))

    def told_apart(length: int) -> bool:
        return all(sum(other[:length] == each[:length] for other in ids) == 1 for each in shown)

    length = distinguishing_length(shown, ids)
    assert told_apart(length)
    assert length == 8 or not told_apart(length - 1)
