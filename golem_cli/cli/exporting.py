"""Exporting a conversation: which form, what leaves with it, and the file that is written."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError, GolemError

if TYPE_CHECKING:
    from golem_cli.chat.ports import OnNotice
    from golem_cli.chat.secret_guard import SecretPolicy
    from golem_cli.core.codec import Transcript
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.secrets import Redacted


class Form(StrEnum):
    """What an export can be."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


_ENDINGS: Final = {
    ".md": Form.MARKDOWN,
    ".markdown": Form.MARKDOWN,
    ".html": Form.HTML,
    ".htm": Form.HTML,
    ".json": Form.JSON,
}


class UnsureError(GolemError):
    """An export that shall hold no secret may hold one: nothing was written."""


def export(name: str, conversation: Conversation, *, policy: SecretPolicy, notice: OnNotice) -> Path:
    """Write `conversation` to a new file called `name` and return its path.

    `.md`, `.html` or `.json`; a file that exists is never replaced (`StoreError`). A secret in it is pointed
    out or refused, as `policy` says.
    """
    from golem_cli.chat.secret_guard import check_export
    from golem_cli.core.codec import Transcript
    from golem_cli.store.external import write_new
    from golem_cli.store.paths import user_path

    path = user_path(name)
    form = form_of(name)
    check_export(conversation, policy, notice)
    transcript = Transcript(form="object", messages=list(conversation.messages), conversation=conversation)
    write_new(path, rendered(transcript, form))
    return path


def form_of(name: str) -> Form:
    """Return the form that the ending of a file's name asks for. Raises `ConfigurationError`."""
    form = _ENDINGS.get(Path(name).suffix.lower())
    if form is None:
        raise ConfigurationError(
            f"{Path(name).name}: end the name in .md, .html or .json, so that the form is known"
        )
    return form


def rendered(transcript: Transcript, form: Form) -> bytes:
    """Return the document in UTF-8.

    JSON keeps the transcript's own form; the others show what a reader sees, what a stopped run left
    too.
    """
    from golem_cli.core.codec import dump_transcript
    from golem_cli.core.recovery import settle
    from golem_cli.render.export import export_html, export_markdown

    if form is Form.JSON:
        return dump_transcript(transcript)
    seen = settle(whole(transcript))
    return (export_html(seen) if form is Form.HTML else export_markdown(seen)).encode("utf-8", "replace")


def redacted(transcript: Transcript, *, random: bool) -> tuple[Transcript, Redacted]:
    """Return `transcript` without its secrets, and what was done.

    Raises `UnsureError`, naming the place, for a string that may be a secret; never with what it says.
    """
    from dataclasses import replace

    from golem_cli.core.secrets import redact

    done = redact(whole(transcript), random=random)
    if done.doubts:
        first, others = done.doubts[0], len(done.doubts) - 1
        more = f" (and {others} more)" if others else ""
        raise UnsureError(
            f"not written: {first.place}: {first.why}{more}; look at it, or --redact-random replaces such "
            "strings too"
        )
    clean = done.conversation
    about = clean if transcript.conversation is not None else None
    return replace(transcript, messages=list(clean.messages), conversation=about), done


def refuse_survivors(document: bytes, done: Redacted) -> None:
    """Read a redacted document again before it is written. Raises `UnsureError` when a secret is in it."""
    from golem_cli.core.secrets import survivor

    kind = survivor(document.decode("utf-8"), done.values)
    if kind:
        raise UnsureError(
            f"not written: what looks like {kind} is still in the document; take it out by hand"
        )


def whole(transcript: Transcript) -> Conversation:
    """Return the conversation of a transcript; one that has messages only gets an empty frame."""
    import msgspec

    from golem_cli.core.conversation import Conversation

    frame = transcript.conversation or Conversation()
    return msgspec.structs.replace(frame, messages=tuple(transcript.messages))
