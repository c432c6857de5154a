"""`neutralize`: what is untrusted becomes visible and harmless, once and wherever it is cut."""

# ruff: noqa: RUF001 - look-alike letters of other scripts are what is tested

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from golem_cli.render.neutralize import Neutralizer, neutralize, one_line

HOSTILE = "\x00\x07\x1b\r\n\t\x7f\x85\x9b\xad"
HOSTILE += "\u061c\u200b\u200c\u200d\u200e\u202e\u2028\u2066\u2060\ufe0f\ufe0e\ufeff"
HOSTILE += "\U000e0041\U000e0100\ud800\udfff\u180b\u3164"
ANCHORS = "a1#é漢क्ษ👩❤⟦⟧U+ ไทย"
texts = st.text(st.one_of(st.sampled_from(HOSTILE + ANCHORS), st.characters(exclude_categories=())))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b[1;1Hall good", "⟦U+001B⟧[2J⟦U+001B⟧[1;1Hall good"),
        ("\x9b31m", "⟦U+009B⟧31m"),
        ("a\x7fb\x00c", "a⟦U+007F⟧b⟦U+0000⟧c"),
        ("forged\rok", "forged⟦U+000D⟧ok"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("a\tb\nc", "a\tb\nc"),
        ("user\u202etxt.exe", "user⟦U+202E⟧txt.exe"),
        ("hi\U000e0041", "hi⟦U+E0041⟧"),
        ("pass\u200bword", "pass⟦U+200B⟧word"),
        ("a\u200db", "a⟦U+200D⟧b"),
        ("a\ufe0f", "a⟦U+FE0F⟧"),
        ("\ud800x", "\ufffdx"),
        ("a\u2028b", "a⟦U+2028⟧b"),
        ("\ufeffstart", "⟦U+FEFF⟧start"),
        ("[red]text[/red]", "[red]text[/red]"),
        ("a literal ⟦U+001B⟧ stays", "a literal ⟦U+001B⟧ stays"),
    ],
)
def test_what_could_act_or_hide_is_marked(text: str, shown: str) -> None:
    assert neutralize(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧",  # family
        "❤\ufe0f\u200d🔥",  # heart on fire
        "1\ufe0f\u20e3",  # keycap
        "می\u200cخواهم",  # Persian
        "क्\u200dष",  # Devanagari
        "ภาษา\u200bไทย",  # Thai
        "naïve café — “quotes” … € 漢字 ру́сский العربية",
        "👍🏽 🇩🇪",
    ],
)
def test_real_writing_is_untouched(text: str) -> None:
    assert neutralize(text) == text
    assert one_line(text) == text


def test_a_single_line_field_has_no_line_breaks() -> None:
    breaks = "a\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h\r\ni\tj"
    shown = one_line(breaks)
    assert len(shown.splitlines()) == 1
    assert "⟦U+000D⟧⟦U+000A⟧" in shown
    assert "⟦U+0009⟧" in shown


def harmless(char: str) -> bool:
    if char in "\n\t":
        return True
    if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}:
        return False
    return unicodedata.bidirectional(char) not in {
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    } and not 0xE0000 <= ord(char) <= 0xE0FFF  # fmt: skip


@given(texts)
def test_nothing_harmful_comes_out(text: str) -> None:
    assert all(map(harmless, neutralize(text)))
    assert not set("\n\t\r") & set(one_line(text))


@given(texts, st.sampled_from([neutralize, one_line]))
@example("a\ufe0f\u200d", neutralize)
@example("\x85\u200d", neutralize)
def test_twice_is_once(text: str, harmless: Callable[[str], str]) -> None:
    once = harmless(text)
    assert harmless(once) == once


@given(st.lists(texts))
@example(["\r", "\n"])
@example(["❤", "\ufe0f", "\u200d", "🔥"])
@example(["a", "\ufe0f", "\u200d"])
def test_fragments_give_what_the_whole_gives(fragments: list[str]) -> None:
    neutralizer = Neutralizer()
    shown = "".join(map(neutralizer.feed, fragments)) + neutralizer.close()
    assert shown == neutralize("".join(fragments))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_printable_ascii_is_untouched(text: str) -> None:
    assert neutralize(text) == text
