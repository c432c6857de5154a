"""Streaming into a terminal emulator: the end looks as if the whole document had been rendered at once."""

# ruff: noqa: S311, E501 - seeded cuts are no secrets; a document stays on its line

from __future__ import annotations

import random
import re
from typing import Final

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from golem_cli.render.markdown import BlockRenderer, parse
from golem_cli.render.stream import StreamingMarkdown
from golem_cli.render.table import Columns
from tests.support.emulator import Emulator

WIDTH, HEIGHT = 60, 20

DOCUMENTS: Final = {
    "paragraphs": "One paragraph\nof two lines.\n\nAnother with *emphasis*, **strong**, `code` and ~~gone~~.\n",
    "headings": "# One\n## Two\n### Three ###\n\nText\n#### Four\ntext right below\n",
    "setext": "Title\n=====\n\nSubtitle\nof two lines\n---\n\ntext\n",
    "tight list": "- a\n- b\n- c\n",
    "loose list": "- a\n\n- b\n\n- c\n",
    "ordered": "1. one\n2. two\n3. three\n",
    "ordered by ones": "1. one\n1. two\n1. three\n\nafter\n",
    "ordered from nine": "9. nine\n10. ten\n11. eleven\n",
    "ordered from ninety-nine": "99. a\n100. b\n101. c\n",
    "nested": "- a\n  - b\n    - c\n      - d\n- e\n  1. f\n  2. g\n\n     more of g\n- h\n",
    "list then text": "- a\n- b\n\nText after the list.\n\n- c\n\nEnd\n",
    "lazy continuation": "- a\nlazy\n- b\n\n  second paragraph\n\nend\n",
    "two lists": "- a\n- b\n\n* c\n* d\n\n1. e\n2) f\n",
    "list right after text": "Here it is:\n- a\n- b\nThe end, lazily.\n",
    "number that is no list": "The year\n1984. was long.\n\n1984\\. too\n",
    "rule": "a\n\n---\n\nb\n\n***\nc\n\n- - -\n\nd\n",
    "rule or item": "- a\n- - b\n\n- - -\n\n-\n\nx\n",
    "fence": "```python\ndef f():\n    return 1\n```\nafter\n",
    "fence with blanks": "text\n```\n\n\na\n\n\nb\n\n```\n\n~~~sh\nls # x\n~~~\n",
    "fence unclosed": "```python\nx = '''a\nb\n\nc'''\n",
    "fence empty": "a\n\n```\n```\n\nb\n",
    "fence in a list": "1. first:\n\n   ```python\n   x = 1\n\n   y = 2\n   ```\n\n2. second\n   ```\n   z\n   ```\nend\n",
    "fence in a quote": "> ```\n> code\n> ```\n> text\n\nafter\n",
    "fence indented": "  ```\n  a\n    b\n  ```\n",
    "fence longer": "````\n```\nnot closed\n```\n````\n",
    "fence in other text": "text\n```js\nlet a = 1; /* open\nstill */ let b\n```\n- a\n```\nb\n```\n",
    "fence with long lines": "```\n" + "x" * 150 + "\n" + "漢" * 70 + "\n```\n",
    "tilde in backticks": "~~~\n```\n~~~\n`` ` ``\n",
    "indented code": "text\n\n    code\n\n    more\n\ntext\n\n\n    code\ntext\n",
    "quote": "> a\n> b\n>\n> c\n\nd\n",
    "quote lazy": "> a\nlazy\n\n> b\n- list\n",
    "quote nested": "> a\n> > b\n> > - c\n> d\n",
    "quote then quote": "> a\n\n> b\n",
    "html block": "<div>\n<p>text</p>\n</div>\n\n<b>inline</b> & <br> done\n",
    "html comment": "before\n<!-- a comment\n\nof two paragraphs -->\nafter\n",
    "references": "[one]: https://example.org/1\n[two]: https://example.org/2 'Title'\n\nSee [one] and [text][two].\n\n- [one]\n",
    "links": "[text](https://example.org) <https://auto.example> ![alt](pic.png) [a *b*](x)\n",
    "table": "| a | b |\n| - | -: |\n| 1 | 2 |\n| long cell here | **x** |\n\nafter\n",
    "table right after text": "text\n\n|a|b|\n|-|-|\n|1|2|\ntext is a row\n\nend\n",
    "wide table": "| name | text |\n|:-:|---|\n| x | " + "long text " * 20 + "|\n| " + "y" * 70 + " | z |\n",
    "table of many columns": "|" + "a|" * 40 + "\n|" + "-|" * 40 + "\n|" + "b|" * 40 + "\n",
    "table then list": "|a|b|\n|-|-|\n|1|2|\n- item\n",
    "not a table": "| a | b |\njust text\n\n| c |\n\nd | e\n",
    "entities": "&lt;b&gt; &amp; &copy; &#42;\n\n\\*not\\*\n",
    "hard breaks": "a  \nb\\\nc\n\nd\n",
    "unclosed markup": "**bold never closed\n\n`code never closed\n\n[link](never\n",
    "wide": "漢字かな交じり文を折り返す必要がありますので長くしますよ。漢字かな交じり文。\n\n- 漢字\n- かな\n",
    "markup of rich": "[red]not red[/red] [link=x]y[/]\n\n- [bold]\n",
    "star items": "* a\n* **b** c\n*not*\n\n*emph* at the start\n",
    "plus and dash": "+ a\n+ b\n- c\n\n+1 is no item\n-1 neither\n",
    "dash after a list": "- a\n\n---\n\nb\n",
    "blank with spaces": "a\n   \nb\n\t\nc\n- d\n  \n- e\n",
    "no newline at the end": "text\n\n- a\n- b",
    "only code": "    code\n",
    "long paragraph": "word " * 100 + "end.\n\nafter\n",
    "long words": "https://example.org/" + "path/" * 40 + " x " + "y" * 200 + "\n",
    "text after an item that is no paragraph": "- # h\ntext\n- a\n- ```\n  x\n```\ny\n",
    "empty items": "-\n- a\n-\n\n  no item\n\n1.\ntext\n",
    "items with tabs": "-\ta\n\n\tmore\n-\tb\n  ```\nx\n",
    "definitions before other blocks": "[u]: /url\n```\ncode\n```\n[v]: /url\n2. two\n3. three\n[w]: /url\n# h\n",
    "tab in an indented fence": "  ```\n\tcode\n \tmore\n  ```\n",
    "deep nesting": "1. a\n   - b\n     > c\n     > 1. d\n     >    ```\n     >    e\n     >    ```\n   - f\n2. g\n",
    "table in a list and in a quote": "- |a|b|\n  |-|-|\n  |1|2|\n- c\n\n> |a|b|\n> |-|-|\n> |1|2|\n",
    "tasks": "- [ ] to do\n- [x] *done*\n",
    "headings in lists": "- # a\n  text\n- b\n  ===\n",
    "tabs": "a\tb\n\n-\titem\n\n```\n\tx\n```\n",
}
CODE_IN_ITEM: Final = "".join(f"   x{n} = {n}\n" + "\n" * (n % 7 == 3) for n in range(40))
TALL: Final = {
    "code in steps": f"1. First do this:\n\n   ```python\n{CODE_IN_ITEM}   ```\n\n2. Then **that**.\n\nDone.\n",
    "code in the tenth step": f"9. a\n10. ```\n    b\n    ```\n    and\n    ```\n{CODE_IN_ITEM}".replace(
        "   x", "    x"
    )
    + "    ```\n    text\n11. c\n",
    "code that nothing follows in an item": f"- one\n\n   ```\n{CODE_IN_ITEM}",
    "code that text ends in an item": f"- one\n\n   ```\n{CODE_IN_ITEM}text\n\nmore\n",
    "paragraphs in an item": "- one\n\n" + "  some *words* of it and more\n\n" * 40 + "- two\n\nend\n",
    "blocks in an item": "1. one\n\n"
    + "   words\n\n   ```\n   a\n   b\n   ```\n   - n\n   - m\n\n" * 9
    + "2. two\n\nend\n",
    "paragraph taller than the screen": "plain words and **some bold ones** in `code` there " * 80
    + "\n\nafter\n",
    "lines of a paragraph": "one line of it\n" * 200 + "\nafter\n",
    "code": "```python\n" + "".join(f"x{n} = '{n}'  # {n}\n" for n in range(100)) + "```\n\nafter\n",
    "items": "".join(f"{n}. item number {n}\n" for n in range(1, 120)) + "\nafter\n",
    "loose items": "".join(f"- item number {n}\n\n  with more\n\n" for n in range(1, 60)) + "after\n",
    "table": "before\n\n| name | *n* |\n|---|--:|\n" + "| a name | **12345** |\n" * 60 + "\nafter\n",
    "table at the end": "| name | n |\n|---|--:|\n" + "| a name | 12345 |\n" * 60,
    "table before a list": "| name | n |\n|---|--:|\n" + "| a name | 12345 |\n" * 40 + "- item\n- other\n",
    "mixed": "".join(f"## Part {n}\n\nText *{n}*.\n\n- a\n- b\n\n" for n in range(30)),
}


def screen_after(writes: list[str], width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """Scrollback and screen, without blanks at the ends."""
    screen = Emulator(width, height)
    stream = pyte.Stream(screen)
    for write in writes:
        stream.feed(write)
    rows = [*screen.above, *screen.rows]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def whole(document: str, width: int = WIDTH) -> list[str]:
    rows = BlockRenderer(width - 1).blocks(parse(document, {}))
    return screen_after([f"{row}\r\n" for row in rows], width, len(rows) + 1)


def streamed(document: str, cuts: random.Random, width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    view = StreamingMarkdown(width=width, height=height)
    writes, position = [], 0
    while position < len(document):
        step = cuts.choice([1, 1, 2, 3, 4, 7, 20, 200])
        writes.append(view.feed(document[position : position + step]))
        position += step
    return screen_after([*writes, view.close()], width, height)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*DOCUMENTS, *TALL])
def test_streamed_equals_whole(name: str, seed: int) -> None:
    document = (DOCUMENTS | TALL)[name]
    assert streamed(document, random.Random(seed)) == whole(document)


# Those that are taller than the smallest screens here, and stay as they came there.
TALLER: Final = {"wide table"}


@pytest.mark.parametrize(("width", "height"), [(20, 20), (33, 16), (100, 40)])
@pytest.mark.parametrize(
    "name", [name for name in DOCUMENTS if name not in TALLER] + ["code", "code in steps", "items", "mixed"]
)
def test_streamed_equals_whole_in_any_width(name: str, width: int, height: int) -> None:
    document = (DOCUMENTS | TALL)[name]
    assert streamed(document, random.Random(width), width, height) == whole(document, width)


LINES: Final = [
    "", "", "", "text", "more *em* text", "**b", "`c", "# h", "## h *x*", "===", "---", "- a", "- b", "  - c", "    - d",
    "1. x", "2. y", "10. z", "   para", "    code", "\tcode", "> q", "> > r", ">", "> - s", "```", "```python", "~~~",
    "x = 1", "| a | b |", "|---|--:|", "| 1 | 2 |", "a | b", "<div>", "</div>", "<!-- c", "-->", "[u]: /url", "***", "* s",
    "+ p", "-", "1.", "1)", "   ```", "  ```", "> ```", "- ```", "- > q", "- # h", "-     code", "  ", "\\", "text  ",
    "&amp;", "12345678901. x", "- [ ] t", "![i](u)", "http://x.y/z", "漢字", "-\tx", "*a*", "_b_", "***b***", "- - -",
    "- - x", "1. - x", "    ", "      x", "> | a |", "  | a | b |", "   # h", "#", "#h", "~~~~", "````", "1.  two", "-   three",
    "+", "<b>x</b>", "[a]: <", "'t'",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=14), st.randoms(use_true_random=False))
def test_any_lines_streamed_equal_the_whole(lines: list[str], cuts: random.Random) -> None:
    """Nothing here uses a link definition, so that a late one changes nothing."""
    document = "\n".join(lines)
    if document.count("[u]: ") <= 1:  # a second one might define what is text in a paragraph before it
        assert streamed(document, cuts, 60, 100) == whole(document, 60)


PIECES: Final = [
    "plain", "words", "some more of them", "*em*", "**strong x**", "`code y`", "[link text](http://a.b)", "<http://auto.x>",
    "&amp;", "\\*", "snake_case_name", "2*3*4", "_u_", "~~s~~", "(paren)", "![i](u)", "a|b", "*one two three*", "a - dash",
    "http://x.y/z_a_b", "5 * 3", "end.\n",
]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=100, max_size=250), st.randoms(use_true_random=False))
def test_a_paragraph_taller_than_the_screen_is_wrapped_as_the_whole(
    pieces: list[str], cuts: random.Random
) -> None:
    document = " plain ".join(pieces).replace("\n ", "\n") + "\n\nafter\n"
    assert streamed(document, cuts, 60, 20) == whole(document, 60)


@pytest.mark.parametrize("seed", range(20))
def test_documents_in_a_row_equal_the_whole(seed: int) -> None:
    """Any blocks may follow one another."""
    cuts = random.Random(seed)
    document = "\n\n".join(
        cuts.choices(
            [text for name, text in DOCUMENTS.items() if not name.startswith("fence unclosed")],
            k=8,
        )
    )
    assert streamed(document, cuts) == whole(document)


@pytest.mark.parametrize(
    ("naturals", "width", "widths"),
    [
        ((3, 4), 20, (3, 4)),
        ((3, 30), 20, (3, 15)),  # 20 - 2 between - 3
        ((30, 30), 20, (9, 9)),
        ((10, 30, 2), 24, (9, 9, 2)),  # 24 - 4 between - 2, shared by the two widest
        ((5, 5, 5), 5, (1, 1, 1)),  # no room: one cell each
    ],
)
def test_the_widest_columns_give_way(naturals: tuple[int, ...], width: int, widths: tuple[int, ...]) -> None:
    rows = [[Text("x" * natural) for natural in naturals]]
    assert Columns.fit(rows, ["left"] * len(naturals), width).widths == widths


def test_a_block_that_arrives_stands_where_it_will_stand() -> None:
    """Its first word is in one row from the moment it is there: nothing jumps when the block ends."""
    document = "w1 text\n\nw2 text\nmore\n\n```\nw3 = 1\n\n\nw4 = 2\n```\n\n- w5 a\n- b\n\nw6 text\n\n> w7\n\n# w8\n\nw9\n"
    screen = Emulator(WIDTH, 40)
    terminal, view = pyte.Stream(screen), StreamingMarkdown(width=WIDTH, height=40)
    rows: dict[str, set[int]] = {}
    for char in document:
        terminal.feed(view.feed(char))
        for number, row in enumerate(screen.rows):
            for word in re.findall(r"w[0-9]", row):
                rows.setdefault(word, set()).add(number)
    assert {word: len(seen) for word, seen in rows.items()} == {f"w{n}": 1 for n in range(1, 10)}


def test_what_cannot_be_cut_stays_raw_and_is_whole() -> None:
    """A paragraph in a list item and a quote that are taller than the screen: every word once, and the next block is rendered."""
    for document in (
        "- " + "".join(f"word{n} **b**\n  " for n in range(100)),
        "".join(f"> word{n}\n" for n in range(100)),
    ):
        rows = streamed(document + "\n\n# Next *block*\n", random.Random(1))
        text = "\n".join(rows)
        assert [text.count(f"word{n}") for n in (0, 1, 50, 99)] == [
            1,
            1 + 10,
            1,
            1,
        ]  # word1, and word10 to word19
        assert rows[-2:] == ["", "Next block"]


def test_the_colours_of_a_streamed_fence_are_those_of_the_whole() -> None:
    document = DOCUMENTS["fence"]
    rows = BlockRenderer(WIDTH - 1).blocks(parse(document, {}))
    view = StreamingMarkdown(width=WIDTH, height=HEIGHT)
    written = "".join(map(view.feed, document)) + view.close()
    for row in rows:
        assert row in written
