"""The conversations of a data folder as one looks at them: listed, searched, found by what a person types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from golem_cli.store.failures import store_errors
from golem_cli.store.summary import Listing, Summary, as_seen

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.store.index.catalogue import Catalogue, Found
    from golem_cli.store.index.query import Query


class Shelf:
    """What lists and searches need of a store: no conversation is opened, and none of its writing is loaded.

    `root/conversations` holds the files, `root/locks` the locks; `root/index.sqlite3` is a cache.
    """

    def __init__(self, root: Path) -> None:
        self.conversations = root / "conversations"
        self._locks = root / "locks"
        self._index = root / "index.sqlite3"

    def listing(self, limit: int | None = None) -> Listing:
        """Return the conversations changed last, all or `limit`, and the ids of all, seen in one look."""
        catalogue = self._catalogue()
        return Listing([as_seen(each, self._is_held) for each in catalogue.summaries(limit)], catalogue.ids())

    def summaries(self, limit: int | None = None) -> list[Summary]:
        """Sum up conversations, the one changed last first: all, or `limit`. A damaged file is listed so."""
        return self.listing(limit).shown

    def ids(self) -> list[str]:
        """Return the ids of all conversations, the one begun last first."""
        from golem_cli.store.index.stamps import ids_in

        with store_errors("list", self.conversations):
            return sorted(ids_in(self.conversations), reverse=True)

    def search(self, query: Query, limit: int | None = None) -> Found:
        """Return the conversations that fit `query`, the one changed last first: all, or `limit`."""
        found = self._catalogue().search(query, limit)
        hits = [
            msgspec.structs.replace(hit, summary=as_seen(hit.summary, self._is_held)) for hit in found.hits
        ]
        return msgspec.structs.replace(found, hits=hits)

    def resolve(self, reference: str) -> str:
        """Return the id for a whole id, an unambiguous beginning of one, or an exact title.

        Raises `ConversationNotFound` or `AmbiguousReference`.
        """
        from golem_cli.store.references import resolve_reference

        return resolve_reference(reference, self.ids(), self.summaries)

    def newest(self) -> str | None:
        """Return the id of the conversation changed last that can be read; None when there is none."""
        found, _ = self.newest_readable()
        return found.conversation_id if found else None

    def newest_readable(self) -> tuple[Summary | None, list[Summary]]:
        """Return the conversation changed last that can be read, and the damaged ones changed after it."""
        return self._catalogue().newest()

    def copy_of(self, path: Path) -> str | None:
        """Return the id of the newest copy of the outside file at `path`; None when there is none."""
        from golem_cli.store.imports import spelled

        wanted = spelled(path)
        return next((each.conversation_id for each in self.summaries() if each.imported_from == wanted), None)

    def _catalogue(self) -> Catalogue:
        from golem_cli.store.index.catalogue import Catalogue

        with store_errors("list", self.conversations):
            return Catalogue(self.conversations, self._index)

    def _is_held(self, conversation_id: str) -> bool:
        from golem_cli.store.lock import is_held

        return is_held(self._locks, conversation_id)
