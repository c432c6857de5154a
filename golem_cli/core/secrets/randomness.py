"""Whether a string looks random: a key of a service that no pattern knows, perhaps.

The rule, as the documents state it: a run of 20 characters or more (letters, digits and the marks that keys
and passwords have) looks random when its Shannon entropy is at least 2.75 bits a character, and a third of
its letters and digits, or 16 of them in a row, stand in segments that do not read like words, names or
numbers. Addresses and names in code are made of segments that do. Entropy alone cannot tell them: a long
name has as much of it as a short key.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Final

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
_EXPLAINED: Final = re.compile(
    r"(?i:(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f]))"  # UUIDs: they name
    r"|\b\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)?"  # times
    r"|(?i:\bdata:(?:image|audio|video|font)/[a-z0-9.+-]+;base64,)[A-Za-z0-9+/=_-]+"  # media
    r"|-----BEGIN [A-Z0-9 ]{0,40}(?:PUBLIC KEY|CERTIFICATE|SIGNATURE)[A-Z0-9 ]{0,20}-----[^-]*+-----END"
    r"|\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp\d+)[ \t]+[A-Za-z0-9+/=]+"  # public keys
    r"|(?i:\b(?:md5|sha-?(?:1|224|256|384|512))[\"']?[ \t]*[-:= ][ \t]*[\"']?)[A-Za-z0-9+/=]+"  # digests
    r"|(?i:\b(?:commit|tree|parent|blob|object|merge)[ \t/:]+)[0-9a-f]{7,64}\b"  # git's names of objects
)


def looks_random(text: str) -> bool:
    """Whether `text`, one run without spaces, looks random. Its length is the caller's business.

    >>> looks_random("kT9x2mQ7bR4vW8pL1nZ6"), looks_random("get_user_account_by_identifier")
    (True, False)
    """
    if entropy(text) < ENTROPY:
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


def entropy(text: str) -> float:
    """Return the Shannon entropy of the characters of `text`, in bits a character; 0 for an empty one.

    >>> entropy("abcd"), entropy("aaaa")
    (2.0, 0.0)
    """
    total = len(text)
    return math.fsum(count / total * math.log2(total / count) for count in Counter(text).values())


def find_random(text: str) -> list[tuple[int, int, str]]:
    """Return the runs of `text` that look random and that nothing explains: start, end, and the run itself.

    Escapes are looked through, as everywhere here. What explains a run: it is a UUID, a time, media data in a
    `data:` address, a public key or certificate, a digest that is called one, or git's name of an object.
    """
    found: dict[tuple[int, int], str] = {}
    for view in views(text):
        for start, end in _unexplained(view.text):
            found.setdefault(view.span(start, end), view.text[start:end])
    spans = sorted(found, key=lambda span: (span[0], -span[1]))
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if kept and start < kept[-1][1]:
            kept[-1] = kept[-1][0], max(end, kept[-1][1])
        else:
            kept.append((start, end))
    return [(start, end, found.get((start, end), text[start:end])) for start, end in kept]


def _unexplained(text: str) -> Iterator[tuple[int, int]]:
    runs = [match.span() for match in _RUN.finditer(text) if looks_random(match.group())]
    if not runs:
        return
    explained = [match.span() for match in _EXPLAINED.finditer(text)]
    lefts, rights = [left for left, _ in explained], [right for _, right in explained]
    for start, end in runs:
        rest = _without(start, end, explained[bisect_right(rights, start) : bisect_left(lefts, end)])
        if any(stop - begin >= SHORTEST and looks_random(text[begin:stop]) for begin, stop in rest):
            yield start, end


def _without(start: int, end: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what of the run from `start` to `end` is outside of `spans`, which overlap it, in order."""
    rest = []
    for left, right in spans:
        rest.append((start, left))
        start = right
    return [*rest, (start, end)]


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
