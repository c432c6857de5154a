"""Secrets are found by their form, whatever escapes they are spelled with; ordinary text is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.secrets import find_secrets
from golem_cli.core.secrets.patterns import PATTERNS
from golem_cli.core.secrets.unexplained import find_random
from golem_cli.core.secrets.views import views
from tests.support.secrets import EXAMPLES, example, in_full_width

KEY: Final = example("an Anthropic key")[1]
LARGE: Final = 5_000_000


def test_every_kind_of_the_list_has_an_example() -> None:
    assert {pattern.kind for pattern in PATTERNS} == set(EXAMPLES)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_secret_is_found_in_a_sentence_with_its_kind_and_place(kind: str) -> None:
    text, secret = example(kind)
    sentence = f"Here it is: {text} — keep it."
    (found,) = find_secrets(sentence)
    assert (found.kind, found.value, sentence[found.start : found.end]) == (kind, secret, secret)


@pytest.mark.parametrize(
    "text",
    [
        "task-force-of-something-with-a-long-name-1",
        "sk-fading-circle-animation-container",
        "the token: usage of a sentence, and password: see below",
        "api_key=os.environ['SERVICE_API_KEY_VARIABLE']",
        "https://example.com:8080/a@b and mailto:bob@example.com",
        "xai-",
        "AKIA",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "Bearer authentication is described in another document",
        "postgres://bob:[secret-1]@db",
        "https://bob:%5Bsecret-12%5D@db",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_a_word_that_ends_like_a_prefix_begins_no_key() -> None:
    assert find_secrets(f"x{KEY}") == []
    assert [found.value for found in find_secrets(f"_{KEY}")] == [KEY]


def test_a_private_key_that_was_cut_off_is_hidden_as_far_as_it_goes() -> None:
    text = example("a private key")[0].partition("\n-----END")[0]
    (found,) = find_secrets(f"{text}\n\nand so on")
    assert found.value == text


MATHEMATICAL: Final = {
    **{chr(65 + at): chr(0x1D400 + at) for at in range(26)},
    **{chr(97 + at): chr(0x1D41A + at) for at in range(26)},
    **{chr(48 + at): chr(0x1D7CE + at) for at in range(10)},
}
"""ASCII → its letter or digit among the bold mathematical ones (Unicode, block 1D400)."""


def in_json(text: str) -> str:
    """`text` with everything beyond ASCII as JSON escapes it, what is beyond U+FFFF as two."""
    return json.dumps(text)[1:-1]


SPELLINGS: Final[dict[str, Callable[[str], str]]] = {
    "JSON": lambda c: f"\\u{ord(c):04x}",
    "JSON in JSON": lambda c: f"\\\\u{ord(c):04x}",
    "HTML": lambda c: f"&#{ord(c)};",
    "HTML, hexadecimal": lambda c: f"&#x{ord(c):X};",
    "an address": lambda c: f"%{ord(c):02X}",
    "Python": lambda c: f"\\x{ord(c):02x}",
    "emphasis": lambda c: f"**{c}**",
    "code": lambda c: f"`{c}`",
    "a tag": lambda c: f"<b>{c}</b>",
    "zero width": lambda c: f"\u200b{c}",
    "full width": in_full_width,
    "full width in JSON": lambda c: in_json(in_full_width(c)),
    "bold mathematical letters": lambda c: MATHEMATICAL.get(c, c),
    "bold mathematical letters in JSON": lambda c: in_json(MATHEMATICAL.get(c, c)),
    "a hyphen that does not break": lambda c: c.replace("-", "\u2011"),
    "a dash": lambda c: c.replace("-", "\u2013"),
    "variation selectors": lambda c: f"{c}\ufe0f",
    "tags": lambda c: f"{c}\U000e0041",
    "accents": lambda c: f"{c}\u0301",
    "fillers": lambda c: f"{c}\u3164",
    "marks of direction": lambda c: f"\u061c{c}\u2066",
    "control characters": lambda c: f"\0{c}\x7f",
    "colours of a terminal": lambda c: f"\x1b[01;31m{c}\x1b[m",
    "colours of a terminal in JSON": lambda c: f"\\u001b[1m{c}\\u001b[0m",
    "Python, eight digits": lambda c: f"\\U{ord(c):08x}",
    "Rust": lambda c: f"\\u{{{ord(c):x}}}",
    "a shell, octal": lambda c: f"\\{ord(c):03o}",
    "an old script": lambda c: f"%u{ord(c):04x}",
    "the end of a line that goes on": lambda c: f"{c}\\\n",
}


@pytest.mark.parametrize("name", SPELLINGS)
@given(chosen=st.sets(st.integers(0, len(KEY) - 1), min_size=1))
def test_a_key_is_found_with_any_of_its_characters_spelled_otherwise(name: str, chosen: set[int]) -> None:
    spelled = "".join(SPELLINGS[name](c) if index in chosen else c for index, c in enumerate(KEY))
    for text in (f'{{"key": "{spelled}"}}', f"the key: {spelled} (mine)"):
        (found,) = find_secrets(text)
        assert (found.value, found.kind) == (KEY, "an Anthropic key")
        left = text[: found.start] + text[found.end :]
        assert (find_secrets(left), find_random(left)) == ([], [])


BREAKS: Final = {
    "a line end": "\n",
    "a line end of Windows": "\r\n",
    "an indented line": "\n    ",
    "a quoted line": "\n> ",
    "a line of a difference": "\n+",
    "literals that stand together": "' '",
    "literals that are added": '" + "',
    "literals in two lines": '"\n    "',
    "literals in two lines that go on": '" \\\n    "',
}


@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("kind", ["a GitLab token", "a Stripe key", "a Hugging Face token", "an OpenAI key"])
@given(cuts=st.sets(st.integers(8, 40), min_size=1, max_size=4))
def test_a_key_is_found_that_was_broken(kind: str, name: str, cuts: set[int]) -> None:
    """Also where it stands as JSON in JSON; a piece of a letter or two may be left."""
    key = example(kind)[1]
    edges = [0, *sorted(cut for cut in cuts if cut < len(key) - 4), len(key)]
    pieces = [key[start:end] for start, end in pairwise(edges)]
    text = f"use {BREAKS[name].join(pieces)} now\nand then"
    for written in (text, json.dumps({"cell": json.dumps(text)})):
        (found,) = find_secrets(written)
        assert found.kind == kind
        left = written[: found.start] + written[found.end :]
        assert [piece for piece in pieces if len(piece) > 4 and piece in left] == []


@pytest.mark.parametrize(
    "text",
    [
        "tokens begin with glpat-\nand have twenty characters or so, all of them random",
        "sk_live_\nis_the_beginning_of_a_key_that_is_in_use",
        f"{KEY}\nand so on",
        f"{KEY}\nDeutschland",
        f'"{KEY}" + "/path/to/a/file"',
        f"{KEY}\n\nk9",
        f"{KEY}\n{KEY}\n{KEY}",
    ],
)
def test_words_in_the_next_line_are_no_part_of_a_key(text: str) -> None:
    assert [each.value for each in find_secrets(text)] == [KEY] * text.count(KEY)


def test_a_password_with_an_escape_is_hidden_whole() -> None:
    text = "postgres://bob:p%40ss%2Fword@db"
    (found,) = find_secrets(text)
    assert text[found.start : found.end] == "p%40ss%2Fword"


PIECES: Final = st.sampled_from(
    [
        ("a", "a"),
        ("b", "b"),
        ("\\u0063", "c"),
        ("&#100;", "d"),
        ("%65", "e"),
        ("**", ""),
        ('\\"', '"'),
        ("é", "é"),
    ]
)


@given(st.lists(PIECES))
def test_a_view_reads_what_escapes_mean_and_knows_where_each_character_stands(
    pieces: list[tuple[str, str]],
) -> None:
    text = "".join(spelled for spelled, _ in pieces)
    *_, view = views(text)
    assert view.text == "".join(meant for _, meant in pieces)
    starts = [sum(len(spelled) for spelled, _ in pieces[:index]) for index in range(len(pieces))]
    places = [
        (start, start + len(spelled)) for start, (spelled, meant) in zip(starts, pieces, strict=True) if meant
    ]
    assert [view.span(index, index + 1) for index in range(len(view.text))] == places


@pytest.mark.parametrize(
    "repeated",
    [
        "eyJ-",
        "://",
        "\\",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "Bearer ",
        "secret",
        "password=",
        "a\n",
        "' ",
        f"{KEY}\n",
    ],
)
def test_no_text_of_five_megabytes_makes_the_search_go_round_and_round(repeated: str) -> None:
    """A search that is not linear would take hours; nothing here looks at a clock."""
    text = repeated * (LARGE // len(repeated))
    assert find_secrets(f"{text} {KEY}")[-1].value == KEY


@given(st.text())
def test_secrets_are_found_in_order_and_apart(text: str) -> None:
    spans = [(found.start, found.end) for found in find_secrets(f"{text} {KEY} {text}")]
    assert spans
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_an_entity_needs_no_semicolon() -> None:
    (found,) = find_secrets(KEY.replace("-", "&#45"))
    assert found.value == KEY


def test_an_escape_of_no_character_is_no_mishap() -> None:
    assert find_secrets(r"\U7fffffff \u{ffffff} \ud800 &#99999999;") == []


@pytest.mark.parametrize(
    "text",
    [
        "東京は" + in_full_width("2026") + "年" + in_full_width("12") + "月、" + in_full_width("12.5!"),
        in_full_width("get_user_account_by_identifier - design pattern (2026)"),
        "the 1990\u20132026 range \u2014 and so\u2011called non\u2011breaking hyphens… ½ \ufb01ne ①②③",
    ],
)
def test_ordinary_text_in_full_width_is_left_alone(text: str) -> None:
    assert (find_secrets(text), find_random(text)) == ([], [])


@pytest.mark.parametrize("frame", ["api_key={}&page=2", "Authorization: Bearer {}.", "password: {}@host"])
def test_a_key_with_a_form_is_what_a_context_holds(frame: str) -> None:
    """The kind and the value are those of the key, so that it has one placeholder everywhere."""
    (found,) = find_secrets(frame.format(KEY))
    assert (found.kind, found.value) == ("an Anthropic key", KEY)


def test_a_private_key_in_a_difference_is_hidden_to_its_end() -> None:
    pem = example("a private key")[0]
    for sign in "+->":
        marked = "\n".join(f"{sign}{line}" for line in pem.splitlines())
        (found,) = find_secrets(f"{marked}\nand so on")
        assert marked[found.start : found.end].endswith("END RSA PRIVATE KEY-----")


# What looks random
