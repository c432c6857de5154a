"""Source code in colours, one line at a time, the lexer's state carried on."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from golem_cli.render.syntax_theme import ANSI, SyntaxTheme

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

    _Token = tuple[_TokenType, str]

# Comments that many lexers match in one expression: without its closer such a comment looks like operators.
_COMMENTS: Final = (("/*", "*/"), ("<!--", "-->"), ("{-", "-}"), ("(*", "*)"))

_NO_LANGUAGE: Final = frozenset({"text", "plain", "txt"})

Piece = tuple[str, str]
"""A style's definition ("" for none) and the text in it."""


@cache
def _aliases() -> frozenset[str]:
    """Every language name that Pygments itself knows; asking it for another one searches all plug-ins."""
    from pygments.lexers import get_all_lexers

    return frozenset(alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases)


def known_language(name: str) -> str:
    """Return the name behind a fence as Pygments knows it; "" when it does not."""
    known = name.strip().lower()
    return known if known in _aliases() and known not in _NO_LANGUAGE else ""


def find_lexer(language: str) -> Lexer | None:
    """Return the lexer for the name behind a fence, or None. The first use of a language takes 5-160 ms."""
    name = known_language(language)
    return _lexer(name) if name else None


@cache
def _lexer(name: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def _keeps_state(lexer: Lexer) -> bool:
    """Whether the lexer is a plain state machine, whose state can be carried from line to line."""
    from pygments.lexer import RegexLexer

    plain = type(lexer).get_tokens_unprocessed is RegexLexer.get_tokens_unprocessed
    return isinstance(lexer, RegexLexer) and plain


class Highlighter:
    """Colours the lines of one code block as they come.

    A line's colours depend on the lines before it only, so a streamed block and a whole one look the same.
    """

    def __init__(self, language: str, theme: SyntaxTheme = ANSI) -> None:
        self._lexer = find_lexer(language)
        self._theme = theme
        self._stack = ["root"]
        self._closer = ""
        self._keeps_state = self._lexer is not None and _keeps_state(self._lexer)

    def line(self, text: str) -> list[Piece]:
        """Return the pieces of `text`, one line without its newline."""
        if self._lexer is None or not text:
            return [("", text)]
        if self._closer:
            return self._inside_comment(text)
        pieces = self._pieces(text)
        self._closer = self._opened_comment(text)
        if self._closer:
            pieces = self._cut(self._lex(text + self._closer, ["root"]), len(text))
        return pieces

    def _pieces(self, text: str) -> list[Piece]:
        return self._cut(self._lex(text + "\n", self._stack), len(text))

    def _inside_comment(self, text: str) -> list[Piece]:
        end = text.find(self._closer)
        if end < 0:
            return [(self._comment(), text)]
        end += len(self._closer)
        self._closer = ""
        return [(self._comment(), text[:end]), *(self.line(text[end:]) if text[end:] else [])]

    def _comment(self) -> str:
        from pygments.token import Comment

        return self._theme.style_of(Comment.Multiline)

    def _opened_comment(self, text: str) -> str:
        """Return the closer of a comment that is still open at the end of `text`, or ""."""
        from pygments.token import Comment

        for opener, closer in _COMMENTS:
            start = text.rfind(opener)
            if start < 0 or text.find(closer, start + len(opener)) >= 0 or len(self._stack) > 1:
                continue
            token, comment = list(self._lex(text + closer, ["root"]))[-1]
            if token in Comment and len(comment) >= len(text) - start + len(closer):
                return closer
        return ""

    def _cut(self, tokens: Iterator[_Token], length: int) -> list[Piece]:
        """The first `length` characters of `tokens` with their styles, neighbours of one style joined."""
        joined: list[Piece] = []
        for token, text in tokens:
            style = self._theme.style_of(token)
            text = text[:length]  # noqa: PLW2901 - the rest is beyond the line
            length -= len(text)
            if not text:
                continue
            if joined and (joined[-1][0] == style or text.isspace()):
                joined[-1] = (joined[-1][0], joined[-1][1] + text)
            else:
                joined.append((style, text))
        return joined

    def _lex(self, text: str, stack: list[str]) -> Iterator[_Token]:
        assert self._lexer is not None  # noqa: S101 - for the type checker: `line` has looked
        if not self._keeps_state:
            tokens = self._lexer.get_tokens_unprocessed(text)
            return ((token, piece) for _, token, piece in tokens)
        return _lex_from(self._lexer, text, stack)


def _lex_from(lexer: Lexer, text: str, stack: list[str]) -> Iterator[_Token]:
    """Run the state machine of a `RegexLexer` over `text` from `stack`, which is left as the text leaves it.

    Pygments runs the same machine but does not give its final state away.
    """
    from pygments.token import Error, Text, _TokenType

    rules = lexer._tokens  # noqa: SLF001 - nothing public has the compiled rules
    position = 0
    while position < len(text):
        for match_at, action, new_state in rules[stack[-1]]:
            match = match_at(text, position)
            if match is None:
                continue
            if type(action) is _TokenType:
                yield action, match.group()
            elif action is not None:
                for _, token, piece in action(lexer, match):
                    yield token, piece or ""
            position = match.end()
            _move(stack, new_state)
            break
        else:
            newline = text[position] == "\n"
            if newline:
                stack[:] = ["root"]
            yield Text if newline else Error, text[position]
            position += 1


def _move(stack: list[str], new_state: object) -> None:
    """Apply a rule's transition: names are pushed, `#pop` and negative numbers go back, `#push` repeats."""
    if isinstance(new_state, int):
        del stack[max(len(stack) + new_state, 1) :]
    elif isinstance(new_state, tuple):
        for state in new_state:
            _move(stack, -1 if state == "#pop" else state)
    elif new_state == "#push":
        stack.append(stack[-1])
    elif isinstance(new_state, str):
        stack.append(new_state)
