r"""Text as its readers see it: escapes decoded, marks without width left out, each place still known.

A key that is spelled `sk\u002dant…` in JSON, `sk&#45;ant…` in HTML, `sk\-ant…` in Markdown, `sk%2Dant…` in
an address or in letters of full width is the same key. A view says where each of its characters stands in the
original.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from golem_cli.core.secrets.spellings import breaks, meaning, spelled

if TYPE_CHECKING:
    import re

LAYERS: Final = 4
"""How often escapes inside escapes are decoded: JSON in a JSON string in an HTML page, and one to spare."""


class View:
    """`text` and, for each of its characters, where it stands in the original text.

    The places are runs: from `_starts[i]` on the characters are those from `_origins[i]` on, one for one,
    unless `_widths[i]` says that a whole escape of that many characters stands for each.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        self._origins = [0]
        self._widths = [0]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span of the characters from `start` to `end` (not empty)."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, position: int) -> tuple[int, int]:
        run = bisect_right(self._starts, position) - 1
        origin, width = self._origins[run], self._widths[run]
        if width:
            return origin, origin + width
        at = origin + position - self._starts[run]
        return at, at + 1

    def decoded(self) -> View | None:
        """Return the view one layer deeper; None when there is nothing to decode."""
        return self._rewritten((match, meaning(match)) for match in spelled(self.text))

    def joined(self) -> View | None:
        """Return the view without the breaks of lines and literals; None when there is none."""
        return self._rewritten((match, "") for match in breaks(self.text))

    def _rewritten(self, replacements: Iterable[tuple[re.Match[str], str]]) -> View | None:
        """Return the view in which each match is what it is given with; None when there is none."""
        pieces: list[str] = []
        deeper = View("")
        deeper._starts, deeper._origins, deeper._widths = [], [], []
        length = end = 0
        for match, meant in replacements:
            length = deeper._copy(self, pieces, length, end, match.start())
            length = deeper._stand_for(self, pieces, length, match, meant)
            end = match.end()
        if not end:
            return None
        deeper._copy(self, pieces, length, end, len(self.text))
        deeper.text = "".join(pieces)
        return deeper

    def _copy(self, source: View, pieces: list[str], length: int, start: int, end: int) -> int:
        """Take the characters of `source` from `start` to `end` as they are, with their places."""
        run = bisect_right(source._starts, start) - 1
        at = start
        while at < end:
            run_end = source._starts[run + 1] if run + 1 < len(source._starts) else len(source.text)
            width = source._widths[run]
            self._starts.append(length + at - start)
            self._origins.append(source._origins[run] + (0 if width else at - source._starts[run]))
            self._widths.append(width)
            at, run = min(run_end, end), run + 1
        pieces.append(source.text[start:end])
        return length + end - start

    def _stand_for(
        self, source: View, pieces: list[str], length: int, match: re.Match[str], meant: str
    ) -> int:
        """Take what a match in `source` stands for; its place is the whole match."""
        if meant:
            start, end = source.span(match.start(), match.end())
            self._starts.append(length)
            self._origins.append(start)
            self._widths.append(end - start)
            pieces.append(meant)
        return length + len(meant)


def views(text: str) -> Iterator[View]:
    r"""Yield `text` as it is, and then layer by layer with its escapes decoded.

    >>> [view.text for view in views(r"a\u002db")]
    ['a\\u002db', 'a-b']
    """
    view: View | None = View(text)
    for _ in range(LAYERS + 1):
        if view is None:
            return
        yield view
        view = view.decoded()
