"""Where the top-level blocks of a Markdown text begin and end, decided line by line as it arrives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from golem_cli.render.markdown import block_parser

if TYPE_CHECKING:
    from markdown_it.token import Token

# What a line starts with when it may begin another block, end a heading or make a table of a paragraph.
_MAYBE_BLOCK: Final = re.compile(r" {0,3}(?:[#>`~*+=_|:-]|\d{1,9}[.)])")
# What begins nothing but a paragraph.
_PLAIN: Final = re.compile(r" {0,3}[^\W\d_]")
_THEMATIC: Final = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM: Final = re.compile(r"( *)([-+*]|\d{1,9}[.)])( *)")
_EMPTY_ITEM: Final = re.compile(r" *(?:[-+*]|\d{1,9}[.)])[ \t]*$")
_FENCE: Final = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*([^ \t]*)")
_NOWHERE: Final = 1_000_000
"""A column at which nothing goes on."""
# A blank line does not end these.
_SURVIVES_BLANK: Final = frozenset({"list", "code_block"})
_ENDS_AT_ONCE: Final = frozenset({"heading", "hr"})
_KINDS: Final = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
}


@dataclass(frozen=True, kw_only=True)
class Block:
    """A complete block, or a list's complete items.

    `continues` says that it belongs to the list before it, `inside` that it goes on with its last item;
    `kind` is `paragraph`, `list`, `fence`, ….
    """

    source: str
    kind: str
    continues: bool = False
    inside: bool = False


@dataclass(frozen=True, kw_only=True)
class FenceOpener:
    """The first line of a top-level code fence."""

    indent: int
    mark: str
    language: str

    def closed_by(self, line: str) -> bool:
        """Whether `line` ends the fence."""
        text = line.strip(" \t")
        return (
            len(text) >= len(self.mark)
            and not text.strip(self.mark[0])
            and len(line) - len(line.lstrip(" ")) < 4
        )

    def content(self, line: str) -> str:
        """`line` without the indentation that the opener has too."""
        text = line.lstrip(" \t")
        indent = line[: len(line) - len(text)].expandtabs(4)
        return indent[self.indent :] + text


class BlockSplitter:
    """Takes complete lines and hands out blocks as soon as they are certain to be complete.

    `lines` are the lines of the open block, `kind` what it is as far as is known, `fence` the opener when it
    is a code fence (whose lines the caller then handles itself, and calls `end_fence`).
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.kind = ""
        self.fence: FenceOpener | None = None
        self.continues = False
        self.inside = False
        self._after_blank = False
        self._offset = 0

    def line(self, line: str) -> list[Block]:
        """Take one line; return the blocks that it completes."""
        if not line.strip():
            return self._blank(line)
        self.lines.append(line)
        if not self._must_look(line):
            self._after_blank = False
            return []
        after_blank, self._after_blank = self._after_blank, False
        if not self.kind and _PLAIN.match(line):
            self.kind = "paragraph"
            return []
        if self.kind == "list" and not after_blank and self._is_sibling(line):
            return [self._item_before_last()]
        return self._look()

    def decides(self, beginning: str) -> bool:
        """Whether the beginning of a line shows that the open block ended at the blank line before it."""
        if not self._after_blank or not (text := beginning.lstrip(" ")):
            return False
        if len(beginning) - len(text) >= self._offset:
            return False
        return text[0] not in "-+*0123456789\t"

    def finish(self) -> list[Block]:
        """The open block ends here."""
        block = self._block(0, len(self.lines), self.kind)
        self.lines, self.kind = [], ""
        self._after_blank = False
        return [block] if block.source else []

    def end_fence(self) -> None:
        """The open fence was closed."""
        self.fence = None
        self.kind = ""

    def cut_item(self, certain: list[str], rest: list[str]) -> Block:
        """Hand out the certain lines of the open list item; `rest` stands for what is still open of it."""
        self.lines = certain
        block = self._block(0, len(certain), self.kind)
        self.lines = rest
        self.continues = self.inside = True
        return block

    def _blank(self, line: str) -> list[Block]:
        if self.kind in _SURVIVES_BLANK:
            if len(self.lines) == 1 and _EMPTY_ITEM.match(self.lines[0]):
                self._offset = _NOWHERE  # an item that begins with a blank line stays empty
            self.lines.append(line)
            self._after_blank = True
            return []
        return self.finish()

    def _must_look(self, line: str) -> bool:
        indent = len(line) - len(line.lstrip(" "))
        if not self.kind:
            return True
        if self._after_blank:
            return indent < self._offset
        if self.kind == "list":
            return indent < self._offset
        starts = line[indent : indent + 1]
        if (self.kind, starts) in {("quote", ">"), ("table", "|")}:
            return False
        return _MAYBE_BLOCK.match(line) is not None

    def _is_sibling(self, line: str) -> bool:
        """Whether `line` begins the next item of the open list, as can be seen without the parser."""
        before, match = _ITEM.match(self.lines[0]), _ITEM.match(line)
        if not before or not match or not match[3] or _THEMATIC.match(line):
            return False
        return (
            before[1] == match[1]
            and before[2][-1] == match[2][-1]
            and len(match[3]) <= 4
            and line[match.end() :] != ""
        )

    def _item_before_last(self) -> Block:
        block = self._block(0, len(self.lines) - 1, "list")
        self.continues = True
        self.lines = self.lines[-1:]
        self._measure_item(self.lines[0])
        return block

    def _look(self) -> list[Block]:
        """Let the parser say which blocks the open lines make."""
        tokens = block_parser().parse("\n".join(self.lines), {})
        starts = [token for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
        if not starts:
            self.kind = "paragraph"  # link definitions; the next line may go on with them
            return []
        done: list[Block] = []
        base = 0
        if _kind(starts[0]) != "paragraph" and (base := _first_line(starts[0])):
            done.append(self._block(0, base, "paragraph"))  # link definitions
        for token, following in pairwise(starts):
            stop = _first_line(following)
            done.append(self._block(base, stop, _kind(token)))
            base = stop
        last = starts[-1]
        self.kind = _kind(last)
        if stop := self._definitions_behind(last):
            done.append(self._block(base, stop, self.kind))
            base, self.kind = stop, "paragraph"
        elif self.kind == "list":
            base = self._complete_items(tokens, last, base, done)
        self.lines = self.lines[base:]
        if self.kind == "fence":
            self._open_fence()
        elif self.kind in _ENDS_AT_ONCE:
            done += self.finish()
        elif self.kind == "code_block":
            self._offset = 4
        return done

    def _definitions_behind(self, last: Token) -> int:
        """Return where link definitions behind the last block begin (lines that are in no block), or 0."""
        stop = last.map[1] if last.map else 0
        return stop if any(line.strip() for line in self.lines[stop:]) else 0

    def _block(self, start: int, stop: int, kind: str) -> Block:
        source = "\n".join(self.lines[start:stop])
        block = Block(source=source, kind=kind, continues=self.continues, inside=self.inside)
        self.continues = self.inside = False
        return block

    def _complete_items(self, tokens: list[Token], opener: Token, base: int, done: list[Block]) -> int:
        """Hand out the list's items but the last, which is open; return the line where that one starts."""
        first = tokens.index(opener)
        items = [token for token in tokens[first:] if token.type == "list_item_open" and token.level == 1]
        start = _first_line(items[-1])
        if start > base:
            done.append(self._block(base, start, "list"))
            self.continues = True
        self._measure_item(self.lines[start])
        return start

    def _measure_item(self, line: str) -> None:
        """Set the column at which an item's content begins."""
        if match := _ITEM.match(line.expandtabs(4)):
            spaces = len(match[3])
            self._offset = len(match[1]) + len(match[2]) + (spaces if 1 <= spaces <= 4 else 1)

    def _open_fence(self) -> None:
        match = _FENCE.match(self.lines[0])
        self.lines = []
        if match:
            self.fence = FenceOpener(indent=len(match[1]), mark=match[2], language=match[3])


def _kind(token: Token) -> str:
    return _KINDS.get(token.type, token.type)


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else 0
