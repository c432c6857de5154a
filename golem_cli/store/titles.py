"""A conversation's first title: its first prompt, on one line, shortened at a word."""

from __future__ import annotations

import unicodedata

MAX_CELLS = 60
_ELLIPSIS = "…"


def title_from(prompt: str) -> str:
    r"""Return a title of at most `MAX_CELLS` terminal cells; "" for a prompt without text.

    >>> title_from("  What is\n a golem? ")
    'What is a golem?'
    >>> title_from("word " * 30) == "word " * 11 + "word…"
    True
    """
    line = " ".join(prompt[: MAX_CELLS * 40].split())  # enough, also for a prompt of megabytes
    if _cells(line) <= MAX_CELLS:
        return line
    short = _cut(line, MAX_CELLS - 1)
    at_word = short if line[len(short)] == " " else short.rpartition(" ")[0]
    return (at_word if len(at_word) > len(short) // 2 else short).rstrip() + _ELLIPSIS


def _cut(text: str, cells: int) -> str:
    for index, character in enumerate(text):
        cells -= _width(character)
        if cells < 0:
            return text[:index]
    return text


def _cells(text: str) -> int:
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
