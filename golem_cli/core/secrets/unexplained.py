"""The runs of a text that look random and that nothing explains: what a document must not have unseen."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from golem_cli.core.secrets.explained import explained
from golem_cli.core.secrets.randomness import looks_random
from golem_cli.core.secrets.views import views

_SHORTEST: Final = 20
"""Characters of a run that is looked at."""
_RUN: Final = re.compile(r"[A-Za-z0-9!#$%&*+\-./:=?@^_~]{20,}")
_NAMED: Final = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]{0,40})?[:=]+")
_ENDS: Final = ".:?"  # of a sentence, not of a key


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
        if any(stop - begin >= _SHORTEST and looks_random(text[begin:stop]) for begin, stop in rest):
            yield start, end


def _random_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return what of the run from `start` to `end` looks random: without its name, where it has one."""
    end = start + len(text[start:end].rstrip(_ENDS))
    name = _NAMED.match(text, start, end)
    for begin in (name.end(), start) if name else (start,):
        if end - begin >= _SHORTEST and looks_random(text[begin:end]):
            return begin, end
    return None


def _without(start: int, end: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what of the run from `start` to `end` is outside of `spans`, which overlap it, in order."""
    rest = []
    for left, right in spans:
        rest.append((start, left))
        start = right
    return [*rest, (start, end)]
