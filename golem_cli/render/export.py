"""A conversation as a Markdown or an HTML document that does nothing by itself when it is opened.

Foreign text is neutralized. HTML in it is shown as text, links that could run a script are no links, and
images are named and linked, never loaded. JSON is the codec's business.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from golem_cli.core.entries import entries
from golem_cli.core.message import TOOL
from golem_cli.render.neutralize import neutralize, one_line
from golem_cli.render.transcript import marks, part_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from golem_cli.core.conversation import Conversation
    from golem_cli.core.entries import Entry
    from golem_cli.core.message import Message

# Code of Markdown in which `<` is text anyway: fences, then spans whose backticks are not escaped.
_CODE: Final = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<![\\`])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_BACKTICKS: Final = re.compile(r"`+")

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }}
section {{ border-top: 1px solid #8888; margin-top: 1rem; }}
section > h2 {{ font-size: 1rem; }}
pre {{ overflow-x: auto; border: 1px solid #8888; padding: .5rem; white-space: pre-wrap; }}
table {{ border-collapse: collapse; }} th, td {{ border: 1px solid #8888; padding: .2rem .5rem; }}
details, .facts {{ opacity: .75; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p class="facts">{facts}</p>
{messages}
</body>
</html>
"""
_BESIDE: Final = ' class="facts"'


def export_markdown(conversation: Conversation) -> str:
    """Return the conversation as one Markdown document."""
    pieces = [f"# {_escaped_line(_title(conversation))}", _escaped_line(_facts(conversation))]
    for entry in entries(conversation):
        pieces.append(f"## {_escaped_line(_heading(entry))}")
        pieces.extend(_markdown_message(entry.message))
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def export_html(conversation: Conversation) -> str:
    """Return the conversation as one HTML page: no script, nothing loaded, readable in the dark."""
    sections = (
        f"<section{_BESIDE if entry.left_out_by else ''}>\n<h2>{html.escape(_heading(entry))}</h2>\n"
        + "\n".join(_html_message(entry.message))
        + "\n</section>"
        for entry in entries(conversation)
    )
    return _PAGE.format(
        title=html.escape(_title(conversation)),
        facts=html.escape(_facts(conversation)),
        messages="\n".join(sections),
    )


def _title(conversation: Conversation) -> str:
    return one_line(conversation.title) or "Conversation"


def _facts(conversation: Conversation) -> str:
    facts = (conversation.conversation_id, conversation.model, conversation.created_at)
    return " · ".join(one_line(fact) for fact in facts if fact)


def _heading(entry: Entry) -> str:
    number, message, left_out_by = entry
    words = [one_line(message.role) or "no role", one_line(message.tool_name), *marks(message, left_out_by)]
    return " ".join([f"{number}."] * bool(number) + [word for word in words if word])


# Markdown


def _markdown_message(message: Message) -> Iterator[str]:
    for block in message.thoughts:
        yield _quoted(_safe_markdown(block.text or "(redacted thinking)"))
    if message.content:
        yield _fenced(message.content) if message.role == TOOL else _safe_markdown(message.content)
    for part in message.parts:
        yield _escaped_line(part_line(part))
    for call in message.tool_calls:
        yield f"Calls {_escaped_line(one_line(call.name) or 'an unnamed tool')}:"
        yield _fenced(call.args)


def _safe_markdown(text: str) -> str:
    """Return `text` as Markdown whose HTML is text; as code when a link in it could run a script."""
    shown = neutralize(text)
    pieces: list[str] = []
    end = 0
    for match in _CODE.finditer(shown):
        pieces += _TAG.sub("&lt;", shown[end : match.start()]), match.group()
        end = match.end()
    escaped = "".join(pieces) + _TAG.sub("&lt;", shown[end:])
    return escaped if _is_harmless(escaped) else _fenced(shown)


def _is_harmless(text: str) -> bool:
    """Whether a Markdown reader that allows everything finds neither HTML nor a dangerous link in `text`."""
    for token in _every(_lenient_parser().parse(text)):
        if token.type in {"html_block", "html_inline"}:
            return False
        address = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if address and not _strict_parser().validateLink(address):
            return False
    return True


def _every(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _every(token.children or ())


def _fenced(text: str) -> str:
    """Return `text` as a code block with a fence that nothing in it closes."""
    shown = neutralize(text)
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}\n{shown}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _escaped_line(text: str) -> str:
    """Return one line of foreign text with every character of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)


# HTML


@cache
def _strict_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


@cache
def _lenient_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # the documented way to set it
    return parser


def _html_message(message: Message) -> Iterator[str]:
    for block in message.thoughts:
        shown = _html_markdown(block.text) if block.text else "<p>(redacted)</p>"
        yield f"<details><summary>thinking</summary>{shown}</details>"
    if message.content:
        yield _pre(message.content) if message.role == TOOL else _html_markdown(message.content)
    for part in message.parts:
        yield f"<p>{html.escape(part_line(part))}</p>"
    for call in message.tool_calls:
        yield f"<p>Calls <code>{html.escape(one_line(call.name))}</code>:</p>\n{_pre(call.args)}"


def _pre(text: str) -> str:
    return f"<pre>{html.escape(neutralize(text))}</pre>"


def _html_markdown(text: str) -> str:
    """Render Markdown: HTML in it is escaped, unsafe links stay text, images become links."""
    parser = _strict_parser()
    tokens = parser.parse(neutralize(text))
    for token in _every(tokens):
        token.content = neutralize(token.content)  # an entity may have become a character that hides text
        if token.type == "link_open":
            token.attrSet("rel", "noopener noreferrer nofollow")
    for token in tokens:
        if token.children:
            token.children = [piece for child in token.children for piece in _without_image(child)]
    return str(parser.renderer.render(tokens, parser.options, {}))


def _without_image(token: Token) -> list[Token]:
    if token.type != "image":
        return [token]
    address = one_line(str(token.attrs.get("src", "")))
    return [token.copy(type="text", tag="", children=None, content=f"[image: {token.content} {address}]")]
