"""The answer panel: what reaches the terminal, in every look, size and with any hostile text."""

# ruff: noqa: S311, E501 - seeded cuts are no secrets; a list of attacks stays compact

from __future__ import annotations

import random
import re
import unicodedata
from typing import Any

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golem_cli.render.answer import AnswerView
from golem_cli.render.code import Highlighter, find_lexer
from golem_cli.render.echo import Echo
from golem_cli.render.markdown import BlockRenderer, parse
from golem_cli.render.neutralize import neutralize, one_line
from tests.support.emulator import Emulator

# All that the panel may send beside text: SGR; cursor up and back; erase to the end of screen and row; the
# row's start; DEC 2026 around a change.
ALLOWED = re.compile(r"\x1b\[(?:[\d;]*m|\d+A|\d+D|J|K|\?2026[hl])|\r\n|\r(?=\x1b\[)|\n")

MARKDOWN = (
    "# Title\n\nSome *text* and `code`.\n\n- one\n- two\n\n```python\nx = 'y'  # z\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\nThe end.\n"
)


class Terminal:
    """A terminal emulator and everything that was written to it."""

    def __init__(self, width: int, height: int) -> None:
        self.screen = Emulator(width, height)
        self.stream = pyte.Stream(self.screen)
        self.written = ""

    def write(self, text: str) -> None:
        """Take what the panel writes."""
        self.written += text
        self.stream.feed(re.sub("(?<!\r)\n", "\r\n", text))  # as the terminal's driver does

    def rows(self) -> list[str]:
        """Scrollback and screen, without blanks at the ends."""
        screen = self.screen
        top = ["".join(row[x].data for x in sorted(row)) for row in screen.history.top]
        rows = [row.rstrip() for row in [*top, *screen.rows]]
        while rows and not rows[-1]:
            rows.pop()
        return rows


def view_on(terminal: Terminal, **look: Any) -> AnswerView:
    width, height = terminal.screen.columns, terminal.screen.lines
    return AnswerView(terminal.write, width=width, height=height, title="model", **look)


def feed(view: AnswerView, text: str, step: int = 4) -> None:
    for start in range(0, len(text), step):
        view.feed(text[start : start + step])


def test_nothing_is_written_before_the_first_fragment() -> None:
    terminal = Terminal(40, 10)
    view = view_on(terminal)
    view.feed("")
    view.close("footer")
    assert terminal.written == ""
    assert not view.opened


def test_the_frame_has_rules_above_and_below_and_no_sides() -> None:
    terminal = Terminal(40, 10)
    view = view_on(terminal)
    view.feed("Hello *you*.")
    view.close("3 tokens")
    assert terminal.rows() == ["── model " + "─" * 30, "Hello you.", "── 3 tokens " + "─" * 27]


def test_each_fragment_is_one_write_and_on_the_screen_at_once() -> None:
    writes: list[str] = []
    view = AnswerView(writes.append, width=40, height=10)
    view.feed("Hel")
    view.feed("lo\n\nand")
    assert len(writes) == 2
    assert "Hel" in writes[0]
    assert writes[1].endswith("and\x1b[?2026l")


def test_thinking_gives_way_to_a_line() -> None:
    terminal = Terminal(40, 12)
    view = view_on(terminal)
    for word in ["a", "long", "thought\nthat", "fills", "the", "screen", "and", "more"] * 30:
        view.thinking(f"{word} ")
    assert "fills" in "\n".join(terminal.rows())
    assert len(terminal.screen.history.top) == 0  # it never scrolls what stands above away
    view.feed("The answer.")
    view.close()
    assert terminal.rows()[1:-1] == ["thought for 270 words", "", "The answer."]


def test_tools_are_a_line_each() -> None:
    terminal = Terminal(50, 20)
    view = view_on(terminal)
    view.feed("Let me look.\n")
    view.tool_started("read", '{"path": "' + "x" * 100 + '"}')
    view.tool_ended("read", "first\nsecond\nthird")
    view.tool_started("rm", "{}")
    view.tool_ended("rm", "not allowed", failed=True)
    view.tool_ended("touch", " \n")
    view.notice("retrying in 2 s")
    view.feed("Done.")
    view.close()
    rows = terminal.rows()[1:-1]
    assert rows[0:2] == ["Let me look.", ""]
    assert rows[2].startswith('● read({"path": "xxx')
    assert re.search(r"… \(\+\d+\)$", rows[2])
    assert rows[3:] == [
        "  └ first (+2 lines)",
        "● rm({})",
        "  └ rm failed: not allowed",
        "  └ (no output)",
        "! retrying in 2 s",
        "",
        "Done.",
    ]


@pytest.mark.parametrize("seed", range(5))
def test_plain_output_has_no_escape_sequence_and_all_text(seed: int) -> None:
    written: list[str] = []
    view = AnswerView(written.append, width=40, height=10, plain=True, title="model")
    cuts = random.Random(seed)
    view.thinking("hm hm")
    view.tool_started("t", "{}")
    position = 0
    while position < len(MARKDOWN):
        step = cuts.randint(1, 9)
        view.feed(MARKDOWN[position : position + step])
        position += step
    view.notice("x" * 200, error=True)
    view.close("done")
    text = "".join(written)
    assert "\x1b" not in text
    assert "\r" not in text
    assert MARKDOWN in text
    assert "thought for 2 words\n" in text


def test_no_color_leaves_bold() -> None:
    terminal = Terminal(40, 20)
    view = view_on(terminal, color=False)
    feed(view, MARKDOWN + "**bold** and `code`\n\n")
    view.tool_ended("t", "x", failed=True)
    view.close()
    assert not re.search(r"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7]|10[0-7])m", terminal.written)
    assert "\x1b[1m" in terminal.written


@pytest.mark.parametrize("width", [1, 2, 5, 20, 21])
@pytest.mark.parametrize("height", [1, 2, 5, 40])
def test_any_size_of_terminal_shows_every_word(width: int, height: int) -> None:
    terminal = Terminal(width, height)
    view = view_on(terminal)
    view.thinking("hm " * 20)
    feed(view, MARKDOWN + "words " * 60 + "\n\n- last\n")
    view.close("footer")
    shown = "".join(terminal.rows()).replace(" ", "")
    if width >= 20:
        for word in ("Title", "Some", "code", "one", "two", "quoted", "last"):
            assert word in shown
        assert shown.count("words") >= 60


@pytest.mark.parametrize("to", [(30, 10), (100, 40), (60, 8), (20, 4)])
@pytest.mark.parametrize("seed", range(8))
def test_a_resize_in_mid_answer_loses_no_word(seed: int, to: tuple[int, int]) -> None:
    """And the cursor never moves up in a terminal that became narrower: its rows may have been wrapped."""
    document = "".join(
        f"word{n} of a paragraph that will have to wrap.\n\n- item{n}\n- more{n}\n\n```\ncode{n}\n```\n\n"
        for n in range(6)
    )
    terminal = Terminal(60, 20)
    terminal.write("above the answer\r\n" * 20)
    view = view_on(terminal)
    at = random.Random(seed).randrange(len(document))
    feed(view, document[:at])
    terminal.screen.resize(to[1], to[0])
    terminal.screen.cursor.y = min(terminal.screen.cursor.y, to[1] - 1)  # pyte forgets it
    before = len(terminal.written)
    view.resize(*to)
    if to[0] < 60:
        assert not re.search(r"\x1b\[\d+A", terminal.written[before:])
    feed(view, document[at:])
    view.close("footer")
    # pyte cuts long rows when it becomes narrower: only what came later must be whole.
    shown = "".join(terminal.rows()).replace(" ", "")
    for name in ("word", "item", "more", "code"):
        for n in range(6):
            if document.index(f"{name}{n}") > at:
                assert f"{name}{n}" in shown


def resized(terminal: Terminal, width: int, height: int) -> None:
    """As pyte does it: rows are cut, and what no longer fits goes at the top; the cursor must go along."""
    screen = terminal.screen
    gone = max(screen.lines - height, 0)
    row, column = screen.cursor.y, screen.cursor.x
    screen.resize(height, width)
    screen.cursor.y, screen.cursor.x = max(row - gone, 0), min(column, width - 1)


def blocks_of_words(cuts: random.Random, count: int) -> str:
    """Blocks of all kinds; their words are w001, w002, …."""
    words = iter(f"w{n:03}" for n in range(1, 10_000))
    make = {
        "paragraph": lambda: " ".join(next(words) for _ in range(cuts.randint(3, 40))),
        "list": lambda: "\n".join(f"- {next(words)} **{next(words)}**" for _ in range(cuts.randint(1, 6))),
        "numbers": lambda: "\n".join(f"{n}. {next(words)}" for n in range(1, cuts.randint(2, 7))),
        "code": lambda: "```python\n" + f"{next(words)} = {next(words)}\n{next(words)}\n```",
        "table": lambda: f"|{next(words)}|b|\n|-|-|\n" + f"|{next(words)}|{next(words)}|\n",
        "quote": lambda: "\n".join(f"> {next(words)} {next(words)}" for _ in range(cuts.randint(1, 4))),
    }
    return "\n\n".join(make[cuts.choice(list(make))]() for _ in range(count)) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_resizes_in_mid_answer_leave_no_debris(seed: int) -> None:
    """No word is there twice, and what comes after the last resize is there once."""
    cuts = random.Random(seed)
    document = blocks_of_words(cuts, 14)
    terminal = Terminal(*cuts.choice([(60, 20), (80, 24), (40, 12)]))
    terminal.write("above\r\n" * terminal.screen.lines)
    view = view_on(terminal)
    at = 0
    for stop in sorted(cuts.sample(range(len(document)), cuts.randint(1, 4))):
        feed(view, document[at:stop], cuts.randint(1, 9))
        size = cuts.choice([(30, 10), (100, 40), (60, 8), (20, 6), (60, 20), (80, 24), (45, 30)])
        resized(terminal, *size)
        view.resize(*size)
        at = stop
    feed(view, document[at:])
    view.close("footer")
    text = "\n".join(terminal.rows())
    words = re.findall(r"w\d{3}", document)
    assert [word for word in words if text.count(word) > 1] == []
    assert [word for word in words if document.index(word) > at and word not in text] == []


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize(
    "text",
    [
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467 flag \U0001f1e9\U0001f1ea skin \U0001f44b\U0001f3fd heart \u2764\ufe0f end",
        "cafe\u0301 n\u0303o \u0915\u094d\u0937\u093f Z\u0351\u036b\u0343 end",
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u0645\u0631\u062d\u0628\u0627 \u0628\u0643 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 end",
        "\u6f22\u5b57 \u304b\u306a \ud55c\uad6d\uc5b4 \uff21\uff22\uff23 end",
    ],
    ids=["emoji", "marks", "right-to-left", "wide"],
)
def test_every_script_reaches_the_terminal_whole(text: str, width: int) -> None:
    """Each character once, in the rows that stay. How wide a terminal draws it is the terminal's matter."""
    for document in (f"{text}\n\n", f"- {text}\n\n", f"```\n{text}\n```\n", f"|a|\n|-|\n|{text}|\n\n"):
        rows = BlockRenderer(width - 1).blocks(parse(document, {}))
        assert "".join(rows).replace(" ", "").endswith(text.replace(" ", ""))
        written: list[str] = []
        view = AnswerView(written.append, width=width, height=40)
        for char in document:
            view.feed(char)
        view.close()
        assert "\r\n".join(rows) in "".join(written)


hostile = st.text(
    st.one_of(
        st.sampled_from(
            "\x00\x07\x08\x0b\x1b\r\n\t\x7f\x85\x90\x9b\x9d\u202e\u2028\u200b\U000e0041[]()?;0123mHJhlP\\"
        ),
        st.sampled_from("`*_#-|> &;x"),
        st.characters(exclude_categories=()),
    )
)


@settings(max_examples=150, deadline=None)
@given(st.lists(hostile, max_size=12), st.booleans())
def test_hostile_text_never_reaches_the_terminal(pieces: list[str], thinking: bool) -> None:
    """Beside text only the listed sequences are sent, wherever the text is cut."""
    written: list[str] = []
    view = AnswerView(written.append, width=30, height=8, title="".join(pieces))
    for piece in pieces:
        (view.thinking if thinking else view.feed)(piece)
    view.tool_started("".join(pieces), "".join(pieces))
    view.tool_ended("".join(pieces), "".join(pieces), failed=True)
    view.notice("".join(pieces))
    view.close("".join(pieces))
    text = ALLOWED.sub("", "".join(written))
    assert one_line(text) == text or not set(map(unicodedata.category, text)) & {
        "Cc",
        "Cs",
    }


@pytest.mark.parametrize(
    "attack",
    [
        "\x1b]0;title\x07", "\x1b]52;c;cm0gLXJm\x07", "\x1b]8;;https://evil\x1b\\x", "\x9d52;c;x\x9c", "\x1bP+q\x1b\\",
        "\x1b[2J\x1b[1;1H", "\x1b[3A\x1b[2K", "\x1bc", "\x1b[?1049h", "\x1b[6n", "a\rb", "a\x08b",
        "&#27;[2J", "&#x9b;2J", "&#x202e;x", "```\n\x1b[2J\n```\n", "[x](http://a/\x1b]8;;y\x07)", "`\x1b[2J`",
    ],
)  # fmt: skip
def test_an_attack_cut_at_every_position_is_only_text(attack: str) -> None:
    for cut in range(len(attack) + 1):
        written: list[str] = []
        view = AnswerView(written.append, width=40, height=10)
        view.feed(attack[:cut])
        view.feed(attack[cut:])
        view.feed("\n\nend\n\n")
        view.close()
        text = ALLOWED.sub("", "".join(written))
        assert one_line(text) == text


def test_a_line_of_100_000_characters_is_written_once() -> None:
    terminal = Terminal(80, 24)
    view = view_on(terminal)
    view.feed("x" * 100_000)
    view.close()
    assert "".join(terminal.rows()).count("x") == 100_000


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab é漢👩\n\t"), max_size=12)), st.integers(3, 20))
def test_the_echo_is_taken_back_exactly(pieces: list[str], width: int) -> None:
    """After `erase` the screen is as it was, whatever was echoed (while it fits the screen).

    Without combining marks: at the start of a row a terminal puts one onto the row before.
    """
    terminal = Terminal(width + 1, 200)
    terminal.write("^\r\n")
    before, cursor = list(terminal.screen.display), (terminal.screen.cursor.y, terminal.screen.cursor.x)
    echo = Echo(width)
    for piece in pieces:
        terminal.write(echo.add(neutralize(piece)))
    terminal.write(echo.erase())
    assert list(terminal.screen.display) == before
    assert (terminal.screen.cursor.y, terminal.screen.cursor.x) == (cursor[0], 0)


@pytest.mark.parametrize(
    ("language", "lines", "styles"),
    [
        ("python", ["x = '''a", "if b", "c''' + 1"], {"if b": "green"}),
        ("c", ["int x; /* open", "if still", "*/ return 1;"], {"if still": "dim italic"}),
        ("js", ["/* one */ let x = `a", "let b`;"], {"let b`": "green"}),
        ("html", ["<p> <!-- a", "<b>", "--> </p>"], {"<b>": "dim italic"}),
    ],
)
def test_the_lexers_state_is_carried_from_line_to_line(
    language: str, lines: list[str], styles: dict[str, str]
) -> None:
    highlighter = Highlighter(language)
    pieces = {text: style for line in lines for style, text in highlighter.line(line)}
    for text, style in styles.items():
        assert pieces[text] == style


@given(
    st.sampled_from(["python", "c", "js", "json", "html", "sh", "rust", "yaml", "diff", "sql", "go"]),
    st.text(),
)
@settings(deadline=None, max_examples=200)
def test_highlighting_keeps_every_character(language: str, text: str) -> None:
    highlighter = Highlighter(language)
    for line in text.split("\n"):
        assert "".join(piece for _, piece in highlighter.line(line)) == line


def test_an_unknown_language_has_no_lexer() -> None:
    assert find_lexer("no-such-language") is None
    assert find_lexer("") is None
    assert find_lexer("Python") is not None


def test_a_fence_of_a_new_language_is_shown_before_its_lexer_is_there() -> None:
    """Scala's takes longest to load: lines have no colour until it is there, and no character is lost."""
    terminal = Terminal(80, 24)
    view = view_on(terminal)
    view.feed("```scala\n")
    lines = 0
    while "\x1b[35mdef" not in terminal.written and lines < 100_000:  # 35: the magenta of keywords
        view.feed("def f(x: Int) = 1\n")
        lines += 1
    view.feed("```\n")
    view.close()
    assert terminal.rows()[1:-1] == ["def f(x: Int) = 1"] * lines
    assert lines < 100_000
