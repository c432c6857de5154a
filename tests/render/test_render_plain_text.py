"""Plain text: broken at spaces in the terminal's width, whatever the fragments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from golem_cli.render.sections import PlainText


def shown(*fragments: str, width: int = 10) -> str:
    text = PlainText(width)
    return "".join(map(text.feed, fragments)) + text.close()


def test_rows_break_at_spaces_and_keep_one_column_free() -> None:
    assert shown("one two three four") == "one two\nthree\nfour\n"
    assert shown("nine cell") == "nine cell\n"
    assert shown("ten  cells") == "ten\ncells\n"


def test_lines_indents_and_blank_lines_stay() -> None:
    assert shown("a\n\n    b\n- c\n") == "a\n\n    b\n- c\n"


def test_a_word_longer_than_a_row_is_left_to_the_terminal() -> None:
    """25 cells fill two rows of 10 and 5 of the third."""
    assert shown("so", " ", "x" * 25, " end", " and") == "so\n" + "x" * 25 + " end\nand\n"


def test_scripts_without_spaces_come_character_by_character() -> None:
    assert PlainText(10).feed("漢字仮") == "漢字"
    assert shown("漢字仮名交り") == "漢字仮名\n交り\n"


@given(
    st.lists(st.text(alphabet="ab 漢\n", max_size=12), max_size=8),
    st.integers(min_value=3, max_value=20),
)
def test_fragments_do_not_matter_no_word_is_lost_and_only_spaces_become_rows(
    fragments: list[str], width: int
) -> None:
    whole = "".join(fragments)
    assert shown(*fragments, width=width) == shown(whole, width=width)
    assert "".join(shown(*fragments, width=width).split()) == "".join(whole.split())
    rows = shown(whole.replace("漢", ""), width=width).split("\n")
    assert all(len(row) < width or len(first_word(row)) >= width for row in rows)


def first_word(row: str) -> str:
    """The first word of a row with the spaces before it, which no break can make shorter."""
    return row[: len(row) - len(row.lstrip(" "))] + row.lstrip(" ").partition(" ")[0]
