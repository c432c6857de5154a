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

LONGEST: Final = 64
"""Characters of a word that the index keeps: nobody types more of a hash or of base64."""

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

_ASCII_WORDS: Final = (
    bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)) + b" " * 128
)
"""For `bytes.translate`: lower case, and a space for what is no word."""


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


def words_of(text: str) -> set[str]:
    """Return the words that the index knows `text` by, each at most `LONGEST` characters.

    >>> sorted(words_of("Golem's e-mail: golem_cli, 漢字"))
    ['cli', 'e', 'golem', 'mail', 's', '字', '漢', '漢字']
    """
    if text.isascii():
        found = set(text.encode().translate(_ASCII_WORDS).decode().split())
    else:
        found = set()
        for run in runs().finditer(folded(text)):
            found.update(parts_of(run.group()) if run.group(1) else (run.group(),))
    return {word[:LONGEST] for word in found}


def parts_of(run: str) -> set[str]:
    """Return each character of a run without spaces, and each pair of neighbours."""
    return {*run, *map("".join, pairwise(run))}
