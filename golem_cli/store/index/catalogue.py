"""What a folder of conversations holds: from the index what it knows, from the files what it does not."""

from __future__ import annotations

import sys
from contextlib import suppress
from heapq import merge
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from golem_cli.core.errors import ConversationNotFound, GolemError
from golem_cli.store.index.stamps import is_behind, rightly_known, stamps_in
from golem_cli.store.summary import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from golem_cli.store.index.database import Database
    from golem_cli.store.index.query import Match, Query
    from golem_cli.store.summary import Summary


_PAGE: Final = 50
"""Candidates that are fetched at first."""

Answer = TypeVar("Answer")

if TYPE_CHECKING:
    Question = Callable[[Database, Collection[str]], list[Answer]]
    """What is put to the index, with the ids that it is right about."""


class _Behind(Exception):  # noqa: N818 (reads as what happened)
    """The index does not know all that it could."""


class Hit(msgspec.Struct, frozen=True):
    """A conversation that fits a query, and where."""

    summary: Summary
    match: Match


class Found(msgspec.Struct, frozen=True):
    """The conversations that fit, the one changed last first, and those that could not be searched."""

    hits: list[Hit]
    damaged: list[Summary]


class Catalogue:
    """The conversations in `folder` as they are at this moment, with `index` as a cache of what they say.

    Without an index, whatever the reason, the same answers come from the files, and take longer.
    """

    def __init__(self, folder: Path, index: Path) -> None:
        """Look at the folder. Raises `OSError`."""
        self._folder = folder
        self._index = index
        self._stamps = stamps_in(folder)

    def ids(self) -> list[str]:
        """Return the ids of all conversations, the one begun last first."""
        return list(reversed(self._stamps))

    def summaries(self, limit: int | None = None) -> list[Summary]:
        """Sum up the conversations changed last, newest first; all without a limit. Damage is told."""
        limit = _countable(limit)
        known, unknown = self._ask(lambda database, right: _newest(database, right, limit))
        return list(islice(merge(known, self._read(unknown), key=_age, reverse=True), limit))

    def newest(self) -> tuple[Summary | None, list[Summary]]:
        """Return the conversation changed last that can be read, and the damaged ones changed after it."""
        known, unknown = self._ask(lambda database, right: _newest(database, right, 1))
        found: list[Summary] = sorted((*known, *self._read(unknown)), key=_age, reverse=True)
        skipped = list(takewhile(lambda each: each.status == DAMAGED, found))
        return next(iter(found[len(skipped) :]), None), skipped

    def search(self, query: Query, limit: int | None = None) -> Found:
        """Return the conversations that fit, newest first; none for a query without terms."""
        limit = _countable(limit)
        if not query.terms:
            return Found([], [])
        damaged: list[Summary] = []

        def hits(candidates: Iterable[Summary]) -> list[Hit]:
            return list(islice(_hits(query, candidates, damaged), limit))

        known, unknown = self._ask(
            lambda database, right: hits(each for each in _having(database, query) if _id(each) in right)
        )
        read = self._read(unknown)
        damaged += [each for each in read if each.status == DAMAGED]
        others = hits(each for each in read if each.status != DAMAGED)
        by_age = merge(known, others, key=lambda hit: _age(hit.summary), reverse=True)
        return Found(list(islice(by_age, limit)), damaged)

    def forget_words(self) -> None:
        """Remove the index, if nobody works with it now; it is made again when it is needed."""
        from golem_cli.store.index.database import IndexUnusable, remove

        if self._index.exists():
            with suppress(IndexUnusable):
                remove(self._index)

    def _ask(self, question: Question[Answer]) -> tuple[list[Answer], list[str]]:
        """Return what the index answers, and the ids that it knows nothing of."""
        if not self._stamps:
            return [], []
        from golem_cli.store.index.database import IndexDamaged, IndexUnusable, remove

        try:
            try:
                return self._asked(question)
            except IndexDamaged:
                remove(self._index)
                return self._asked(question)
        except IndexUnusable:
            return [], list(self._stamps)

    def _asked(self, question: Question[Answer]) -> tuple[list[Answer], list[str]]:
        from golem_cli.store.index.database import opened

        with opened(self._index, self._folder) as database:
            try:
                return self._answer(database, question, up_to_date=True)
            except _Behind:
                from golem_cli.store.index.refresh import refresh

                refresh(database, self._stamps, self._folder)
                return self._answer(database, question, up_to_date=False)

    def _answer(
        self, database: Database, question: Question[Answer], *, up_to_date: bool
    ) -> tuple[list[Answer], list[str]]:
        """Let the index answer. With `up_to_date` raise `_Behind` where it could know more than it does."""
        with database.snapshot():  # else another process might forget what we have just seen or kept
            right = self._rightly_known(database, up_to_date=up_to_date)
            answer = question(database, right)
        return answer, [each for each in self._stamps if each not in right]

    def _rightly_known(self, database: Database, *, up_to_date: bool) -> Collection[str]:
        if database.knows_just(self._stamps):
            return self._stamps.keys()
        known = database.stamps()
        right = rightly_known(known, self._stamps)
        if up_to_date and is_behind(known, right, self._stamps):
            raise _Behind
        return right

    def _read(self, ids: Sequence[str]) -> list[Summary]:
        """Sum up conversations from their files, newest first; without those that are gone by now."""
        if not ids:
            return []
        from golem_cli.store.outline import summarize

        read = (summarize(self._folder / f"{each}.json") for each in ids)
        return sorted((each for each in read if each is not None), key=_age, reverse=True)


def _countable(limit: int | None) -> int | None:
    """No limit for one that is too large to count to."""
    return None if limit is None or limit > sys.maxsize else limit


def _age(summary: Summary) -> tuple[str, str]:
    return summary.updated_at, summary.conversation_id


def _id(summary: Summary) -> str:
    return summary.conversation_id


def _newest(database: Database, right: Collection[str], limit: int | None) -> list[Summary]:
    """Return the newest that the index is right about; it may hold others that it could not forget."""
    return list(islice((each for each in database.newest() if _id(each) in right), limit))


def _having(database: Database, query: Query) -> Iterator[Summary]:
    """Yield what may fit, newest first, in pages that grow: who wants few need not wait for all."""
    database.check_words()
    keys, page = query.known_by(), _PAGE
    rows = database.having(keys, page, None)
    while rows:
        yield from rows
        page *= 4
        rows = database.having(keys, page, rows[-1])


def _hits(query: Query, candidates: Iterable[Summary], damaged: list[Summary]) -> Iterator[Hit]:
    """Yield the candidates that fit by what their files say now; add to `damaged` those that turn out so."""
    from golem_cli.store.outline import Outline

    for summary in candidates:
        try:
            outline = Outline(summary.path)
            match = query.find(outline.pieces())
        except ConversationNotFound:
            continue  # it went away while we looked
        except (GolemError, OSError):
            damaged.append(summary)
            continue
        if match is not None:
            yield Hit(outline.summary, match)
