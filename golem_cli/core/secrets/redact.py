"""Redacting a conversation: each secret becomes a placeholder, the same one wherever the secret stands.

What is unsure is not decided here but told: strings that look random and that nothing explains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.core.identity import is_canonical_uuid
from golem_cli.core.secrets.data import bytes_in, data_of, secrets_in_data, text_in
from golem_cli.core.secrets.find import PLACEHOLDER, Found, find_secrets, without_overlaps
from golem_cli.core.secrets.places import DATA, ID, JSON, OPAQUE, TEXT, rewritten
from golem_cli.core.secrets.randomness import looks_random
from golem_cli.core.secrets.unexplained import find_random
from golem_cli.core.secrets.views import views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from golem_cli.core.conversation import Conversation

REMOVED: Final = "[removed]"
"""Stands for what only a provider can read, and therefore nobody can vouch for."""
_ANYWHERE: Final = 8
"""Characters of a value that is replaced wherever it stands; a shorter one (`postgres`) may be a plain word,
and is replaced only where it was found."""
_TELLING: Final = 8
"""Characters of a value's beginning that are replaced where a text was cut off in the middle of it."""
_ELLIPSIS: Final = "…"
_CUT: Final = ("", _ELLIPSIS, "...")
_WHOLE: Final = 8192
"""Characters of a text in which what its title's end cut off is looked for."""
_MARKS: Final = "_-.~*:?"  # what may stand behind a secret and look like its end
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NUMBER: Final = re.compile(r"-?[0-9][0-9.eE+-]*")


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Something that may be a secret and was left: where it stands, and why it is doubted."""

    place: str
    why: str


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation without its secrets, how many different ones there were, and what is in doubt.

    `values` are the secrets themselves, for `survivor`; but for short ones, which may be plain words.
    """

    conversation: Conversation
    secrets: int
    doubts: tuple[Doubt, ...]
    values: tuple[str, ...]


def redact(conversation: Conversation, *, random: bool = False) -> Redacted:
    """Return `conversation` with its secrets replaced by `[secret-1]`, `[secret-2]`, …, in order of place.

    Ids that look random become `[id-1]`, …; signatures and redacted thinking `[removed]`. With `random` so
    does, as `[random-1]`, every string that looks random and that nothing explains; without, it is a doubt.
    """
    redactor = _Redactor(random=random)
    rewritten(conversation, redactor.learn)
    clean = rewritten(conversation, redactor.replace)
    return Redacted(
        conversation=clean,
        secrets=len(redactor.secrets),
        doubts=tuple(redactor.doubts),
        values=tuple(value for value in redactor.secrets if len(value) >= _ANYWHERE),
    )


def survivor(text: str, values: Sequence[str]) -> str:
    """Return which kind of secret `text`, written from a redacted conversation, still holds; "" for none.

    `values` are those of `Redacted`.
    """
    for view in views(text):
        if any(value in view.text for value in values):
            return "a secret"
    return next((found.kind for found in find_secrets(text)), "")


class _Redactor:
    """Learns the secrets of a whole conversation first, so that the second walk finds them everywhere."""

    def __init__(self, *, random: bool) -> None:
        self.secrets: dict[str, str] = {}
        self.doubts: list[Doubt] = []
        self._random = random
        self._ids: dict[str, str] = {}
        self._strings: dict[str, str] = {}
        self._known: re.Pattern[str] | None = None
        self._texts: list[str] = []

    def learn(self, text: str, kind: str, _place: str) -> str:
        """Take note of the secrets in one string, which stays as it is."""
        for found in secrets_in_data(text) if kind == DATA else find_secrets(text):
            self._secret(found.value)
        if kind == TEXT and len(text) > _TELLING:
            self._texts.append(text)
        return text

    def replace(self, text: str, kind: str, place: str) -> str:
        """Return one string without the secrets that were learned."""
        if kind == OPAQUE:
            return REMOVED
        if kind == DATA:
            return self._in_data(text, place)
        clean = self._without_secrets(text, kind)
        if kind == ID:
            return self._id(text, clean)
        return self._without_random(clean, kind, place)

    def _secret(self, value: str) -> str:
        """Return what stands for a secret: `sk-1_` at the end of emphasis is `sk-1`, with an underscore."""
        return _named(self.secrets, value.rstrip(_MARKS) or value, "secret")

    def _without_secrets(self, text: str, kind: str) -> str:
        found = without_overlaps([*find_secrets(text), *self._known_in(text)])
        return _spliced(text, kind, [(each.start, each.end, self._secret(each.value)) for each in found])

    def _known_in(self, text: str) -> list[Found]:
        """Find the learned values wherever they stand, and the beginning of one where `text` was cut."""
        if not self.secrets:
            return []
        if self._known is None:
            whole = sorted((v for v in self.secrets if len(v) >= _ANYWHERE), key=len, reverse=True)
            self._known = re.compile("|".join(map(re.escape, whole)) or r"(?!)")
        found: list[Found] = []
        for view in views(text):
            places = [
                (match.start(), match.end(), match.group()) for match in self._known.finditer(view.text)
            ]
            places += self._cut_off(view.text)
            found += [Found("", *view.span(start, end), value) for start, end, value in places]
        return found

    def _cut_off(self, text: str) -> list[tuple[int, int, str]]:
        """Find a value's beginning at the end of `text`, as in a title that was shortened."""
        found = []
        for mark in _CUT:
            body = text.removesuffix(mark) if text.endswith(mark) else ""
            for value in self.secrets:
                start = _beginning(body, value)
                if start < len(body):
                    found.append((start, len(body), value))
        return found

    def _without_random(self, text: str, kind: str, place: str) -> str:
        runs = self._doubted(text)
        if self._random:
            names = [(start, end, _named(self._strings, run, "random")) for start, end, run in runs]
            return _spliced(text, kind, names)
        for _, _, run in runs:
            why = f"a string of {len(run)} characters looks random, and no known pattern explains it"
            self.doubts.append(Doubt(place=place, why=why))
        return text

    def _doubted(self, text: str) -> list[tuple[int, int, str]]:
        """Return what looks random; what a title's end cut off, only if the whole text leaves it in doubt."""
        runs = find_random(text)
        body = text.removesuffix(_ELLIPSIS)
        if not runs or body == text or runs[-1][1] < len(body):
            return runs
        start = runs[-1][0]
        for line in (" ".join(each[:_WHOLE].split()) for each in self._texts):
            if line.startswith(body) and line != text:
                in_doubt = any(left <= start < right for left, right, _ in find_random(line))
                return runs if in_doubt else runs[:-1]
        return runs

    def _id(self, text: str, clean: str) -> str:
        """Return what stands for an id, `clean` being that without its secrets: a rest of it says nothing."""
        if PLACEHOLDER.fullmatch(clean) or is_canonical_uuid(text):
            return clean
        kept = clean == text and (PLACEHOLDER.search(text) or not (looks_random(text) or find_random(text)))
        return text if kept else _named(self._ids, text, "id")

    def _in_data(self, text: str, place: str) -> str:
        """Redact a part that holds text; of other data say when there is a secret in it."""
        decoded = text_in(text)
        if decoded is not None:
            clean = self._without_random(self._without_secrets(decoded, TEXT), TEXT, place)
            return text if clean == decoded else data_of(clean, like=text)
        raw = bytes_in(text)
        if raw is None:
            return self._without_random(self._without_secrets(text, TEXT), TEXT, place)
        raw += raw.replace(b"\0", b"")  # text of two bytes a character
        if any(value.encode() in raw for value in self.secrets if len(value) >= _ANYWHERE):
            self.doubts.append(Doubt(place=place, why="the file holds what looks like a secret"))
        return text


def _beginning(text: str, value: str) -> int:
    """Return where the end of `text` that is a telling beginning of `value` starts; its length if none."""
    if len(value) <= _TELLING:
        return len(text)
    start = text.find(value[:_TELLING], max(0, len(text) - len(value)))
    while start >= 0:
        if value.startswith(text[start:]):
            return start
        start = text.find(value[:_TELLING], start + 1)
    return len(text)


def _named(names: dict[str, str], value: str, word: str) -> str:
    return names.setdefault(value, f"[{word}-{len(names) + 1}]")


def _spliced(text: str, kind: str, replacements: list[tuple[int, int, str]]) -> str:
    """Return `text` with spans, in order and apart, replaced. In JSON a number becomes a string."""
    if kind == JSON and any(_NUMBER.fullmatch(text[start:stop]) for start, stop, _ in replacements):
        replacements = [*_quoted(text, replacements)]
    pieces, end = [], 0
    for start, stop, instead in replacements:
        pieces += [text[end:start], instead]
        end = stop
    return "".join([*pieces, text[end:]])


def _quoted(text: str, replacements: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    outside = _STRING.sub(lambda string: " " * len(string.group()), text)
    for start, stop, instead in replacements:
        yield start, stop, f'"{instead}"' if _NUMBER.fullmatch(outside[start:stop]) else instead
