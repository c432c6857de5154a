"""Secrets are found by their form, whatever escapes they are spelled with; ordinary text is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golem_cli.core.secrets import find_secrets
from golem_cli.core.secrets.patterns import PATTERNS
from golem_cli.core.secrets.randomness import entropy, find_random, looks_random
from golem_cli.core.secrets.views import views
from tests.support.secrets import EXAMPLES, HEX, TAIL, example

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
}


@pytest.mark.parametrize("name", SPELLINGS)
@given(chosen=st.sets(st.integers(0, len(KEY) - 1), min_size=1))
def test_a_key_is_found_with_any_of_its_characters_escaped(name: str, chosen: set[int]) -> None:
    spell = SPELLINGS[name]
    spelled = "".join(spell(c) if index in chosen else c for index, c in enumerate(KEY))
    (found,) = find_secrets(f'{{"key": "{spelled}"}}')
    assert found.value == KEY
    left = f'{{"key": "{spelled}"}}'[found.start : found.end]
    assert spelled.startswith(left[:8]) or left in spelled


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
    "repeated", ["eyJ-", "://", "\\", "-----BEGIN PRIVATE KEY-----", "sk-", "Bearer ", "secret", "password="]
)
def test_no_text_of_five_megabytes_makes_the_search_go_round_and_round(repeated: str) -> None:
    """A search that is not linear would take hours; nothing here looks at a clock."""
    text = repeated * (LARGE // len(repeated))
    assert find_secrets(f"{text} {KEY}")[-1].value == KEY


@pytest.mark.parametrize("repeated", [f"{TAIL[:24]} ", "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11 ", "a/b1"])
def test_nor_does_the_search_for_what_looks_random(repeated: str) -> None:
    text = repeated * (LARGE // 4 // len(repeated))
    assert find_random(f"{text} {HEX[:32]}")[-1][2] == HEX[:32]


@given(st.text())
def test_secrets_are_found_in_order_and_apart(text: str) -> None:
    spans = [(found.start, found.end) for found in find_secrets(f"{text} {KEY} {text}")]
    assert spans
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


# What looks random


def test_entropy_is_that_of_a_hand_calculation() -> None:
    assert entropy("") == 0
    assert entropy("aabb") == 1
    assert entropy("abcdefgh") == 3


@pytest.mark.parametrize(
    "text", [TAIL[:20], HEX[:20], HEX[:40], "kJ8#mP2$vL9@xQ4!zR7&", "Zm9vYmFyYmF6cXV4-_x9"]
)
def test_keys_of_twenty_characters_look_random(text: str) -> None:
    assert looks_random(text)
    assert [run for _, _, run in find_random(f"it is {text} here")] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "get_user_account_by_identifier",
        "AbstractSingletonProxyFactoryBean",
        "internationalization",
        "/usr/lib/python3/dist-packages/module/__init__.py",
        "https://docs.python.org/3/library/asyncio-task.html",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "local:smollm2-135m-instruct",
        "accounts/fireworks/models/llama-v3p3-70b-instruct",
        "====================================",
        "00000000000000000000000000",
    ],
)
def test_names_paths_and_addresses_do_not_look_random(text: str) -> None:
    assert not looks_random(text)


@pytest.mark.parametrize(
    "text",
    [
        "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11",
        "2026-01-02T03:04:05.678Z",
        f"commit {HEX[:40]}",
        f"sha256:{HEX[:64]}",
        f"data:image/png;base64,{TAIL}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{TAIL[:40]} bob@host",
    ],
)
def test_what_explains_a_random_string(text: str) -> None:
    assert find_random(f"see {text} there") == []


@pytest.mark.parametrize(
    "spelled",
    [
        json.dumps(TAIL[:30])[1:-1].replace("B", "\\u0042"),
        quote(TAIL[:30]),
        f"{TAIL[:10]}\u200b{TAIL[10:30]}",
    ],
)
def test_a_random_string_is_seen_through_escapes(spelled: str) -> None:
    assert [run for _, _, run in find_random(spelled)][-1:] == [TAIL[:30]]
