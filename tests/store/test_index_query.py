"""What a search finds: words, beginnings, phrases, scripts without spaces; the index leaves none out."""

from __future__ import annotations

import sqlite3
import sys
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.store.index import database
from golem_cli.store.index.query import Match, Query, Term, parse_query
from golem_cli.store.index.words import folded, indexed
from golem_cli.store.outline import Piece

TEXTS = st.text(
    st.one_of(
        st.characters(), st.sampled_from('abßẞİ\u0131\u017fﬀñn\u0303 ._-*"漢字かなแกงกิ한국어हिन्दी\u200d')
    ),
    max_size=40,
)


def found(text: str, *words: str) -> str | None:
    """The part of `text` that is found, None for no match."""
    match = parse_query(words).find([Piece("user", text, 1)])
    return text[match.start : match.end] if match else None


@pytest.mark.parametrize(
    ("text", "words", "part"),
    [
        ("The Small boat", ["small"], "Small"),
        ("The small boats", ["boat"], None),
        ("The small boats", ["boat*"], "boats"[:4]),
        ("a smallboat", ["boat*"], None),
        ("the small, blue\nboat", ["blue boat"], "blue\nboat"),
        ("the boat is blue", ["blue boat"], None),
        ("the boat is blue", ["blue", "boat"], "boat"),
        ("the boat is blue", ["blue", "ship"], None),
        ("the small blue boat", ['"small blue" bo*'], "small blue"),
        ("the blue small boat", ['"small blue" bo*'], None),
        ("snake_case and e-mail", ["case"], "case"),
        ("snake_case and e-mail", ["snake_case"], "snake_case"),
        ("snake_case and e-mail", ["E-Mail"], "e-mail"),
        ("Die Straße", ["STRASSE"], "Straße"),
        ("DIE STRASSE", ["straße"], "STRASSE"),
        ("xx ẞ Straße", ["strasse"], "Straße"),
        ("ΜΈΓΑΣ", ["μέγας"], "ΜΈΓΑΣ"),
        ("cafe\u0301 noir", ["café"], "cafe\u0301"),
        ("cafe noir", ["café"], None),
        ("日本漢字能力検定", ["漢字"], "漢字"),
        ("日本漢字能力検定", ["字漢"], None),
        ("日本漢字能力検定", ["漢"], "漢"),
        ("golem漢字", ["golem"], "golem"),
        ("golem 漢字", ["golem漢字"], "golem 漢字"),
        ("서울에서 만나요", ["서울"], "서울"),
        ("ฉันชอบแกงเขียว", ["แกง"], "แกง"),
        ("हिन्दी में", ["हिन्दी"], "हिन्दी"),
        ("हिन्दी में", ["हि"], None),
        ("year 2026.", ["2026"], "2026"),
        ("x" * 100, ["x" * 100], "x" * 100),
        ("x" * 100, ["x" * 99], None),
        ("x" * 100, ["x" * 99 + "*"], "x" * 99),
    ],
)
def test_a_text_has_what_is_searched_for(text: str, words: list[str], part: str | None) -> None:
    """Whole words unless a star follows; a phrase's words in a row; case never matters."""
    assert found(text, *words) == part
    if part is not None:
        assert_known_by_the_index(parse_query(words), text)


VOCABULARY = sqlite3.connect(":memory:", isolation_level=None)
VOCABULARY.execute(database._CREATE[-1])
VOCABULARY.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row)")


@pytest.fixture(scope="module", autouse=True)
def closed_in_the_end() -> Iterator[None]:
    yield
    VOCABULARY.close()


def words_of(text: str) -> set[str]:
    """The words that SQLite itself takes out of what the index gives it of `text`."""
    VOCABULARY.execute("INSERT INTO words (words) VALUES ('delete-all')")
    VOCABULARY.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (indexed(text),))
    return {row[0] for row in VOCABULARY.execute("SELECT term FROM vocabulary")}


def assert_known_by_the_index(query: Query, text: str) -> None:
    known = words_of(text)
    for key, prefix in query.known_by():
        assert any(word.startswith(key) for word in known) if prefix else key in known


@pytest.mark.parametrize(
    "text", ["", "   ", "*", '"', '""', "-->", "?!", "\x00", "\ud800", "👍", "_", '" * "']
)
def test_what_has_no_word_is_no_term(text: str) -> None:
    """Nothing is found by it either."""
    query = parse_query([text])
    assert query.terms == ()
    assert query.find([Piece("user", "anything", 1)]) is None


def test_an_argument_is_a_term_and_quotes_part_one() -> None:
    assert parse_query(["two words", "three*"]).terms == (
        Term(("two", "words")),
        Term(("three",), prefix=True),
    )
    assert parse_query(['one "two three" four']).terms == (
        Term(("one",)),
        Term(("two", "three")),
        Term(("four",)),
    )
    assert parse_query(['"never closed']).terms == (Term(("never", "closed")),)
    assert parse_query(["same", "SAME"]).terms == (Term(("same",)),)


def test_the_place_is_where_most_terms_are_and_in_a_message_if_it_can_be() -> None:
    pieces = [
        Piece("title", "blue boat"),
        Piece("user", "a boat", 1),
        Piece("assistant", "boat, blue", 2),
        Piece("user", "blue boat", 3),
    ]
    match = parse_query(["blue", "boat"]).find(pieces)
    assert match == Match(piece=pieces[2], start=0, end=4)
    title_only = parse_query(["blue", "boat"]).find(pieces[:2])
    assert title_only is not None
    assert title_only.piece is pieces[0]


def test_terms_may_be_in_different_pieces_and_a_phrase_may_not() -> None:
    pieces = [Piece("user", "blue", 1), Piece("assistant", "boat", 2)]
    assert parse_query(["blue", "boat"]).find(pieces) is not None
    assert parse_query(["blue boat"]).find(pieces) is None


@given(TEXTS, st.data())
def test_every_part_of_a_text_that_is_found_is_known_to_the_index(text: str, data: st.DataObject) -> None:
    """Whatever of it is typed, with or without a star: no match without its keys among the words."""
    start = data.draw(st.integers(0, len(text)))
    typed = text[start : data.draw(st.integers(start, len(text)))] + data.draw(st.sampled_from(["", "*"]))
    query = parse_query([typed])
    if query.find([Piece("user", text, 1)]) is not None:
        assert_known_by_the_index(query, text)


@given(TEXTS, TEXTS)
def test_the_words_of_a_text_are_found_in_it(text: str, more: str) -> None:
    """Each word that the index knows finds the text, whatever stands around it."""
    for word in words_of(text):
        assert found(f"{more} {text} {more}", word) is not None


def test_a_text_is_known_by_the_same_words_however_it_is_spelled() -> None:
    """Composed or decomposed, in capitals or not: every letter of Unicode that has two forms of itself."""
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        if letter.isalpha() and not 0xD800 <= code <= 0xDFFF:
            spelled = unicodedata.normalize("NFD", letter)
            assert indexed(f"a{letter}").lower() == indexed(f"a{spelled}").lower(), hex(code)


def test_ascii_and_other_text_have_the_same_words() -> None:
    """The way of ASCII and the way of all others agree on every ASCII character, also with the query."""
    text = " ".join(f"a{chr(code)}B{chr(code)}{chr(code)}" for code in range(128))
    typed = {word for term in parse_query([text]).terms for word in term.words}
    assert words_of(text) == words_of(text + " ·") == typed
    assert folded(text) + " ·" == folded(text + " ·")


def test_a_megabyte_that_nearly_matches_everywhere_is_refused() -> None:
    text = "blue " * 200_000
    assert found(text, "blue boat") is None
    assert found("!" * 1_000_000 + "x", "a b") is None
