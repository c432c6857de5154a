"""Foreign text in sentences of ours: nothing acts on a terminal, and a sentence keeps its length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.quote import marked, quoted
from golem_cli.render.neutralize import one_line


@given(st.text())
def test_what_is_marked_is_printable_and_marking_it_again_changes_nothing(text: str) -> None:
    assert marked(text).isprintable()
    assert marked(marked(text)) == marked(text)


@pytest.mark.parametrize("character", ["\x1b", "\n", "\t", "\x7f", "\x9b", "\u202e", "\u200b", "\U000e0041"])
def test_a_mark_is_that_of_the_screen(character: str) -> None:
    assert marked(f"a{character}b") == one_line(f"a{character}b")
    assert marked(f"a{character}b") == f"a⟦U+{ord(character):04X}⟧b"


def test_a_lone_surrogate_is_the_replacement_character() -> None:
    assert marked("a\ud800") == "a\N{REPLACEMENT CHARACTER}"


@given(st.text(), st.integers(2, 100))
def test_a_cut_keeps_within_the_length_and_no_mark_is_halved(text: str, longest: int) -> None:
    cut = marked(text, longest=longest)
    assert len(cut) <= longest
    if len(marked(text)) <= longest:
        assert cut == marked(text)
    else:
        assert cut.endswith("…")
        assert cut[:-1] in [marked(text[:end]) for end in range(len(text))]


def test_a_quote_cannot_be_left_from_within() -> None:
    assert quoted("x' is fine. 'y") == "\"x' is fine. 'y\""
    assert quoted("a'b\"c") == "'a\\'b\"c'"
