"""What a person types for a conversation → its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import AmbiguousReference, ConversationNotFound
from golem_cli.core.identity import is_canonical_uuid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.store.summary import Summary

_NEAREST = 3


def resolve_reference(reference: str, ids: Sequence[str], summaries: Callable[[], Sequence[Summary]]) -> str:
    """Return the id that `reference` means: a whole id, a beginning that only one id has, or an exact title.

    Case does not matter. An id goes before a title; `summaries` is asked only when no id fits.

    Raises `ConversationNotFound` with what is near, or `AmbiguousReference` with what matches.
    """
    wanted = reference.strip()
    by_id = _by_id(wanted.lower(), ids)
    if len(by_id) == 1:
        return by_id[0]
    if by_id:
        raise _ambiguous(reference, by_id)
    known = summaries()
    by_title = [
        each.conversation_id for each in known if wanted and each.title.casefold() == wanted.casefold()
    ]
    if len(by_title) == 1:
        return by_title[0]
    if by_title:
        raise _ambiguous(reference, by_title)
    raise _not_found(reference, known)


def _by_id(prefix: str, ids: Sequence[str]) -> list[str]:
    if prefix in ids:
        return [prefix]
    if is_canonical_uuid(prefix):
        return []
    return [each for each in ids if prefix and each.startswith(prefix)]


def _ambiguous(reference: str, matches: Sequence[str]) -> AmbiguousReference:
    from golem_cli.core.quote import quoted

    shown = ", ".join(matches[:5]) + (f" and {len(matches) - 5} more" if len(matches) > 5 else "")
    return AmbiguousReference(
        f"{quoted(reference)} means {len(matches)} conversations: {shown}; give more of the id",
        matches=tuple(matches),
    )


def _not_found(reference: str, known: Sequence[Summary]) -> ConversationNotFound:
    from difflib import get_close_matches

    from golem_cli.core.quote import quoted

    names = {each.title.casefold(): each.title for each in reversed(known) if each.title}
    names |= {each.conversation_id: each.conversation_id for each in known}
    near = get_close_matches(reference.strip().casefold()[:200], names, n=_NEAREST)
    nearest = tuple(names[each] for each in near)
    hint = f"; did you mean {quoted(nearest[0])}?" if nearest else ""
    return ConversationNotFound(f"there is no conversation {quoted(reference)}{hint}", nearest=nearest)
