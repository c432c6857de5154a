"""Markdown blocks as terminal rows: markdown-it parses, Rich lays out, and what Rich loses stays visible.

HTML is shown as text, links with their address, images by name; no OSC 8 links. A list item is as wide as its
own number asks, so that items can be rendered one after another.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from rich import markdown as rich_markdown
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from golem_cli.render.cells import first_cells
from golem_cli.render.code import Highlighter
from golem_cli.render.neutralize import neutralize
from golem_cli.render.styles import STYLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping, Sequence

    from markdown_it.token import Token


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


def _spell_out(children: list[Token]) -> list[Token]:
    """Inline tokens as Rich shall draw them: harmless, and a link followed by its address."""
    link_text, hrefs = "", []
    drawn: list[Token] = []
    for token in children:
        token.content = neutralize(token.content)
        drawn.append(token)
        if token.type == "link_open":
            hrefs.append(str(token.attrs.get("href", "")))
            token.type, link_text = "a_open", ""
        elif token.type == "link_close":
            token.type = "a_close"
            href = neutralize(hrefs.pop(), single_line=True)
            if href and href not in {link_text, f"mailto:{link_text}"}:
                drawn.append(token.copy(type="text", tag="", nesting=0, content=f" ({href})"))
        elif token.type == "image":
            token.type, token.tag = "text", ""
            address = neutralize(str(token.attrs.get("src", "")), single_line=True)
            token.content, token.children = f"[image: {token.content} ({address})]", None
        else:
            link_text += token.content
    return drawn


def parse(source: str, environment: MutableMapping[str, object]) -> list[Token]:
    """Parse `source`; link definitions are found in and added to `environment`."""
    tokens = parser().parse(source, environment)
    for token in tokens:
        if token.children:
            token.children = _spell_out(token.children)
        elif token.type in {"fence", "code_block"}:
            token.content = neutralize(token.content)
    return [token for token in tokens if token.type != "fence" or token.content.strip()]


class _Heading(rich_markdown.Heading):
    LEVEL_ALIGN: Final = {}  # type: ignore[misc]  # all to the left


class _Rule(rich_markdown.MarkdownElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(options.max_width, 24), style="dim")


class _Code(rich_markdown.CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        highlighter = Highlighter(self.lexer_name)
        for line in str(self.text).rstrip().split("\n"):
            pieces = highlighter.line(line.expandtabs(4))
            for row in wrap_pieces(pieces, options.max_width):
                yield from (Segment(text, console.get_style(style or "none")) for style, text in row)
                yield Segment.line()


class _ListItem(rich_markdown.ListItem):
    def render_number(
        self, console: Console, options: ConsoleOptions, number: int, last_number: int
    ) -> RenderResult:
        numeral = f"{number}.".rjust(3) + " "
        lines = console.render_lines(
            self.elements, options.update(width=max(options.max_width - len(numeral), 1)), style=self.style
        )
        style = console.get_style("markdown.item.number")
        for index, line in enumerate(lines):
            yield Segment(" " * len(numeral) if index else numeral, None if index else style)
            yield from line
            yield Segment.line()


class _Document(rich_markdown.Markdown):
    """Rich's Markdown over tokens that were parsed here."""

    elements = rich_markdown.Markdown.elements | {
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "hr": _Rule,
        "list_item_open": _ListItem,
    }
    inlines = rich_markdown.Markdown.inlines | {"a"}

    def __init__(self, tokens: list[Token]) -> None:
        self.markup = ""
        self.parsed = tokens
        self.code_theme = ""
        self.justify = None
        self.style = "none"
        self.hyperlinks = False
        self.inline_code_lexer = None
        self.inline_code_theme = ""


def wrap_pieces(pieces: Sequence[tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    """Break a line of code into rows of at most `width` cells, wherever that falls."""
    if sum(cell_len(text) for _, text in pieces) <= width:
        return [list(pieces)]
    rows: list[list[tuple[str, str]]] = [[]]
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
            rows[-1].append((style, fits))
            rest = rest[len(fits) :]
            room -= cell_len(fits)
    return rows


@lru_cache(maxsize=512)
def sgr(style: Style, *, color: bool) -> str:
    """Return the sequence that switches `style` on, "" for none. Links are left out."""
    shown = style.update_link(None) if color else style.update_link(None).without_color
    before, _, _ = shown.render("\0").partition("\0")
    return before


def to_row(segments: Iterable[Segment], *, color: bool) -> str:
    """Return one row as text with SGR sequences where the style changes; no blanks at its end."""
    drawn = [segment for segment in segments if segment.text and not segment.control]
    while drawn and _is_blank(drawn[-1]):
        drawn.pop()
    out: list[str] = []
    current = ""
    for text, style, _ in drawn:
        wanted = sgr(style, color=color) if style else ""
        if wanted != current:
            out.append(("\x1b[0m" if current else "") + wanted)
            current = wanted
        out.append(text)
    if current:
        return "".join(out) + "\x1b[0m"
    return "".join(out).rstrip(" ")


def _is_blank(segment: Segment) -> bool:
    """Whether nothing of it can be seen."""
    style = segment.style
    return not segment.text.strip(" ") and not (style and (style.bgcolor or style.underline or style.reverse))


def _top_level(tokens: list[Token]) -> Iterator[list[Token]]:
    """Cut `tokens` into the top-level blocks."""
    start = 0
    for index, token in enumerate(tokens, 1):
        if token.level == 0 and token.nesting <= 0:
            yield tokens[start:index]
            start = index


class BlockRenderer:
    """Renders parsed blocks to rows of `width` cells."""

    def __init__(self, width: int, *, color: bool = True) -> None:
        self.width = max(width, 1)
        self._color = color
        self._console = Console(
            width=self.width, height=1000, color_system="standard", force_terminal=True, legacy_windows=False,
            theme=Theme(STYLES), highlight=False, markup=False, emoji=False, _environ={},
        )  # fmt: skip

    def blocks(self, tokens: list[Token]) -> list[str]:
        """Return the rows of `tokens`, one blank row between top-level blocks."""
        rows: list[str] = []
        for block in _top_level(tokens):
            if drawn := self._block(block):
                rows += [""] * bool(rows) + drawn
        return rows

    def _block(self, tokens: list[Token]) -> list[str]:
        lines = self._console.render_lines(_Document(tokens), self._console.options, pad=False)
        rows = [to_row(line, color=self._color) for line in lines]
        while rows and not rows[-1]:
            rows.pop()
        blank = next((index for index, row in enumerate(rows) if row), 0)
        return rows[blank:]

    def code_line(self, pieces: Sequence[tuple[str, str]]) -> list[str]:
        """Return the rows of one line of code."""
        return [
            to_row((Segment(text, _parse_style(style)) for style, text in row), color=self._color)
            for row in wrap_pieces(pieces, self.width)
        ]


@cache
def _parse_style(definition: str) -> Style | None:
    return Style.parse(definition) if definition else None


class MarkdownText:
    """Neutralized Markdown as a renderable, for a console of its own."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        renderer = BlockRenderer(options.max_width, color=not console.no_color)
        for row in renderer.blocks(parse(self._source, {})):
            yield Text.from_ansi(row)
