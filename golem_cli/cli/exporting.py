"""Exporting a conversation to a new file; its ending says which form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from golem_cli.core.conversation import Conversation


def export(name: str, conversation: Conversation) -> Path:
    """Write `conversation` to a new file called `name` and return its path.

    `.md`, `.html` or `.json`; a file that exists is never replaced (`StoreError`).
    """
    from golem_cli.store.external import write_new
    from golem_cli.store.paths import user_path

    path = user_path(name)
    write_new(path, _rendered(path, conversation))
    return path


def _rendered(path: Path, conversation: Conversation) -> bytes:
    from golem_cli.core.codec import dump_conversation
    from golem_cli.render.export import export_html, export_markdown

    match path.suffix.lower():
        case ".json":
            return dump_conversation(conversation)
        case ".md" | ".markdown":
            return export_markdown(conversation).encode()
        case ".html" | ".htm":
            return export_html(conversation).encode()
    raise ConfigurationError(f"{path.name}: end the name in .md, .html or .json, so that the form is known")
