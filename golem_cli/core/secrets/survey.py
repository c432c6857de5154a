"""Which kinds of secrets stand in a record, and where the first of each kind does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.secrets.data import secrets_in_data
from golem_cli.core.secrets.find import find_secrets
from golem_cli.core.secrets.places import DATA, OPAQUE, rewritten

if TYPE_CHECKING:
    import msgspec


def kinds_in(record: msgspec.Struct) -> dict[str, str]:
    """Return kind → place, both in words, for every kind of secret in `record`.

    >>> from golem_cli.core.message import Message
    >>> kinds_in(Message(role="user", content="gsk_a1b2c3d4e5f6g7h8i9j0k1"))
    {'a Groq key': 'text'}
    """
    kinds: dict[str, str] = {}

    def note(text: str, kind: str, place: str) -> str:
        if kind != OPAQUE:
            for found in secrets_in_data(text) if kind == DATA else find_secrets(text):
                kinds.setdefault(found.kind, place)
        return text

    rewritten(record, note)
    return kinds
