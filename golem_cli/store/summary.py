"""One line about each conversation: what lists, pickers and name look-ups need, cheaper than the whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.conversation import FAILED, RUNNING, STOPPED_SHORT
from golem_cli.core.errors import ConversationNotFound, GolemError
from golem_cli.core.recovery import settle
from golem_cli.store.atomic import read_regular
from golem_cli.store.failures import reason_of
from golem_cli.store.imports import IMPORTED_FROM, path_in
from golem_cli.store.loading import load
from golem_cli.store.times import rfc3339
from golem_cli.store.writer import journal_path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from golem_cli.core.conversation import Conversation

DAMAGED = "damaged"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in short.

    `message_count` counts what a reader sees: with what a stopped last run left behind. `status` is its last
    run's, "" before the first run, `damaged` for a file that cannot be read; `problem`
    then says why. `imported_from` is the outside file that it is a copy of, "" for most.
    """

    conversation_id: str
    title: str = ""
    created_at: str = ""
    updated_at: str = ""
    message_count: int = 0
    model: str = ""
    status: str = ""
    path: Path
    forked_from: str = ""
    imported_from: str = ""
    problem: str = ""


class _Run(msgspec.Struct, frozen=True):
    status: str = RUNNING


class _Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields that a summary needs; messages are counted, not decoded."""

    golem: int
    title: str | None = ""
    created_at: str | None = ""
    updated_at: str | None = ""
    model: str | None = ""
    forked_from: str | None = ""
    imported_from: msgspec.Raw = msgspec.Raw(b"")
    messages: list[msgspec.Raw] = []
    runs: list[_Run] = []


def summarize(path: Path, *, is_held: Callable[[], bool]) -> Summary | None:
    """Sum up the conversation file at `path`; None when it is gone. Damage is told, never raised.

    `is_held` is asked only when the last run seems to be running: without a writer it has crashed.
    """
    try:
        summary = _summarize(path)
    except ConversationNotFound:
        return None
    except GolemError as error:
        return _damaged(path, str(error))
    except OSError as error:
        return _damaged(path, f"cannot read {path}: {reason_of(error)}")
    if summary.status == RUNNING and not is_held():
        return msgspec.structs.replace(summary, status=FAILED)
    return summary


def _summarize(path: Path) -> Summary:
    if not journal_path_of(path).exists():
        try:
            header = msgspec.json.decode(read_regular(path), type=_Header)
            if not (header.runs and header.runs[-1].status in STOPPED_SHORT):
                return _from_header(path, header)
        except (msgspec.MsgspecError, UnicodeError, FileNotFoundError):
            pass  # damage, or what the fast library cannot read: the codec decides
    return _from_conversation(path, load(path, journal_path_of(path)).conversation)


def _from_header(path: Path, header: _Header) -> Summary:
    return Summary(
        conversation_id=path.stem,
        title=header.title or "",
        created_at=header.created_at or "",
        updated_at=header.updated_at or "",
        message_count=len(header.messages),
        model=header.model or "",
        status=header.runs[-1].status if header.runs else "",
        path=path,
        forked_from=header.forked_from or "",
        imported_from=path_in(bytes(header.imported_from).decode()),
    )


def _from_conversation(path: Path, conversation: Conversation) -> Summary:
    return Summary(
        conversation_id=path.stem,
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        message_count=len(settle(conversation).messages),
        model=conversation.model,
        status=conversation.runs[-1].status if conversation.runs else "",
        path=path,
        forked_from=conversation.forked_from,
        imported_from=path_in(conversation.extra.get(IMPORTED_FROM, "")),
    )


def _damaged(path: Path, problem: str) -> Summary:
    try:
        changed = rfc3339(datetime.fromtimestamp(path.lstat().st_mtime, UTC))
    except OSError:
        changed = ""
    return Summary(conversation_id=path.stem, updated_at=changed, status=DAMAGED, path=path, problem=problem)
