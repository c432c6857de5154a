"""What is wrong with a text, and the one-line words for it."""

from __future__ import annotations

from typing import Final

EXCERPT: Final = 24
"""Characters of foreign text that an error quotes at most."""


class Flaw(Exception):  # noqa: N818 (never leaves the codec: `document` makes a TranscriptError of it)
    """A place where the text breaks a rule.

    `position` counts characters of the scanned text. `at_end` says that the text merely stops too early.
    `field` is the dotted JSON name, `message` the message's number from 1; both are filled in on the way up.
    """

    def __init__(self, problem: str, position: int, *, field: str = "", at_end: bool = False) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position
        self.field = field
        self.at_end = at_end
        self.message: int | None = None


def printable(text: str) -> str:
    r"""Escape what a terminal could act on or a reader cannot see: one line, no control or bidi characters.

    >>> printable("a\x1b\u202e")
    'a\\u001b\\u202e'
    """
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def excerpt(text: str, position: int = 0) -> str:
    """Quote a short, harmless piece of `text` from `position` on.

    >>> excerpt("[1, 2]", 4), excerpt("", 0)
    ("'2]'", 'the end of the text')
    """
    piece = text[position : position + EXCERPT]
    if not piece:
        return "the end of the text"
    more = "…" if position + EXCERPT < len(text) else ""
    return f"'{printable(piece)}'{more}"


def _escape(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
