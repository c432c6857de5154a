"""What a setting may be: each kind checks a TOML value or a flag, and reads a variable's text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from golem_cli.core.errors import ConfigurationError

_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"0", "false", "no", "off"})
_LONGEST = 40
"""Characters of a wrong value that an error shows."""


class Kind(NamedTuple):
    """A kind of value: `words` end the sentence "… must be"; `accept` gives the value, None to refuse."""

    words: str
    accept: Callable[[object], object | None]
    read: Callable[[str], object | None]

    def check(self, value: object, place: str) -> object:
        """Return `value` as this kind, or raise `ConfigurationError` that names `place`."""
        accepted = self.accept(value)
        if accepted is None:
            raise self._refusal(repr(value), place)
        return accepted

    def parse(self, text: str, place: str) -> object:
        """Return what `text` means as this kind, or raise `ConfigurationError` that names `place`."""
        value = self.read(text)
        accepted = None if value is None else self.accept(value)
        if accepted is None:
            raise self._refusal(repr(text), place)
        return accepted

    def _refusal(self, shown: str, place: str) -> ConfigurationError:
        if len(shown) > _LONGEST:
            shown = f"{shown[:_LONGEST]}…"
        return ConfigurationError(f"{place} must be {self.words}, not {shown}")


def _text(value: object) -> object | None:
    return value if isinstance(value, str) else None


def _answer(value: object) -> object | None:
    return value if isinstance(value, bool) else None


def _whole(least: int) -> Callable[[object], object | None]:
    def accept(value: object) -> object | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return value if fits else None

    return accept


def _number(least: float, most: float) -> Callable[[object], object | None]:
    def accept(value: object) -> object | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if math.isfinite(value) and least <= value <= most else None

    return accept


def _positive(value: object) -> object | None:
    return _number(0, math.inf)(value) or None


def _thinking(value: object) -> object | None:
    return value if value in ("adaptive", "off") else _whole(1)(value)


def _read_thinking(text: str) -> object | None:
    whole = _read_whole(text)
    return text.strip().lower() if whole is None else whole


def _read_whole(text: str) -> object | None:
    return int(text) if text.strip().isascii() and text.strip().isdecimal() and len(text) < 20 else None


def _read_word(text: str) -> object | None:
    return text.strip().lower()


def _one_of(*words: str) -> Kind:
    """One of some words; a variable may have them in capitals too."""
    *most, last = words
    return Kind(
        f"{', '.join(most)} or {last}",
        lambda value: value if isinstance(value, str) and value in words else None,
        _read_word,
    )


def _read_number(text: str) -> object | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read_answer(text: str) -> object | None:
    word = text.strip().lower()
    return True if word in _YES else False if word in _NO else None


TEXT: Final = Kind("text", _text, str)
CAUTION: Final = _one_of("warn", "block", "off")
NOTICE: Final = _one_of("off", "bell", "osc9")
ANSWER: Final = Kind("true or false", _answer, _read_answer)
COUNT: Final = Kind("a whole number of at least 1", _whole(1), _read_whole)
COUNT_OR_OFF: Final = Kind("a whole number, 0 for off", _whole(0), _read_whole)
TEMPERATURE: Final = Kind("a number from 0 to 2", _number(0, 2), _read_number)
THINKING: Final = Kind("adaptive, off or a number of tokens", _thinking, _read_thinking)
RATE: Final = Kind("a number of at least 0", _number(0, math.inf), _read_number)
SECONDS: Final = Kind("a number of seconds", _number(0, math.inf), _read_number)
AMOUNT: Final = Kind("a number above 0", _positive, _read_number)
FRACTION: Final = Kind("a number from 0 to 1", _number(0, 1), _read_number)
