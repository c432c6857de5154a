"""Untrusted text made harmless: no control or invisible character in it reaches a terminal.

What is marked, as `⟦U+001B⟧`:

- C0 but newline and tab, DEL, C1; a CR right before a newline is part of that newline and vanishes;
- bidirectional controls; tag characters and everything else in U+E0000 to U+E0FFF;
- characters without a shape: soft hyphen, zero-width space, word joiner, byte order mark, invisible
  operators, fillers, variation selectors 1 to 14, annotation and format controls; U+2028 and U+2029;
- joiners and selectors that stand where no writing needs them. They are kept right after a character that
  is not Latin: ZWJ and ZWNJ (Persian, Indic scripts, emoji), VS15 and VS16 (emoji; also after digits and
  `# * © ®`), Mongolian selectors, and the zero-width space after a letter of Thai, Lao, Burmese or Khmer,
  which have no spaces. At most two in a row pass (`❤`, VS16, ZWJ), so they carry no message in Latin text.

A lone surrogate becomes U+FFFD. In a single-line field newline, tab and every CR are marked too.

The mark cannot be taken for ordinary text: nobody writes `⟦U+001B⟧` by chance. Text that holds a mark
literally stays as it is: a function that may be applied twice cannot tell the two apart, and a false mark
only claims a danger that is not there; it never hides one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_SHAPELESS: Final = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
_CONTROLS: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SURROGATES: Final = r"\ud800-\udfff"
# A character that a joiner may follow: beyond Latin, with a shape of its own, and not our mark's end.
_NOT_LATIN: Final = (
    r"[\u0300-\u034e\u0350-\u061b\u061d-\u115e\u1161-\u17b3\u17b6-\u180a\u1810-\u1dff\u1f00-\u1fff"
    r"\u203c\u2049\u20d0-\u27e5\u27e8-\u3163\u3165-\ud7ff\ue000-\ufdff\ufe10-\ufefe"
    r"\uff00-\uff9f\uffa1-\uffef\ufffc\ufffd\U00010000-\U0001bc9f\U0001bca4-\U0001d172\U0001d17b-\U000dffff"
    r"\U000e1000-\U0010ffff]"
)
_WITHOUT_SPACES: Final = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff]"
_MISPLACED: Final = (
    rf"(?:(?<!{_NOT_LATIN})(?<!{_NOT_LATIN}[\ufe0e\ufe0f])[\u200c\u200d]"
    rf"|(?<!{_NOT_LATIN})[\u180b-\u180d\u180f]"
    rf"|(?<!{_NOT_LATIN})(?<![0-9#*\u00a9\u00ae])[\ufe0e\ufe0f]"
    rf"|(?<!{_WITHOUT_SPACES})\u200b)"
)
_JOINERS: Final = r"\u180b-\u180d\u180f\u200b-\u200d\ufe0e\ufe0f"

_ASCII_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_CONTEXT: Final = 2
"""Code points before a joiner that decide about it."""


# The large patterns are compiled when a text first needs one: golem starts without any.


@cache
def _multi_line() -> re.Pattern[str]:
    return re.compile(rf"\r\n?|[{_CONTROLS}{_SHAPELESS}{_SURROGATES}]|{_MISPLACED}")


@cache
def _single_line() -> re.Pattern[str]:
    return re.compile(rf"[\t\n\r{_CONTROLS}{_SHAPELESS}{_SURROGATES}]|{_MISPLACED}")


@cache
def _suspect() -> re.Pattern[str]:
    """One class that finds whether a text needs the patterns above; look-behinds are several times slower."""
    return re.compile(rf"[\r{_CONTROLS}{_SHAPELESS}{_SURROGATES}{_JOINERS}]")


def _is_harmless(text: str) -> bool:
    """Whether there is nothing to mark in `text`, whatever comes before it."""
    return (_ASCII_CONTROLS if text.isascii() else _suspect()).search(text) is None


def _mark(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\r\n":
        return "\n"
    code = ord(found)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"⟦U+{code:04X}⟧"


def neutralize(text: str) -> str:
    r"""Return `text` with everything that could act on a terminal or hide from the eye made visible.

    Applying it again changes nothing. For text that arrives in fragments use `Neutralizer`.

    >>> neutralize("\x1b[2Jall good\r\n")
    '⟦U+001B⟧[2Jall good\n'
    """
    return text if _is_harmless(text) else _multi_line().sub(_mark, text)


def one_line(text: str) -> str:
    r"""Return `text` neutralized for a single line: line breaks and tabs are marked too.

    >>> one_line("id\nstatus: clean")
    'id⟦U+000A⟧status: clean'
    """
    harmless = _is_harmless(text) and "\n" not in text and "\t" not in text
    return text if harmless else _single_line().sub(_mark, text)


def find_marked(line: str) -> list[tuple[int, str]]:
    r"""Return the position of each character that `neutralize` marks in one line, with its mark.

    For whoever shows a text that must stay as it is.

    >>> find_marked("a\x1bb")
    [(1, '⟦U+001B⟧')]
    """
    if _is_harmless(line):
        return []
    return [(match.start(), _mark(match)) for match in _multi_line().finditer(line)]


class Neutralizer:
    """`neutralize` for text that arrives in fragments, wherever it is cut.

    What it returns, joined, is `neutralize` of the fragments joined. It holds back at most one CR.
    """

    def __init__(self) -> None:
        self._context = ""
        self._held = ""

    def feed(self, fragment: str) -> str:
        """Return what can be shown of `fragment` now."""
        text = self._held + fragment
        self._held = ""
        if text.endswith("\r"):
            text, self._held = text[:-1], "\r"
        if not text:
            return ""
        context, self._context = self._context, (self._context + text)[-_CONTEXT:]
        if _is_harmless(text):
            return text
        whole, start = context + text, len(context)
        pieces: list[str] = []
        for match in _multi_line().finditer(whole, start):
            pieces += whole[start : match.start()], _mark(match)
            start = match.end()
        return "".join(pieces) + whole[start:]

    def close(self) -> str:
        """Return what was held back; the text ends here."""
        held, self._held, self._context = self._held, "", ""
        return neutralize(held)
