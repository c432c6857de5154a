r"""Text → the words that a search can find it by.

A word is a run of letters, digits and marks, its case folded. Chinese, Japanese, Korean, Thai
and others put no spaces between their words (or glue particles to them): a run of their characters is known
by each character and each pair of neighbours, so that any part of it is found.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import Final

UNSPACED: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30fa\u30fc-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7fb\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, kana, Bopomofo, ideographs, Hangul; inside a character class."""
MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u0df3\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe20-\ufe2f"
)
"""What belongs to the word that it is in, and is no letter: accents, vowel signs, joiners."""


def folded(text: str) -> str:
    """Return `text` as texts are compared: canonically composed, case folded.

    >>> folded("STRASSE") == folded("straße")
    True
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).casefold()


@cache
def runs() -> re.Pattern[str]:
    """Match a word, or as group 1 a run of characters of a script without spaces, in folded text."""
    return re.compile(rf"([{UNSPACED}]+)|(?:[^\W_{UNSPACED}]|[{MARKS}])+")


def indexed(text: str) -> str:
    """Return `text` as the index takes it: SQLite's `ascii` tokenizer makes of it the words that we mean.

    To that one every character beyond ASCII is part of a word, and of ASCII letters and digits, in any case.

    >>> indexed("Golem's"), indexed("“Straße” 漢字").split()
    ("Golem's", ['strasse', '漢字', '漢', '字'])
    """
    if text.isascii():
        return text
    between, unspaced = _beyond_ascii()
    return unspaced.sub(lambda run: f" {' '.join(parts_of(run.group()))} ", between.sub(" ", folded(text)))


@cache
def _beyond_ascii() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Match what parts words, and runs of scripts without spaces."""
    return re.compile(rf"[^\x00-\x7f\w{MARKS}{UNSPACED}]+"), re.compile(f"[{UNSPACED}]+")


def parts_of(run: str) -> list[str]:
    """Return the pairs of neighbours in a run without spaces, and its characters."""
    return [*dict.fromkeys(map("".join, pairwise(run))), *dict.fromkeys(run)]
