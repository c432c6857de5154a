"""Finding secrets in a text: every kind of the kept list, also behind escapes, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from golem_cli.core.secrets.patterns import PATTERNS, Pattern
from golem_cli.core.secrets.randomness import looks_random, reads_like_names
from golem_cli.core.secrets.views import View, views

PLACEHOLDER: Final = re.compile(r"(?:\[|%5[Bb])(?:secret|random|id)-[0-9]+(?:\]|%5[Dd])")


class Found(msgspec.Struct, frozen=True):
    """A secret: its kind in words, where it stands in the text that was searched, and what it says.

    `value` has its escapes decoded: two spellings of one key have one value. It must never be shown.
    `in_context` is that of the kind's pattern.
    """

    kind: str
    start: int
    end: int
    value: str
    in_context: bool = False


def find_secrets(text: str, *, escapes: bool = True) -> list[Found]:
    r"""Return the secrets in `text`, in order, none overlapping another; with `escapes` behind those, too.

    >>> [(f.kind, f.start, f.end) for f in find_secrets("key: gsk_a1b2c3d4e5f6g7h8i9j0k1 (Groq)")]
    [('a Groq key', 5, 31)]
    >>> find_secrets(r'{"key": "gsk\u005fa1b2c3d4e5f6g7h8i9j0k1"}')[0].value
    'gsk_a1b2c3d4e5f6g7h8i9j0k1'
    """
    found: list[Found] = []
    broken: list[Found] = []
    for view in views(text) if escapes else (View(text),):
        found = [*without_overlaps(_found_in(view)), *found]  # of equal ones the most decoded says what it is
        broken += _broken_in(view) if escapes else ()
    whole = without_overlaps(found)
    starts = [each.start for each in whole]
    return without_overlaps([*whole, *(each for each in broken if _says_more(each, whole, starts))])


def _found_in(view: View) -> list[Found]:
    return [
        Found(pattern.kind, *view.span(start, end), view.text[start:end], pattern.in_context)
        for pattern, start, end in _matches(view.text)
    ]


def _broken_in(view: View) -> list[Found]:
    """Return what looks like a secret once the lines and literals of `view` are joined."""
    joined = view.joined()
    if joined is None:
        return []
    return [each for each in _found_in(joined) if not each.in_context and looks_random(each.value)]


def _says_more(broken: Found, whole: Sequence[Found], starts: Sequence[int]) -> bool:
    """Whether a secret with breaks in it is none of the `whole` ones, or goes on from one of them.

    What begins the line after a whole key is most often the next word.
    """
    first = max(bisect_right(starts, broken.start) - 1, 0)
    touched = [each for each in whole[first : bisect_left(starts, broken.end)] if each.end > broken.start]
    if len(touched) != 1:
        return not touched  # several whole ones are a list of keys
    known = touched[0].value
    more = broken.value[len(known) :]
    is_word = more.isalpha() and more in {more.lower(), more.capitalize()}  # "Deutschland" has few vowels
    return broken.value.startswith(known) and not is_word and not reads_like_names(more)


def without_overlaps(found: Iterable[Found]) -> list[Found]:
    """Return one of each group that overlaps, stretched over the whole group.

    One with a form of its own goes before one that only its context tells; then the longest; then the first.
    """
    kept: list[Found] = []
    for each in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
            continue
        last = kept[-1]
        better = each if _weight(each) > _weight(last) else last
        kept[-1] = msgspec.structs.replace(better, start=last.start, end=max(last.end, each.end))
    return kept


def _weight(found: Found) -> tuple[bool, int]:
    return not found.in_context, found.end - found.start


def _matches(text: str) -> Iterator[tuple[Pattern, int, int]]:
    """Yield pattern, start and end of the secrets that stand in `text` as they are."""
    for pattern in PATTERNS:
        for marker in pattern.markers:
            yield from _matches_at(text, pattern, marker)


def _matches_at(text: str, pattern: Pattern, marker: str) -> Iterator[tuple[Pattern, int, int]]:
    position = text.find(marker)
    while position >= 0:
        end = position + 1
        if pattern.attached or not position or not text[position - 1].isalnum():
            match = pattern.regex.match(text, position)
            if match is not None:
                end = match.end()
                start, stop = match.span("secret" if "secret" in match.re.groupindex else 0)
                if _is_secret(match.string[start:stop], pattern):
                    yield pattern, start, stop
        position = text.find(marker, end)


def _is_secret(value: str, pattern: Pattern) -> bool:
    if PLACEHOLDER.fullmatch(value):
        return False
    return not pattern.opaque or looks_random(value)
