"""The colours of code: the terminal's own by default, or a Pygments style, in fewer where there are fewer."""

from __future__ import annotations

import re

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.render.answer import AnswerView, warm_up
from golem_cli.render.code import Highlighter
from golem_cli.render.syntax_theme import ANSI, load_theme


@pytest.fixture(autouse=True)
def _warm() -> None:
    """A fence does not wait long for a lexer that is not there yet."""
    warm_up()


def test_the_default_theme_uses_colours_that_show_on_light_and_on_dark_grounds() -> None:
    assert load_theme("ansi", {}) is ANSI
    written: list[str] = []
    view = AnswerView(written.append, width=80, height=24)
    view.feed("```python\n@a\nclass B(Exception): '''d'''\ndef f(x): return x + 1 or 'y\\n'  # c\n```\n")
    view.close()
    codes = {
        int(code) for group in re.findall(r"\x1b\[([\d;]*)m", "".join(written)) for code in group.split(";")
    }
    # Off, bold, dim, italic, underline; red, green, blue, magenta, cyan: no black, yellow, white, no grounds.
    assert codes <= {0, 1, 2, 3, 4, 31, 32, 34, 35, 36}
    assert {32, 35} <= codes


def test_a_pygments_style_gives_its_colours() -> None:
    """Monokai: keywords #66d9ef, strings #e6db74; #f8f8f2 is its ordinary text and left to the terminal."""
    theme = load_theme("monokai", {"COLORTERM": "truecolor", "TERM": "xterm-256color"})
    pieces = Highlighter("python", theme).line("return 'text' ; name")
    assert pieces == [("#66d9ef", "return "), ("#e6db74", "'text' "), ("", "; name")]


@pytest.mark.parametrize(
    ("term", "sequence"),
    [
        # #66d9ef is nearest to 81 of the 256 colours (#5fd7ff) and to bright cyan, 14, of the 16.
        ("xterm-256color", "\x1b[38;5;81mreturn"),
        ("xterm", "\x1b[96mreturn"),
    ],
)
def test_a_terminal_of_fewer_colours_gets_the_nearest(term: str, sequence: str) -> None:
    written: list[str] = []
    theme = load_theme("monokai", {"TERM": term})
    view = AnswerView(written.append, width=80, height=24, theme=theme)
    view.feed("```python\nreturn 1\n```\n")
    view.close()
    assert sequence in "".join(written)


@pytest.mark.parametrize(
    ("name", "said"),
    [("monokay", "did you mean monokai?"), ("zzzzzz", "there are: abap"), ("../x\x1b", "there are")],
)
def test_an_unknown_theme_is_refused_with_the_nearest(name: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        load_theme(name, {})
