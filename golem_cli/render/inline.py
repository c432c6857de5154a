"""The inside of a Markdown block as styled text: emphasis, code, links with their address, images by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.style import Style
from rich.text import Text

from golem_cli.render.neutralize import neutralize, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_STYLES: Final = {
    "em_open": Style(italic=True),
    "strong_open": Style(bold=True),
    "s_open": Style(strike=True),
    "link_open": Style(color="blue", underline=True),
}
_CODE: Final = Style(color="cyan")
_BREAKS: Final = {"softbreak": " ", "hardbreak": "\n"}


def text_of(children: Sequence[Token], style: Style) -> Text:
    """Return the inline tokens as text on top of `style`. What entities became is neutralized here."""
    text = Text()
    styles = [style]
    links: list[tuple[str, int]] = []
    for token in children:
        kind = token.type
        if kind == "text":
            text.append(neutralize(token.content), styles[-1] or None)
        elif kind == "code_inline":
            text.append(neutralize(token.content), styles[-1] + _CODE)
        elif kind in _BREAKS:
            text.append(_BREAKS[kind])
        elif kind in _STYLES:
            styles.append(styles[-1] + _STYLES[kind])
            if kind == "link_open":
                links.append((str(token.attrs.get("href", "")), len(text)))
        elif token.nesting < 0:
            styles.pop()
            if kind == "link_close":
                text.append(_address(*links.pop(), text.plain))
        elif kind == "image":
            address = one_line(str(token.attrs.get("src", "")))
            text.append(f"[image: {neutralize(token.content)} ({address})]", styles[-1] or None)
        else:
            text.append(neutralize(token.content), styles[-1] or None)
    return text


def _address(href: str, start: int, plain: str) -> str:
    """What follows a link's text: its address, unless the text is the address."""
    shown = plain[start:]
    if not href or href in {shown, f"mailto:{shown}"}:
        return ""
    return f" ({one_line(href)})"
