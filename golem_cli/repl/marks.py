"""The draft on the screen: what would act on a terminal or hide shows as a mark; the buffer keeps it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout import BufferControl, Layout
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from golem_cli.render.neutralize import find_marked

_TAB: Final = "    "
"""What a tab shows as; prompt-toolkit would show `^I`."""
_STYLE: Final = " class:control-character"


class Marks(Processor):
    """Shows one line of a buffer with its marks; the cursor moves over a mark as over one character."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return the line as it shows, and how positions in it and in the buffer correspond."""
        line = fragment_list_to_text(transformation_input.fragments)
        tabs = [(index, _TAB) for index, char in enumerate(line) if char == "\t"] if "\t" in line else []
        shown = sorted([*find_marked(line), *tabs])
        if not shown:
            return Transformation(transformation_input.fragments)
        fragments: StyleAndTextTuples = list(explode_text_fragments(transformation_input.fragments))
        for index, mark in shown:
            fragments[index] = (fragments[index][0] + (_STYLE if mark is not _TAB else ""), mark)
        places = Places(shown)
        return Transformation(fragments, places.to_display, places.to_source)


class Places:
    """Positions in a line and in the same line with some characters shown as longer texts.

    >>> places = Places([(1, "<mark>")])
    >>> [places.to_display(position) for position in range(4)]
    [0, 1, 7, 8]
    >>> [places.to_source(position) for position in (0, 1, 6, 7, 8)]
    [0, 1, 1, 2, 3]
    """

    def __init__(self, shown: Sequence[tuple[int, str]]) -> None:
        self._positions = [index for index, _ in shown]
        self._growth = list(accumulate((len(mark) - 1 for _, mark in shown), initial=0))
        self._starts = [self.to_display(index) for index in self._positions]

    def to_display(self, position: int) -> int:
        """Where a character of the line begins on the screen."""
        return position + self._growth[bisect_left(self._positions, position)]

    def to_source(self, position: int) -> int:
        """Which character of the line stands at a position on the screen."""
        before = bisect_right(self._starts, position)
        source = position - self._growth[before]
        return max(source, self._positions[before - 1]) if before else source


def show_marks(layout: Layout) -> None:
    """Have every buffer in `layout` shown with marks: the draft, and what is typed into a search."""
    for control in layout.find_all_controls():
        if isinstance(control, BufferControl):
            control.input_processors = [*(control.input_processors or ()), Marks()]
