"""Which outside file a conversation is a copy of: the additive field `importedFrom` of the conversation.

The field is `{"path": …, "revision": …}`. It travels with the conversation and goes with it: there is no
register that could disagree with the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from golem_cli.store.atomic import revision_of

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.core.conversation import Conversation

IMPORTED_FROM: Final = "importedFrom"


def note_import(conversation: Conversation, path: Path, data: bytes) -> Conversation:
    """Return the conversation with a note that it copies the file at `path`, whose bytes were `data`."""
    import json

    note = json.dumps({"path": spelled(path), "revision": revision_of(data)})
    return msgspec.structs.replace(conversation, extra={**conversation.extra, IMPORTED_FROM: note})


def is_copy_of(conversation: Conversation, path: Path, data: bytes) -> bool:
    """Whether the conversation was copied from `path` when it held exactly `data`."""
    note = _note(conversation.extra.get(IMPORTED_FROM, ""))
    return note.get("path") == spelled(path) and note.get("revision") == revision_of(data)


def path_in(note: str) -> str:
    """Return the path that the field's JSON text names, "" when there is none."""
    path = _note(note).get("path", "")
    return path if isinstance(path, str) else ""


def spelled(path: Path) -> str:
    """Return how notes spell `path`: absolute, symbolic links resolved."""
    return str(path.resolve())


def _note(text: str) -> dict[str, object]:
    import json

    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
