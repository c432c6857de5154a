"""Where a paragraph that is taller than the screen can be cut, so that both parts look like the whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from golem_cli.render.blocks import MAYBE_BLOCK
from golem_cli.render.markdown import block_parser, parse

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from markdown_it.token import Token

    from golem_cli.render.markdown import BlockRenderer

_SGR: Final = re.compile(r"\x1b\[[\d;]*m")
# What is still literal after parsing but what later text could make markup of.
_OPEN_MARKUP: Final = re.compile(r"(?<!\w)_(?=\S)|\*(?=\S)|`|~~(?=\S)|\[[^\]]*$|<[^>]*$")
_MOST_ROWS_KEPT: Final = 4


def split_paragraph(
    source: str, renderer: BlockRenderer, environment: MutableMapping[str, object]
) -> int | None:
    """Return the index in `source` at which a row begins and no markup is open, or None.

    `source` must be one unfinished paragraph, else there is no such index.
    """
    blocks = [token for token in block_parser().parse(source, {}) if token.level == 0 and token.nesting >= 0]
    if [token.type for token in blocks] != ["paragraph_open"]:
        return None
    rows = renderer.blocks(parse(source, environment))
    spaced = source.replace("\n", " ").rstrip(" ")
    for kept in range(1, min(_MOST_ROWS_KEPT, len(rows) - 1) + 1):
        rest = " ".join(_SGR.sub("", row) for row in rows[-kept:])
        cut = len(spaced) - len(rest)
        if spaced.endswith(f" {rest}") and not MAYBE_BLOCK.match(rest):
            tokens = parse(source[:cut].rstrip(), environment)
            if _closed(tokens) and renderer.blocks(tokens) == rows[:-kept]:
                return cut
    return None


def _closed(tokens: list[Token]) -> bool:
    """Whether no text in `tokens` could become markup by what follows."""
    texts = (child.content for token in tokens for child in token.children or () if child.type == "text")
    return not any(_OPEN_MARKUP.search(text) for text in texts)
