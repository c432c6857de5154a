"""Markdown that arrives in fragments: finished blocks go to the scrollback once, the open one is echoed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.render.blocks import Block, BlockSplitter
from golem_cli.render.echo import NEW_ROW, Echo
from golem_cli.render.fence import CodeFence
from golem_cli.render.items import SplitItem, split_item, without_mark
from golem_cli.render.markdown import BlockRenderer, parse
from golem_cli.render.paragraph import split_paragraph
from golem_cli.render.syntax_theme import ANSI, SyntaxTheme

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

    from golem_cli.render.table import Columns

_LONGEST_KEPT: Final = 4096
"""Characters of a line that is on the screen for good; more would be kept for nothing."""
_RELIEF_AFTER: Final = 10
"""Rows of an open paragraph after which a place is looked for where it can be cut."""
_RELIEF_EVERY: Final = 4
"""Rows until the next attempt; that near below the limit every row is one."""

_ROOM_TO_SPARE: Final = 8
"""Rows that an open block must have for each of them that is left blank."""

_TABLE_HEAD: Final = 2
"""Lines of a table before its first row."""
_TABLE_ROWS_AT_ONCE: Final = 16
"""Rows of a tall table that are rendered together: each time its head is parsed again."""


class StreamingMarkdown:
    """Turns fragments of neutralized Markdown into what a terminal is to be sent.

    `width` and `height` are the terminal's cells. The open block never fills the screen: what grows beyond it
    is committed in pieces where that is possible, and else stays as it came ("raw": never erased).
    """

    def __init__(
        self, *, width: int, height: int, color: bool = True, theme: SyntaxTheme | None = None
    ) -> None:
        self._color = color
        self._theme = theme or ANSI
        self._splitter = BlockSplitter()
        self._environment: dict[str, object] = {}
        self._tail = ""  # the line that is not complete yet
        self._table: Columns | None = None  # of the open table, whose rows so far are written
        self._fence: CodeFence | None = None  # the open one
        self._raw = False  # the open block cannot be taken back
        self._raw_line = False  # neither can the open line
        self._separate = False  # a blank row is due before the next block
        self._rows_to_relief = _RELIEF_AFTER
        self._next_number = 1
        self._set_size(width, height)
        self._echo = Echo(self._columns)

    def _set_size(self, width: int, height: int) -> None:
        # The last column stays free: terminals differ in when they wrap.
        self._columns = max(width - 1, 2)
        self._most_rows = max(height - 3, 1)
        self._renderer = BlockRenderer(self._columns, color=self._color, theme=self._theme)

    def feed(self, text: str) -> str:
        """Return what to write for the next fragment."""
        if "\n" not in text:
            return self._partial(text)
        head, *lines = text.split("\n")
        out = [self._partial(head)]
        for line in lines:
            out.append(self._end_line())
            out.append(self._partial(line))
        return "".join(out)

    def close(self) -> str:
        """Return what to write when no more comes; the cursor then stands at the start of a row."""
        out = self._end_line() if self._tail else ""
        if self._raw:
            return out + self._end_raw()
        done = self._splitter.finish()
        if self._table and done:
            return out + self._echo.erase() + self._table_rows(done[0].source, self._table)
        return out + self._replace(done)

    def resize(self, width: int, height: int) -> str:
        """Go on in a terminal of another size; return what to write.

        A narrower terminal may have wrapped the open block's rows: they are given up, never erased.
        """
        narrower = width - 1 < self._columns
        self._set_size(width, height)
        out = ""
        if narrower or self._echo.rows >= self._most_rows:
            out = "\x1b[J"
            if self._echo.column or self._echo.rows:
                self._give_up()
                if self._echo.column:
                    out += NEW_ROW
            self._echo = Echo(self._columns)
        if self._table:  # its columns were made for another width
            self._table, self._raw = None, True
        self._echo.width = self._columns
        return out

    # Parts of lines

    def _partial(self, text: str) -> str:
        if not text:
            return ""
        step = max(self._columns // 2, 1)
        if len(text) <= step:
            return self._add(text)
        return "".join(self._add(text[start : start + step]) for start in range(0, len(text), step))

    def _add(self, text: str) -> str:
        if self._raw_line and len(self._tail) > _LONGEST_KEPT:
            return self._echoed(text)  # nothing will be made of it
        self._tail += text
        if self._splitter.decides(self._tail):
            done = self._splitter.finish()
            if not self._raw:
                return self._replace(done)
            self._raw = self._separate = False
        return self._echoed(text)

    def _echoed(self, text: str) -> str:
        rows = self._echo.rows
        out = self._echo_open(text)
        if self._echo.rows == rows:
            return out
        self._rows_to_relief -= self._echo.rows - rows
        if self._rows_to_relief > 0 and self._echo.rows < self._most_rows - _RELIEF_EVERY:
            return out
        self._rows_to_relief = _RELIEF_EVERY
        return out + self._relieve()

    # Whole lines

    def _end_line(self) -> str:
        line, self._tail = self._tail, ""
        if self._fence:
            return self._code_line(line, self._fence)
        if self._raw:
            return self._line_of_raw(line)
        if self._table:
            return self._table_line(line, self._table)
        done = self._splitter.line(line)
        if done or self._splitter.fence or not self._splitter.lines:
            return self._replace(done)
        return self._echoed("\n")

    def _replace(self, done: list[Block]) -> str:
        """Take the echo back, write the finished blocks, echo what is still open."""
        erased = self._echo.erase()
        self._rows_to_relief = _RELIEF_AFTER
        rows = [row for block in done for row in self._render(block)]
        if self._splitter.fence:
            self._fence = CodeFence(self._splitter.fence, separate=self._separate, theme=self._theme)
        opened = "".join(f"{line}\n" for line in self._splitter.lines) + self._tail
        return erased + _rows(rows) + self._echo_open(opened)

    def _echo_open(self, text: str) -> str:
        """Echo more of the open block; it begins where it will stand, or it would jump down when it ends."""
        if text and not self._echo.rows and not self._echo.column:
            text = "\n" * self._rows_apart() + text
        return self._echo.add(text)

    def _rows_apart(self) -> int:
        """How many blank rows the echo begins with: none where the terminal has none to spare."""
        if self._raw or self._table:
            return 0
        due = self._fence.due if self._fence else int(self._separate and not self._splitter.continues)
        return due if due * _ROOM_TO_SPARE <= self._most_rows else 0

    def _render(self, block: Block) -> list[str]:
        tokens = parse(block.source, self._environment)
        self._number(tokens, block)
        rows = self._renderer.blocks(tokens)
        if not rows:
            return []  # link definitions
        if block.inside:
            rows = without_mark(rows)
        separate, self._separate = self._separate and not block.continues, True
        return [""] * separate + rows

    def _number(self, tokens: list[Token], block: Block) -> None:
        """Let the items of an ordered list go on from those that were rendered before."""
        if not tokens or tokens[0].type != "ordered_list_open":
            return
        opener = tokens[0]
        if block.continues:
            opener.attrs["start"] = self._next_number - block.inside
        items = sum(token.type == "list_item_open" and token.level == 1 for token in tokens)
        self._next_number = int(opener.attrs.get("start", 1)) + items

    def _code_line(self, line: str, fence: CodeFence) -> str:
        if fence.closed_by(line):
            self._splitter.end_fence()
            self._fence, self._separate = None, self._separate or fence.begun
            return self._replace([])
        pieces = fence.pieces(line)
        if self._raw_line:
            self._raw_line = False
            out = self._echo.add("\n")
            self._echo.settle()
            return out
        rows = [*fence.due_rows(), *self._renderer.code_line(pieces)] if pieces else []
        return self._echo.erase() + _rows(rows)

    # Blocks that are taller than the screen

    def _relieve(self) -> str:
        if self._raw or self._table or self._fence:
            return self._relieve_line()
        if self._splitter.kind == "table" and self._echo.rows >= self._most_rows:
            return self._commit_table()
        if self._splitter.kind in {"", "paragraph"}:
            opened = "".join(f"{line}\n" for line in self._splitter.lines) + self._tail
            found = split_paragraph(opened, self._renderer, self._environment)
            if found is not None:
                return self._commit_paragraph(found[0], opened[found[1] :])
        if self._echo.rows >= self._most_rows:
            if self._splitter.kind == "list" and (split := split_item(self._splitter.lines)):
                return self._commit_item(split)
            self._give_up()
        return ""

    def _commit_item(self, split: SplitItem) -> str:
        rows = self._render(self._splitter.cut_item(split.certain, split.rest)) + [""] * split.apart
        opened = "".join(f"{line}\n" for line in split.rest[1:]) + self._tail
        return self._echo.erase() + _rows(rows) + self._echo.add(opened)

    def _commit_paragraph(self, rows: list[str], rest: str) -> str:
        erased = self._echo.erase()
        self._rows_to_relief = _RELIEF_AFTER
        if self._separate and not self._splitter.continues:
            rows = ["", *rows]
        self._separate = self._splitter.continues = True
        *self._splitter.lines, self._tail = rest.split("\n")
        self._splitter.kind = "paragraph" if self._splitter.lines else ""
        return erased + _rows(rows) + self._echo.add(rest)

    def _commit_table(self) -> str:
        """Write the rows that there are, and fix the columns for those to come."""
        tokens = parse("\n".join(self._splitter.lines), self._environment)
        self._table = self._renderer.columns(tokens)
        rows = self._renderer.blocks(tokens)
        due = [""] * (self._separate and not self._splitter.continues)
        self._separate = True
        self._keep_beginning()
        return self._echo.erase() + _rows(due + rows) + self._echo.add(self._tail)

    def _table_line(self, line: str, columns: Columns) -> str:
        raw_line, self._raw_line = self._raw_line, False
        done = self._splitter.line(line)
        if done:
            self._table = None
            erased = self._echo.erase()
            return erased + self._table_rows(done[0].source, columns) + self._replace(done[1:])
        if raw_line:
            self._keep_beginning()
            out = self._echo.add("\n")
            self._echo.settle()
            return out
        if len(self._splitter.lines) < min(_TABLE_ROWS_AT_ONCE, self._most_rows // 2) + _TABLE_HEAD:
            return self._echoed("\n")
        source = "\n".join(self._splitter.lines)
        self._keep_beginning()
        return self._echo.erase() + self._table_rows(source, columns)

    def _table_rows(self, source: str, columns: Columns) -> str:
        return _rows(self._renderer.table_body(parse(source, self._environment), columns))

    def _relieve_line(self) -> str:
        if self._echo.rows < self._most_rows:
            return ""
        out = ""
        if self._fence and not self._raw_line and (due := self._fence.due_rows()):
            out = self._echo.erase() + _rows(due) + self._echo.add(self._tail)
        self._echo.settle()
        self._raw_line = bool(self._tail)
        if self._table:
            self._keep_beginning()  # the rows that were held back stay as they came
        return out

    def _give_up(self) -> None:
        self._echo.settle()
        if self._fence:
            self._raw_line = bool(self._tail)
            return
        self._raw = bool(self._splitter.lines or self._tail)
        self._raw_line = bool(self._tail)
        self._keep_beginning()

    def _keep_beginning(self) -> None:
        """Keep as much of the raw block as shows what it is."""
        self._splitter.lines = self._splitter.lines[: _TABLE_HEAD if self._splitter.kind == "table" else 1]

    def _line_of_raw(self, line: str) -> str:
        raw_line, self._raw_line = self._raw_line, False
        done = self._splitter.line(line)
        for block in done[:1]:
            self._number(parse(block.source, self._environment), block)
        if done and line.strip() and not raw_line:
            self._raw, self._separate = False, True
            return self._replace(done[1:])
        if not self._splitter.lines and not self._splitter.fence:
            return self._end_raw()
        self._raw = not self._splitter.fence
        if self._splitter.fence:  # opened by a line that is taller than the screen
            self._fence = CodeFence(self._splitter.fence, separate=False, theme=self._theme)
        self._keep_beginning()
        out = self._echo.add("\n")
        self._echo.settle()
        return out

    def _end_raw(self) -> str:
        self._raw = self._raw_line = False
        self._separate = True
        self._splitter.finish()
        out = NEW_ROW if self._echo.column else ""
        self._echo = Echo(self._columns)
        return out


def _rows(rows: Iterable[str]) -> str:
    return "".join(f"{row}{NEW_ROW}" for row in rows)
