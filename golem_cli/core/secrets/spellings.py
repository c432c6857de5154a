"""How else a character can be spelled: escapes, forms that read the same, and marks that nobody sees.

Escapes are those of JSON, programming languages, shells, HTML, Markdown and addresses. The same reads what
Unicode folds to ASCII (NFKC: full width, mathematical letters, …) and every dash. Nobody sees marks without
width, control characters and the colours of a terminal; accents that stand apart are looked through too.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

_UNSEEN: Final = (
    r"\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_DASHES: Final = r"\u2010-\u2015\u2212\ufe58"
_FOLDED: Final = (
    r"\u00a0\u00aa\u00b2\u00b3\u00b9\u00ba\u02b0-\u02b8\u02e1-\u02e3\u2000-\u200a\u202f\u205f\u2070-\u209c"
    r"\u2100-\u218b\u2460-\u24ea\u3000\ufb00-\ufb06\ufe4d-\ufe57\ufe59-\ufe6b\uff01-\uff5e"
    r"\U0001d400-\U0001d7ff\U0001f100-\U0001f14f\U0001fbf0-\U0001fbf9"
)
_MAY_BE_ONE: Final = re.compile(rf"[\\&%*`~<{_UNSEEN}{_DASHES}{_FOLDED}]")
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LAST: Final = 0x10FFFF

_KEY: Final = "[A-Za-z0-9_-]"
_INDENT: Final = r"[ \t>|+]{0,80}"
"""What begins a line that goes on: space, and the marks of quotes, tables and differences."""
_BREAK: Final = re.compile(  # each way begins with a character that is rare: that is quick to look for
    rf"""["'`](?<={_KEY}.)[ \t]{{0,8}}[+.&,\\]?[ \t]{{0,8}}(?:\r?\n{_INDENT})?["'`](?={_KEY})"""
    rf"""|\\(?<={_KEY}.)\r?\n{_INDENT}(?={_KEY})"""
    rf"""|\r(?<={_KEY}.)\n{_INDENT}(?={_KEY})"""
    rf"""|\n(?<={_KEY}.){_INDENT}(?={_KEY})""",
    re.DOTALL,
)


def breaks(text: str) -> Iterator[re.Match[str]]:
    """Yield what may be within a word: the end of a line, or that of a literal to which another is joined."""
    return _BREAK.finditer(text)


@cache
def _expression() -> re.Pattern[str]:
    return re.compile(
        r"(?P<slashes>(?:\\\\){4,})"
        r"|(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
        r"|(?P<hex>\\[ux]\{[0-9a-fA-F]{1,8}\}|\\U[0-9a-fA-F]{8}|[\\%]u[0-9a-fA-F]{4}|(?:\\x|%)[0-9a-fA-F]{2})"
        r"|\\(?P<octal>[0-3][0-7]{2})|\\(?P<control>[nrtbf])|\\(?P<mark>[!-/:-@\[-`{-~])"
        r"|(?P<entity>&(?:\#[0-9]{1,8};?|\#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,30};))"
        r"|(?P<nothing>[*`~]+|</?[A-Za-z][A-Za-z0-9]{0,15}[ ]?/?>|\\\r?\n"
        rf"|\x1b\[[0-?]{{0,24}}[@-~]|[{_UNSEEN}]+)"
        rf"|(?P<dash>[{_DASHES}])|(?P<folded>[{_FOLDED}])"
    )


def spelled(text: str) -> Iterator[re.Match[str]]:
    """Yield where something in `text` is spelled in another way, in order; `meaning` says what it means."""
    if _MAY_BE_ONE.search(text):
        yield from _expression().finditer(text)


def meaning(match: re.Match[str]) -> str:
    """Return what a match of `spelled` stands for, one layer of escapes taken off; "" for nothing."""
    found = match.group()
    match match.lastgroup:
        case "slashes":  # many in a row at once: a text of nothing else is not worth a step for each
            return found[: len(found) // 2]
        case "pair":
            return bytes.fromhex(found.replace("\\u", "")).decode("utf-16-be")
        case "hex":
            return _character(int(found.strip("\\%Uux{}"), 16))
        case "octal":
            return chr(int(found[1:], 8))
        case "control":
            return _CONTROLS[found[1]]
        case "mark":
            return found[1]
        case "entity":
            return html.unescape(found)
        case "dash":
            return "-"
        case "folded":
            return unicodedata.normalize("NFKC", found)
        case _:
            return ""


def _character(number: int) -> str:
    return chr(number) if number <= _LAST else ""
