r"""What a program sent to a terminal, taken apart: the text, and the kinds of control sequences in it.

>>> sent = taken_apart(b"\x1b[1;31mred\x1b[0m\x1b]0;title\x07\r\n")
>>> sent.text, sorted(sent.kinds)
('red\n', ['C0 0D', 'CSI m', 'OSC'])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

_STRINGS: Final = {"]": "OSC", "P": "DCS", "X": "SOS", "^": "PM", "_": "APC"}
_STRING_ENDS: Final = ("\x07", "\x1b\\", "\x9c")
_C1_INTRODUCERS: Final = {"\x9b": "[", "\x9d": "]", "\x90": "P", "\x98": "X", "\x9e": "^", "\x9f": "_"}
_FIRST_PRINTABLE: Final = 0x20


@dataclass
class Sent:
    """The text, with newlines, and what else was sent: `CSI A`, `CSI ?2004h`, `OSC`, `ESC c`, `C0 08`, …."""

    text: str = ""
    kinds: set[str] = field(default_factory=set)


def taken_apart(raw: bytes) -> Sent:
    """Read `raw` as a terminal does that knows 7-bit and 8-bit controls; raises when it is no UTF-8."""
    sent = Sent()
    rest = raw.decode("utf-8")
    while rest:
        rest = _step(rest, sent)
    return sent


def _step(rest: str, sent: Sent) -> str:
    first = rest[0]
    if first == "\x1b":
        return _escape(rest[1:], sent)
    if first in _C1_INTRODUCERS:
        sent.kinds.add(f"C1 {ord(first):02X}")
        return _escape(_C1_INTRODUCERS[first] + rest[1:], sent)
    if first == "\n" or (ord(first) >= _FIRST_PRINTABLE and not "\x7f" <= first <= "\x9f"):
        sent.text += first
    else:
        sent.kinds.add("DEL" if first == "\x7f" else f"{'C0' if first < ' ' else 'C1'} {ord(first):02X}")
    return rest[1:]


def _escape(rest: str, sent: Sent) -> str:
    first, rest = rest[:1], rest[1:]
    if first in _STRINGS:
        sent.kinds.add(_STRINGS[first])
        ends = [at + len(end) for end in _STRING_ENDS if (at := rest.find(end)) >= 0]
        return rest[min(ends) :] if ends else ""
    if first != "[":
        sent.kinds.add(f"ESC {first}")
        return rest
    parameters = ""
    while rest and not "@" <= rest[0] <= "~":
        parameters, rest = parameters + rest[0], rest[1:]
    private = parameters if parameters[:1] in {"?", ">", "=", "<"} else ""
    sent.kinds.add(f"CSI {private}{rest[:1]}")
    return rest[1:]
