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
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Final

from golem_cli.core.secrets.explained import explained
from golem_cli.core.secrets.views import views

SHORTEST: Final = 20
"""Characters of a string that is looked at."""
ENTROPY: Final = 2.75
"""Bits a character; of 20 random hexadecimal digits 998 in 1,000 strings have as many, of letters all."""

_RUN: Final = re.compile(r"[A-Za-z0-9!#$%&*+\-./:=?@^_~]{20,}")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")
_UNIFORM: Final = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)?[0-9]{0,4}|[0-9]+|[0-9]{1,4}[A-Za-z]{1,2}")
_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[A-Z]")
_CONSONANTS: Final = re.compile(r"[^aeiouyAEIOUY]{5}")
_VOWEL: Final = re.compile(r"[aeiouyAEIOUY]")
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
_NAMED: Final = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]{0,40})?[:=]+")
_ENDS: Final = ".:?"  # of a sentence, not of a key


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


def find_random(text: str) -> list[tuple[int, int, str]]:
    """Return the runs of `text` that look random and that nothing explains: start, end, and the run itself.

    Escapes are looked through, as everywhere here, and a run is told as the most decoded view has it, without
    the name that it is given to. What explains a run is in `explained`.
    """
    found: dict[tuple[int, int], str] = {}
    for view in views(text):
        for start, end in _unexplained(view.text):
            found[view.span(start, end)] = view.text[start:end]
    kept: list[tuple[int, int, str]] = []
    for (start, end), run in sorted(found.items(), key=lambda item: (item[0][0], -item[0][1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end, run))
        elif end > kept[-1][1]:
            kept[-1] = kept[-1][0], end, text[kept[-1][0] : end]
    return kept


def _unexplained(text: str) -> Iterator[tuple[int, int]]:
    runs = [span for match in _RUN.finditer(text) if (span := _random_span(text, *match.span()))]
    if not runs:
        return
    known = explained(text)
    lefts, rights = [left for left, _ in known], [right for _, right in known]
    for start, end in runs:
        rest = _without(start, end, known[bisect_right(rights, start) : bisect_left(lefts, end)])
        if any(stop - begin >= SHORTEST and looks_random(text[begin:stop]) for begin, stop in rest):
            yield start, end


def _random_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return what of the run from `start` to `end` looks random: without its name, where it has one."""
    end = start + len(text[start:end].rstrip(_ENDS))
    name = _NAMED.match(text, start, end)
    for begin in (name.end(), start) if name else (start,):
        if end - begin >= SHORTEST and looks_random(text[begin:end]):
            return begin, end
    return None


def _without(start: int, end: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what of the run from `start` to `end` is outside of `spans`, which overlap it, in order."""
    rest = []
    for left, right in spans:
        rest.append((start, left))
        start = right
    return [*rest, (start, end)]


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
    if vowels * _FEW_VOWELS < len(letters) or _CONSONANTS.search(letters):
        return False
    return len(letters) <= _LONG_WORD or len(_RARE.findall(letters)) <= 1
