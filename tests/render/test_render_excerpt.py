"""An excerpt: one line, no wider than asked, harmless, with the match in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from golem_cli.render.excerpt import excerpt
from golem_cli.render.neutralize import one_line

TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("ab 漢\n\t\x1b\u202e👩\u200de\u0301")), max_size=60
)


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 60))
def test_an_excerpt_fits_and_acts_on_no_terminal(before: str, match: str, after: str, width: int) -> None:
    parts = excerpt(before + match + after, len(before), len(before) + len(match), width=width)
    line = "".join(parts)
    assert cell_len(line) <= width
    assert one_line(line) == line
    assert "\n" not in line


def test_a_text_that_fits_is_shown_whole() -> None:
    assert excerpt("the blue boat", 4, 8, width=13) == ("the ", "blue", " boat")
    assert excerpt("blue", 0, 4, width=4) == ("", "blue", "")


def test_lines_become_one_and_what_is_left_out_shows() -> None:
    text = "word " * 200 + "the\n\n  blue\tboat " + "word " * 200
    before, match, after = excerpt(text, text.index("blue"), text.index("blue") + 4, width=40)
    assert match == "blue"
    assert before.startswith("…")
    assert before.endswith("the ")
    assert after.startswith(" boat ")
    assert after.endswith("…")


def test_a_match_wider_than_the_line_is_cut() -> None:
    assert excerpt("x" * 100, 0, 100, width=10) == ("", "x" * 10, "")


def test_for_a_program_the_characters_stay() -> None:
    assert excerpt("a\x1bb c", 0, 3, width=20, clean=str) == ("", "a\x1bb", " c")
