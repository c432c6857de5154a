"""The store: every conversation, its journal and its lock; leftovers; the trash; the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from golem_cli.cli.checkup.check import Check, Scope, note, ok, pasted, problem
from golem_cli.cli.checkup.folders import file_permissions
from golem_cli.core.conversation import FORMAT_VERSION
from golem_cli.core.errors import GolemError
from golem_cli.render.words import counted
from golem_cli.store.inspection import Inspected, inspect_conversations, stale_notes, strangers


def conversations(scope: Scope) -> Iterator[Check]:
    """Check every file of the store."""
    folder, locks = scope.paths.data / "conversations", scope.paths.data / "locks"
    try:
        whole = total = 0
        for each in inspect_conversations(folder, locks):
            total += 1
            whole += not each.problem
            yield from _about(each)
        if whole or not total:
            yield ok("conversations", f"{counted(whole, 'conversation')} can be read")
        for path in strangers(folder):
            text = f"{path} is no conversation: a leftover, or put there by somebody"
            yield note("leftover", text, f"when nothing writes to it: {pasted('rm', path)}")
        for path in stale_notes(locks):
            yield note("lock", f"{path} names a process that is gone; it does no harm")
    except OSError as error:
        yield problem("conversations", f"{error.filename}: {error.strerror}; check who owns it")


def _about(each: Inspected) -> Iterator[Check]:
    """Yield what there is to say of one conversation; nothing when all is well."""
    identity = each.conversation_id
    if each.problem:
        yield _unreadable(each)
    if each.damaged:
        text = f"{identity}: {counted(each.damaged, 'journal line')} cannot be used"
        yield problem("journal", text, pasted("golem", "show", identity))
    if each.orphaned:
        yield note("journal", f"{identity} is in its journal only, whole; opening it writes its file")
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
    """Say what helps: what a cut left can be salvaged; what says nothing can only go."""
    identity = each.conversation_id
    text = f"{identity} cannot be read: {each.problem}"
    if each.cut:
        return problem("conversation", text, pasted("golem", "normalize", "--salvage", "-w", identity))
    if each.empty:
        text = f"{identity} cannot be read: {each.paths[0]} is empty; the trash is the place for it"
        return problem("conversation", text, pasted("golem", "delete", identity))
    return problem("conversation", f"{text}; an editor can mend it there", pasted("ls", "-l", each.paths[0]))


def trash(scope: Scope) -> Iterator[Check]:
    """Check what was deleted."""
    from golem_cli.store.outline import summarize
    from golem_cli.store.store import Store
    from golem_cli.store.summary import DAMAGED
    from golem_cli.store.trash import conversation_of

    store = Store(scope.paths.data)
    try:
        names, kept = store.deleted.names(), set(store.ids())
    except GolemError as error:
        yield problem("trash", str(error))
        return
    yield ok("trash", f"{counted(len(names), 'conversation')} in the trash")
    for name in sorted(names):
        if conversation_of(name) in kept:
            yield note("trash", f"{name} in the trash is kept as a conversation, too")
        elif conversation_of(name) != name:
            yield note("trash", f"{name} in the trash is a further copy of {conversation_of(name)}")
        summary = summarize(store.trash / f"{name}.json")
        if summary is not None and summary.status == DAMAGED:
            yield note("trash", f"{name} in the trash cannot be read: {summary.problem}")


def index(scope: Scope) -> Iterator[Check]:
    """Check the index, a cache that is rebuilt when it is missing or damaged."""
    file = scope.paths.data / "index.sqlite3"
    if not file.exists():
        yield ok("index", "there is no index yet; the first golem list makes one")
        return
    found = _quick_check(file)
    if found:
        yield note("index", f"{file} is damaged ({found}); the next golem list makes a new one", "golem list")
    else:
        yield ok("index", f"{file} is sound")


def _quick_check(file: Path) -> str:
    """Have SQLite look at the file, which it opens as one that nobody changes: it makes no file beside it."""
    try:
        import sqlite3
    except ImportError:
        return ""  # then there is no index in use either
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else str(found)
