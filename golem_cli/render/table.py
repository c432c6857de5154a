"""Tables whose columns are fixed once: rows that come later are drawn in the same widths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from golem_cli.render.rows import Row

if TYPE_CHECKING:
    from rich.console import Console

Alignment = Literal["left", "center", "right"]
_GAP: Final = "  "
_DIM: Final = Style(dim=True)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The widths of a table's columns, in cells, and where text stands in them."""

    widths: tuple[int, ...]
    alignments: tuple[Alignment, ...]

    @classmethod
    def fit(cls, rows: Sequence[Sequence[Text]], alignments: Sequence[Alignment], width: int) -> Columns:
        """Return columns as wide as `rows` ask; the widest give way until all fit into `width` cells."""
        widths = [
            max([1, *(cell_len(line) for row in rows for line in row[column].plain.split("\n"))])
            for column in range(len(alignments))
        ]
        room = max(width - len(_GAP) * (len(widths) - 1), len(widths))
        while sum(widths) > room:
            widest = max(widths)
            second = max((one for one in widths if one < widest), default=0)
            count = widths.count(widest)
            step = max(min(widest - second, (sum(widths) - room) // count), 1)
            for column, one in enumerate(widths):
                if one == widest and sum(widths) > room:
                    widths[column] -= step
        return cls(widths=tuple(widths), alignments=tuple(alignments))

    @property
    def width(self) -> int:
        """Cells of a whole row."""
        return sum(self.widths) + len(_GAP) * (len(self.widths) - 1)

    def draw(self, cells: Sequence[Text], console: Console) -> list[Row]:
        """Return the rows of one row of the table; a cell that does not fit is wrapped."""
        wrapped = [
            [cell] if _fits(cell.plain, width) else cell.wrap(console, width)
            for cell, width in zip(cells, self.widths, strict=True)
        ]
        return [self._row(lines, console) for lines in zip_longest(*wrapped, fillvalue=Text())]

    def rule(self) -> Row:
        """Return the row below the header."""
        return [Segment("─" * self.width, _DIM)]

    def _row(self, lines: Sequence[Text], console: Console) -> Row:
        row: Row = []
        for index, (line, width, alignment) in enumerate(
            zip(lines, self.widths, self.alignments, strict=True)
        ):
            blank = max(width - cell_len(line.plain), 0)
            left = {"left": 0, "center": blank // 2, "right": blank}[alignment]
            row.append(Segment((_GAP if index else "") + " " * left))
            row += line.render(console, end="") if line.spans else [Segment(line.plain)]
            row.append(Segment(" " * (blank - left)))
        return row


def _fits(text: str, width: int) -> bool:
    return "\n" not in text and cell_len(text) <= width
