"""Whether a string looks random: a key of a service that no pattern knows, perhaps.

The rule, as the documents state it: a run of 20 characters or more (letters, digits and the marks that keys
and passwords have) looks random when its Shannon entropy, or that of its letters and digits, is at least 2.75
bits a character, and a third of its letters and digits, or 16 of them in a row, stand in segments that do not
read like words, names or numbers. Addresses and names in code are made of segments that do. Entropy alone
cannot tell them: a long name has as much of it as a short key. Of digits alone, 20 in a row look random when
they have 2.5 bits a digit and 64 bits cannot hold the number: they may be a card or a token.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

ENTROPY: Final = 2.75
"""Bits a character; of 20 random hexadecimal digits 998 in 1,000 strings have as many, of letters all."""

_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_UNIFORM: Final = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)?[0-9]{0,4}|[0-9]+|[0-9]{1,4}[A-Za-z]{1,2}")
_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[A-Z]")
_CONSONANTS: Final = re.compile(r"[^aeiouyAEIOUY]{5}")
_VOWEL: Final = re.compile(r"[aeiouyAEIOUY]")
_HTTP: Final = re.compile("http", re.IGNORECASE)  # begins many a name, and no word
_RARE: Final = re.compile(r"[jqxzJQXZ]")
_SHARE: Final = 3  # one in so many letters and digits
_STRETCH: Final = 16
_SHORT_WORD: Final = 4
_LONG_WORD: Final = 16
_FEW_VOWELS: Final = 6  # a word has at least one in so many letters
_COARSE: Final = 3  # letters that the words of a name written LikeThis have on the average
_LONG_NUMBER: Final = re.compile(r"[0-9]{20,}")
_DIGITS_ENTROPY: Final = 2.5  # bits; of 20 random digits 99 in 100 have as many (ten digits have 3.3 at most)
_LARGEST: Final = str(2**64 - 1)


def looks_random(text: str) -> bool:
    """Whether `text`, one run without spaces, looks random. Its length is the caller's business.

    >>> looks_random("kT9x2mQ7bR4vW8pL1nZ6"), looks_random("get_user_account_by_identifier")
    (True, False)
    """
    if any(map(_is_random_number, _LONG_NUMBER.findall(text))):
        return True
    if max(entropy(text), entropy("".join(_SEGMENT.findall(text)))) < ENTROPY:
        return False
    total = unreadable = stretch = 0
    for segment in _SEGMENT.findall(text):
        length = len(segment)
        total += length
        stretch = 0 if _reads_like_a_name(segment) else stretch + length
        unreadable += length if stretch else 0
        if stretch >= _STRETCH:
            return True
    return _SHARE * unreadable >= total > 0


def reads_like_names(text: str) -> bool:
    """Whether all segments of `text` are words, numbers or names; so is nothing at all.

    >>> reads_like_names("and_then"), reads_like_names("L2m3N4")
    (True, False)
    """
    return all(map(_reads_like_a_name, _SEGMENT.findall(text)))


def entropy(text: str) -> float:
    """Return the Shannon entropy of the characters of `text`, in bits a character; 0 for an empty one.

    >>> entropy("abcd"), entropy("aaaa")
    (2.0, 0.0)
    """
    total = len(text)
    return math.fsum(count / total * math.log2(total / count) for count in Counter(text).values())


def _is_random_number(digits: str) -> bool:
    fits = len(digits) == len(_LARGEST) and "1" <= digits <= _LARGEST
    return not fits and entropy(digits) >= _DIGITS_ENTROPY


def _reads_like_a_name(segment: str) -> bool:
    """Whether a segment of letters and digits is a word, a number, or words joined as names in code are."""
    pieces = _PIECE.findall(segment)
    words = [piece for piece in pieces if piece.isalpha()]
    if not all(map(_reads_like_a_word, words)):
        return False
    if _UNIFORM.fullmatch(segment):
        return True
    return len(pieces) - len(words) <= 1 and sum(map(len, words)) >= _COARSE * max(len(words), 1)


def _reads_like_a_word(letters: str) -> bool:
    if len(letters) <= _SHORT_WORD:
        return True
    vowels = len(_VOWEL.findall(letters))
    if vowels * _FEW_VOWELS < len(letters) or _CONSONANTS.search(_HTTP.sub("", letters)):
        return False
    return len(letters) <= _LONG_WORD or len(_RARE.findall(letters)) <= 1
