"""The colours of code: the terminal's own sixteen, readable on any ground, or those of a Pygments style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pygments.token import _TokenType

ANSI_NAME: Final = "ansi"
"""The name of the theme that uses the terminal's own colours."""


class SyntaxTheme:
    """Which style (a definition as Rich reads it, "" for none) each type of token has.

    `definitions` names token types without `Token.`; one that is not named has its nearest ancestor's style.
    """

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self._definitions = definitions
        self._found: dict[_TokenType, str] = {}

    def style_of(self, token: _TokenType) -> str:
        """Return the style of a token type."""
        found = self._found.get(token)
        if found is None:
            found = self._found[token] = self._look_up(token)
        return found

    def _look_up(self, token: _TokenType | None) -> str:
        while token:
            name = str(token).removeprefix("Token.")
            if name in self._definitions:
                return self._definitions[name]
            token = token.parent
        return ""


# Readable on light and dark grounds: no black, white or yellow, no grounds of our own.
ANSI: Final = SyntaxTheme(
    {
        "Comment": "dim italic",
        "Comment.Preproc": "magenta",
        "Keyword": "magenta",
        "Keyword.Constant": "cyan",
        "Literal.String": "green",
        "Literal.String.Escape": "cyan",
        "Literal.String.Doc": "dim italic",
        "Literal.Number": "cyan",
        "Name.Builtin": "cyan",
        "Name.Class": "bold blue",
        "Name.Decorator": "magenta",
        "Name.Exception": "red",
        "Name.Function": "blue",
        "Name.Tag": "blue",
        "Name.Attribute": "cyan",
        "Operator.Word": "magenta",
        "Generic.Deleted": "red",
        "Generic.Inserted": "green",
        "Generic.Heading": "bold",
        "Generic.Subheading": "bold",
        "Generic.Strong": "bold",
        "Generic.Emph": "italic",
    }
)


def load_theme(name: str, environment: Mapping[str, str]) -> SyntaxTheme:
    """Return the theme `name`: `ansi`, or a style of Pygments in as many colours as the terminal has.

    Raises `ConfigurationError` for another name. Grounds are left out, and so is the style's colour of
    ordinary text: that is the terminal's.
    """
    if name == ANSI_NAME:
        return ANSI
    from pygments.styles import STYLE_MAP, get_style_by_name

    if name not in STYLE_MAP:
        raise ConfigurationError(f"there is no theme {name}{_suggestion(name, [ANSI_NAME, *STYLE_MAP])}")
    style = get_style_by_name(name)
    color = _color_of(environment)
    ordinary = next(found["color"] for token, found in style if not token)
    return SyntaxTheme(
        {
            str(token).removeprefix("Token."): " ".join(
                [word for word in ("bold", "italic", "underline") if found[word]]
                + ([color(found["color"])] if found["color"] not in {None, "", ordinary} else [])
            )
            for token, found in style
        }
    )


def _color_of(environment: Mapping[str, str]) -> Callable[[str], str]:
    """How a colour of six hexadecimal digits is called where the terminal may have fewer colours."""
    from rich.color import Color, ColorSystem

    if environment.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return lambda digits: f"#{digits}"
    many = "256color" in environment.get("TERM", "")
    system = ColorSystem.EIGHT_BIT if many else ColorSystem.STANDARD
    return lambda digits: f"color({Color.parse(f'#{digits}').downgrade(system).number})"


def _suggestion(name: str, names: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(sorted(names))}"
