"""What is wrong with a text, and the one-line words for it."""

from __future__ import annotations

from typing import Final

from golem_cli.core.quote import marked

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


def excerpt(text: str, position: int = 0) -> str:
    """Quote a short, harmless piece of `text` from `position` on.

    >>> excerpt("[1, 2]", 4), excerpt("", 0)
    ("'2]'", 'the end of the text')
    """
    piece = text[position : position + EXCERPT]
    if not piece:
        return "the end of the text"
    more = "…" if position + EXCERPT < len(text) else ""
    return f"'{marked(piece)}'{more}"
