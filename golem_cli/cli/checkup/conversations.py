"""The store: every conversation, its journal and its lock; leftovers; the trash; the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from golem_cli.cli.checkup.advice import looked_at, moved_away, pasted, way_to_file
from golem_cli.cli.checkup.check import Check, Scope, guarded, note, ok, problem
from golem_cli.cli.checkup.folders import file_permissions
from golem_cli.core.conversation import FORMAT_VERSION
from golem_cli.core.errors import StoreError
from golem_cli.render.words import counted
from golem_cli.store.inspection import (
    Inspected,
    inspect_conversations,
    kept_aside,
    lock_obstacles,
    stale_notes,
    strangers,
)
from golem_cli.store.obstacles import is_there, obstacle_at

if TYPE_CHECKING:
    from golem_cli.store.store import Store


def conversations(scope: Scope) -> Iterator[Check]:
    """Check every file of the store."""
    folder, locks = scope.paths.data / "conversations", scope.paths.data / "locks"
    yield from guarded("conversations", _kept(folder, locks))
    yield from guarded("lock", _locks(locks))


def _kept(folder: Path, locks: Path) -> Iterator[Check]:
    whole = total = 0
    for each in inspect_conversations(folder, locks):
        total += 1
        whole += not each.problem
        yield from _about(each)
    if whole or not total:
        yield ok("conversations", f"{counted(whole, 'conversation')} can be read")
    if kept := kept_aside(folder):
        text = f"{counted(len(kept), 'file')} in {folder}, kept by -w, --undo, --salvage or a recovery"
        yield ok("kept", text)
    for path in strangers(folder):
        text = f"{path} is no conversation: a leftover, or put there by somebody"
        yield note("leftover", text, _way_with_stranger(path))


def _way_with_stranger(path: Path) -> str:
    """Only what golem itself left half written may go; of all else nobody knows that it is nothing."""
    if obstacle_at(path):
        return f"when nothing writes to it: {moved_away(path)}"
    return f"when nothing writes to it: {pasted('rm', path)}" if path.suffix == ".tmp" else looked_at(path)


def _locks(locks: Path) -> Iterator[Check]:
    for path in lock_obstacles(locks):
        text = f"{path} is {obstacle_at(path)}, and golem needs a file there to keep writers apart"
        yield problem("lock", text, moved_away(path))
    if stale := sum(1 for _ in stale_notes(locks)):
        name = "names a process that is" if stale == 1 else "name processes that are"
        yield note("lock", f"{counted(stale, 'note')} in {locks} {name} gone; such notes do no harm")


def _about(each: Inspected) -> Iterator[Check]:
    """Yield what there is to say of one conversation; nothing when all is well."""
    identity = each.conversation_id
    if each.problem:
        yield _unreadable(each)
    if each.damaged:
        text = f"{identity}: {counted(each.damaged, 'journal line')} cannot be used"
        yield problem("journal", text, pasted("golem", "show", identity))
    if each.orphaned:
        has = counted(each.messages, "message")
        text = f"{identity} lost its file: what its journal has is there ({has}), what came before is not"
        yield note("journal", text, pasted("golem", "show", identity))
    if each.foreign:
        path = each.paths[-1].with_suffix(".journal")
        text = f"{path} is not read: it is the journal of another conversation, {each.foreign}"
        yield problem("journal", text, moved_away(path))
    if each.torn:
        yield note("journal", f"{identity}: the last step was not completed on disk, and does not count")
    if each.crashed:
        text = f"{identity}: golem ended before its last run did"
        yield note("run", text, pasted("golem", "resume", identity))
    if each.changes:
        text = f"{identity}: repair would change {counted(each.changes, 'message')}, as requests do"
        yield note("history", text, pasted("golem", "normalize", identity))
    if each.version > FORMAT_VERSION:
        yield note("format", f"{identity} was written by a newer golem: it is read, not written")
    if each.holder:
        yield note("lock", f"{identity} is open in {each.holder}")
    for path in each.paths:
        yield from file_permissions(path)


def _unreadable(each: Inspected) -> Check:
    """Say what helps: what a cut left can be salvaged; what says nothing, or is no file, can only go."""
    identity = each.conversation_id
    text = f"{identity} cannot be read: {each.problem}"
    file = each.paths[-1]  # the journal comes before it
    delete = pasted("golem", "delete", identity)
    if blocked := each.obstacles or each.closed:
        path = blocked[0]
        kind = obstacle_at(path)
        why = f"{path} is {kind}, and golem needs a file there" if kind else f"golem may not read {path}"
        way = delete if each.obstacles == each.paths else way_to_file(path, "600", follow=False)
        return problem("conversation", f"{identity} cannot be read: {why}", way)
    if each.cut:
        return problem("conversation", text, pasted("golem", "normalize", "--salvage", "-w", identity))
    if each.empty:
        text = f"{identity} cannot be read: {file} is empty; the trash is the place for it"
        return problem("conversation", text, delete)
    if each.wrong:
        return problem("conversation", f"{text}; an editor can mend it there", pasted("ls", "-l", file))
    if file.suffix == ".journal":
        return problem("conversation", f"{text}; the trash is the place for it", delete)
    return problem("conversation", text, pasted("ls", "-l", file))


def trash(scope: Scope) -> Iterator[Check]:
    """Check what was deleted."""
    from golem_cli.store.outline import summarize
    from golem_cli.store.store import Store
    from golem_cli.store.summary import DAMAGED
    from golem_cli.store.trash import conversation_of

    store = Store(scope.paths.data)
    names, kept = store.deleted.names(), _ids(store)
    yield ok("trash", f"{counted(len(names), 'conversation')} in the trash")
    for name in sorted(names):
        if conversation_of(name) in kept:
            yield note("trash", f"{name} in the trash is kept as a conversation, too")
        elif conversation_of(name) != name:
            yield note("trash", f"{name} in the trash is a further copy of {conversation_of(name)}")
        summary = summarize(store.trash / f"{name}.json")
        if summary is not None and summary.status == DAMAGED:
            yield note("trash", f"{name} in the trash cannot be read: {summary.problem}")


def _ids(store: Store) -> set[str]:
    """Return the ids of the conversations; none where they cannot be listed, which has been said."""
    try:
        return set(store.ids())
    except StoreError:
        return set()


def index(scope: Scope) -> Iterator[Check]:
    """Check the index, a cache that is rebuilt when it is missing or damaged."""
    from golem_cli.store.index.database import damage_to, obstacle_to

    file = scope.paths.data / "index.sqlite3"
    found = obstacle_to(file)
    if found is not None:
        path, kind = found
        text = f"{path} is {kind}, so there is no index: golem reads every file each time"
        yield note("index", text, moved_away(path))
    elif not is_there(file):
        yield ok("index", "there is no index yet; golem list makes one of the conversations there are")
    elif way := way_to_file(file, "600"):
        text = f"golem may not read {file}, so there is no index: golem reads every file each time"
        yield note("index", text, way)
    elif damage := damage_to(file):
        text = f"{file} is damaged ({damage}); it is only a cache: without it golem makes a new one"
        yield note("index", text, pasted("rm", file))
    else:
        yield ok("index", f"{file} is sound")
