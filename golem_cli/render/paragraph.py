"""Where a paragraph that is taller than the screen can be cut, so that both parts look like the whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rich.style import Style

from golem_cli.render.inline import text_of
from golem_cli.render.markdown import block_parser, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping

    from markdown_it.token import Token

    from golem_cli.render.markdown import BlockRenderer

_SGR: Final = re.compile(r"\x1b\[[\d;]*m")
# What is still literal after parsing but what later text could make markup of.
_OPEN_MARKUP: Final = re.compile(r"(?<!\w)_(?=\S)|\*(?=\S)|`|~~(?=\S)|\[[^\]]*$")
# What would not go on as a paragraph when it stands at the start of a line.
_OTHER_BLOCK: Final = re.compile(
    r" {0,3}(?:[-+*](?:\s|$)|#{1,6}(?:\s|$)|[>=|\[]|:?-|`{3}|~{3}|\d{1,9}[.)](?:\s|$)|[-*_](?:\s*[-*_]){2}| )"
)
# A whole word without markup: as wide as it will be, so that the row that it begins stays where it is.
_FINISHED_WORD: Final = re.compile(r"[^\s*_~`\[\]<>&!\\]+\s")
_NO_STYLE: Final = Style()
_MOST_ROWS_KEPT: Final = 4


def split_paragraph(
    source: str, renderer: BlockRenderer, environment: MutableMapping[str, object]
) -> tuple[list[str], int] | None:
    """Return the rows that are certain and the index in `source` at which the rest begins, or None.

    No markup is open there, and the rest begins a row.

    `source` must be one unfinished paragraph, else there is no such index.
    """
    blocks = [token for token in block_parser().parse(source, {}) if token.level == 0 and token.nesting >= 0]
    if [token.type for token in blocks] != ["paragraph_open"]:
        return None
    rows = renderer.blocks(parse(source, environment))
    for kept in range(1, min(_MOST_ROWS_KEPT, len(rows) - 1) + 1):
        certain = _SGR.sub("", "".join(rows[:-kept])).replace(" ", "")
        words = sum(len(_SGR.sub("", row).split()) for row in rows[-kept:])
        for cut in _cuts(source, words):
            if _OTHER_BLOCK.match(source, cut) or not _FINISHED_WORD.match(source, cut):
                continue
            tokens = parse(source[:cut].rstrip(), environment)
            text = "".join(text_of(token.children, _NO_STYLE).plain for token in tokens if token.children)
            if text.replace(" ", "").replace("\n", "") != certain:
                continue
            if _closed(tokens):
                return rows[:-kept], cut
            break
    return None


def _cuts(source: str, words: int) -> Iterator[int]:
    """Where about so many words are left; an address behind a link counts as a word of its own."""
    spaced = source.replace("\n", " ").rstrip(" ")
    for count in (words, words - 1, words - 2):
        pieces = spaced.rsplit(" ", max(count, 1))
        if len(pieces) > count > 0:
            yield len(pieces[0]) + 1


def _closed(tokens: list[Token]) -> bool:
    """Whether no text in `tokens` could become markup by what follows."""
    texts = (child.content for token in tokens for child in token.children or () if child.type == "text")
    return not any(_OPEN_MARKUP.search(text) for text in texts)
