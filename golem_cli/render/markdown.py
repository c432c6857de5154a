"""Markdown blocks as terminal rows: markdown-it parses, Rich wraps the text.

HTML is shown as text, links with their address, images by name; no OSC 8 links. Nothing depends on what comes
later in the document: a list item looks the same whatever list it is in, so items can be rendered one by one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from golem_cli.render.cells import first_cells
from golem_cli.render.code import Highlighter, Piece
from golem_cli.render.inline import text_of
from golem_cli.render.neutralize import neutralize
from golem_cli.render.rows import Row, to_ansi
from golem_cli.render.styles import STYLES
from golem_cli.render.syntax_theme import ANSI, SyntaxTheme
from golem_cli.render.table import Alignment, Columns

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping, Sequence

    from markdown_it.token import Token

_BULLET: Final = Segment(" • ")
_QUOTED: Final = Segment("▌ ", Style(dim=True))
_HEADER: Final = Style(bold=True)
_RULE: Final = 24
_NARROWEST: Final = 8
"""Cells that text keeps however deep it is nested."""


@cache
def parser() -> MarkdownIt:
    """The parser of whole blocks."""
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


@cache
def block_parser() -> MarkdownIt:
    """The same, without a look at what stands inside the blocks."""
    blocks = MarkdownIt("commonmark", {"html": False}).enable(["table"])
    blocks.core.ruler.enableOnly(["normalize", "block"])
    return blocks


def parse(source: str, environment: MutableMapping[str, object]) -> list[Token]:
    """Parse `source`; link definitions are found in and added to `environment`. Empty fences are left out."""
    tokens = parser().parse(source, environment)
    return [token for token in tokens if token.type != "fence" or token.content.strip()]


class BlockRenderer:
    """Renders parsed blocks to rows of `width` cells."""

    def __init__(self, width: int, *, color: bool = True, theme: SyntaxTheme = ANSI) -> None:
        self.width = max(width, 1)
        self._color = color
        self._theme = theme
        self._console = Console(
            width=self.width, height=1000, color_system="standard", force_terminal=True, legacy_windows=False,
            theme=Theme(STYLES), highlight=False, markup=False, emoji=False, _environ={},
        )  # fmt: skip

    def blocks(self, tokens: Sequence[Token]) -> list[str]:
        """Return the rows of `tokens`, one blank row between top-level blocks."""
        rows: list[str] = []
        for block in _nodes(tokens):
            if drawn := [to_ansi(row, color=self._color) for row in self._block(block, self.width, Style())]:
                rows += [""] * bool(rows) + drawn
        return rows

    def code_line(self, pieces: Sequence[Piece]) -> list[str]:
        """Return the rows of one line of code."""
        return [to_ansi(row, color=self._color) for row in _code_rows(pieces, self.width)]

    def _block(self, tokens: Sequence[Token], width: int, style: Style) -> list[Row]:
        first = tokens[0]
        width = max(width, min(_NARROWEST, self.width))
        match first.type:
            case "paragraph_open" | "heading_open":
                if first.type == "heading_open":
                    style += self._console.get_style(f"markdown.{first.tag}")
                return self._wrap(text_of(tokens[1].children or [], style), width)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(tokens, width, style)
            case "blockquote_open":
                inner = self._children(tokens[1:-1], width - 2, style + Style(italic=True), apart=True)
                return [[_QUOTED, *row] for row in inner]
            case "fence" | "code_block":
                return _code_block(first, width, self._theme)
            case "table_open":
                return self._table(tokens, width, style)
            case "hr":
                return [[Segment("─" * min(width, _RULE), Style(dim=True))]]
        return []

    def _wrap(self, text: Text, width: int) -> list[Row]:
        lines = text.wrap(self._console, width)
        return [
            [Segment(line.plain)] if not line.spans and not line.style else self._line(line) for line in lines
        ]

    def _line(self, line: Text) -> Row:
        return list(line.render(self._console, end=""))

    def _children(self, tokens: Sequence[Token], width: int, style: Style, *, apart: bool) -> list[Row]:
        """Rows of the blocks in a container: with a blank row between all, or between paragraphs only."""
        rows: list[Row] = []
        before = ""
        for block in _nodes(tokens):
            kind = block[0].type
            if rows and (apart or before == kind == "paragraph_open"):
                rows.append([])
            rows += self._block(block, width, style)
            before = kind
        return rows

    def _list(self, tokens: Sequence[Token], width: int, style: Style) -> list[Row]:
        number = int(tokens[0].attrs.get("start", 1))
        ordered = tokens[0].type == "ordered_list_open"
        rows: list[Row] = []
        for item in _nodes(tokens[1:-1]):
            mark = Segment(f"{number}.".rjust(3) + " ") if ordered else _BULLET
            number += 1
            indent = Segment(" " * len(mark.text))
            inner = self._children(item[1:-1], width - len(mark.text), style, apart=False) or [[]]
            rows += [[indent if index else mark, *row] for index, row in enumerate(inner)]
        return rows

    def _table(self, tokens: Sequence[Token], width: int, style: Style) -> list[Row]:
        cells = _cells(tokens, style)
        columns = _columns(tokens, cells, width)
        if columns.width > width:  # more columns than cells: row by row, as text
            return [row for one in cells for row in self._wrap(Text(" | ").join(one), width)]
        header, *body = [columns.draw(one, self._console) for one in cells]
        return [*header, columns.rule(), *(row for rows in body for row in rows)]

    def columns(self, tokens: Sequence[Token]) -> Columns:
        """Return the columns of a top-level table."""
        return _columns(tokens, _cells(tokens, Style()), self.width)

    def table_body(self, tokens: Sequence[Token], columns: Columns) -> list[str]:
        """Return the rows of a table without its header, in the widths that another one fixed."""
        body = _cells(tokens, Style())[1:]
        rows = (row for cells in body for row in columns.draw(cells, self._console))
        return [to_ansi(row, color=self._color) for row in rows]


def _cells(tokens: Sequence[Token], style: Style) -> list[list[Text]]:
    """The texts of a table, its header first, which is bold."""
    rows: list[list[Text]] = []
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in {"th_open", "td_open"}:
            text_style = style + _HEADER if token.type == "th_open" else style
            rows[-1].append(text_of(tokens[index + 1].children or [], text_style))
    return rows


def _columns(tokens: Sequence[Token], cells: Sequence[Sequence[Text]], width: int) -> Columns:
    alignments = [_alignment(token) for token in tokens if token.type == "th_open"]
    return Columns.fit(cells, alignments, width)


def _nodes(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Cut `tokens` into the blocks of their outermost level."""
    start = depth = 0
    for index, token in enumerate(tokens, 1):
        depth += token.nesting
        if depth == 0:
            yield tokens[start:index]
            start = index


def _alignment(token: Token) -> Alignment:
    style = token.attrs.get("style")
    if style == "text-align:right":
        return "right"
    return "center" if style == "text-align:center" else "left"


def _code_block(token: Token, width: int, theme: SyntaxTheme) -> list[Row]:
    highlighter = Highlighter(token.info.split(" ")[0], theme)
    lines = neutralize(token.content).strip("\n").rstrip().split("\n")
    while not lines[0].strip():
        del lines[0]
    return [row for line in lines for row in _code_rows(highlighter.line(line.expandtabs(4)), width)]


def _code_rows(pieces: Sequence[Piece], width: int) -> list[Row]:
    """Break a line of code into rows of at most `width` cells, wherever that falls."""
    if sum(cell_len(text) for _, text in pieces) <= width:
        return [[Segment(text, _style(style)) for style, text in pieces]]
    rows: list[Row] = [[]]
    room = width
    for style, text in pieces:
        rest = text
        while rest:
            fits = first_cells(rest, room)
            if not fits and rows[-1]:
                rows.append([])
                room = width
                continue
            fits = fits or rest[0]  # a character that is wider than a whole row
            rows[-1].append(Segment(fits, _style(style)))
            rest = rest[len(fits) :]
            room -= cell_len(fits)
    return rows


@cache
def _style(definition: str) -> Style | None:
    return Style.parse(definition) if definition else None


class MarkdownText:
    """Neutralized Markdown as a renderable, for a console of its own."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        renderer = BlockRenderer(options.max_width, color=not console.no_color)
        for row in renderer.blocks(parse(self._source, {})):
            yield Text.from_ansi(row)
