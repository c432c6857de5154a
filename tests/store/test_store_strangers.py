"""Two writers at once, where no lock keeps them apart: whatever either was told is saved is there."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import ConversationChanged, TranscriptError
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from golem_cli.store.writer import ConversationWriter
from tests.support.left_journal import journal_of_another


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def said(content: str) -> Message:
    return Message(role="user", content=content)


def contents(store: Store, writer: ConversationWriter) -> list[str]:
    return [message.content for message in store.read(writer.path.stem).messages]


def begun(store: Store) -> ConversationWriter:
    writer = store.create()
    writer.save()
    return writer


def second_writer(store: Store, tmp_path: Path, first: ConversationWriter) -> ConversationWriter:
    """One more, although the first holds the lock: somebody cleaned up the folder of locks."""
    shutil.rmtree(tmp_path / "locks")
    return store.open(first.path.stem)


def test_a_writer_whose_journal_was_folded_by_another_is_told(store: Store, tmp_path: Path) -> None:
    first = begun(store)
    first.add_message(said("first"))
    second = second_writer(store, tmp_path, first)
    second.add_message(said("second"))
    for _ in range(2):
        with pytest.raises(ConversationChanged):
            first.add_message(said("never told that it is saved"))
    assert [message.content for message in first.conversation.messages] == ["first"]
    with pytest.raises(ConversationChanged):
        first.close()
    second.close()
    assert contents(store, first) == ["first", "second"]


def test_a_writer_that_comes_to_anothers_journal_is_told(store: Store, tmp_path: Path) -> None:
    first = begun(store)
    second = second_writer(store, tmp_path, first)
    first.add_message(said("first"))
    with pytest.raises(ConversationChanged):
        second.add_message(said("second"))
    first.add_message(said("first again"))
    with pytest.raises(ConversationChanged):
        second.close()
    first.close()
    assert contents(store, first) == ["first", "first again"]


@pytest.mark.parametrize("end", ["close", "save", "replace"])
def test_no_fold_drops_what_another_has_added_to_the_journal(store: Store, end: str) -> None:
    """The other's entry comes by itself, as from a process on another machine."""
    first, other = begun(store), begun(store)
    first.add_message(said("first"))
    other.add_message(said("other"))
    line = other.path.with_suffix(".journal").read_bytes().splitlines(keepends=True)[-1]
    with first.path.with_suffix(".journal").open("ab") as journal:
        journal.write(line)
    with pytest.raises(ConversationChanged):
        first.replace(first.conversation) if end == "replace" else getattr(first, end)()
    if end != "close":
        with pytest.raises(ConversationChanged):
            first.close()
    with store.open(first.path.stem) as again:
        assert [message.content for message in again.conversation.messages] == ["first", "other"]
    other.close()


def test_an_update_of_another_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    first = begun(store)
    second = second_writer(store, tmp_path, first)
    second.update(title="by the second")
    second.close()
    first.begin_run(RunRecord(run_id="r", prompt="by the first"))
    with pytest.raises(ConversationChanged):
        first.close()
    with store.open(first.path.stem) as again:
        assert [run.prompt for run in again.conversation.runs] == ["by the first"]


def test_a_journal_that_was_moved_away_is_written_anew(store: Store, tmp_path: Path) -> None:
    """It is still there under another name, and what is added to it would not be found."""
    writer = begun(store)
    writer.add_message(said("1"))
    store.conversations.rename(tmp_path / "elsewhere")
    writer.add_message(said("2"))
    assert contents(store, writer) == ["1", "2"]
    writer.close()
    assert contents(store, writer) == ["1", "2"]


@pytest.mark.parametrize("cut", [0, 1], ids=["whole", "torn"])
def test_the_journal_of_another_conversation_is_not_read_and_set_aside(store: Store, cut: int) -> None:
    with store.create(Conversation(messages=(said("ours"),))) as writer:
        writer.save()
    path = writer.path
    another, foreign = journal_of_another(store, said("theirs"))
    foreign = foreign[: len(foreign) - cut]
    path.with_suffix(".journal").write_bytes(foreign)
    assert contents(store, writer) == ["ours"]
    assert store.summaries()[0].message_count == 1
    told = f"beside it lies the journal of another conversation, {another}"
    assert store.look(path.stem).losses == told
    with store.open(path.stem) as writer:
        assert writer.losses == f"{told}; the journal is kept as {path.with_suffix('.journal.foreign')}"
        writer.add_message(said("more"))
    assert contents(store, writer) == ["ours", "more"]
    assert store.look(path.stem).losses == ""
    assert not path.with_suffix(".journal").exists()
    assert path.with_suffix(".journal.foreign").read_bytes() == foreign


def test_a_foreign_journal_whose_beginning_is_damaged_is_known_by_its_messages(store: Store) -> None:
    with store.create(Conversation(messages=(said("ours"),))) as writer:
        writer.save()
    stamped = Message(role="user", content="theirs", conversation_id="another")
    mark, about, message = journal_of_another(store, stamped)[1].splitlines(keepends=True)
    assert b" about " in about
    writer.path.with_suffix(".journal").write_bytes(mark + about.replace(b"about", b"about!") + message)
    assert contents(store, writer) == ["ours"]


def test_nothing_of_a_foreign_journal_is_salvaged_for_a_file_of_which_nothing_is_left(store: Store) -> None:
    with store.create(Conversation(messages=(said("ours"),))) as writer:
        writer.save()
    _, foreign = journal_of_another(store, said("theirs"))
    writer.path.write_bytes(b"")
    writer.path.with_suffix(".journal").write_bytes(foreign)
    for salvage in (False, True):
        with pytest.raises(TranscriptError, match="its text is gone; golem delete"):
            store.open(writer.path.stem, salvage=salvage)
    assert writer.path.with_suffix(".journal").read_bytes() == foreign


def test_a_conversation_that_was_copied_with_its_journal_is_read_with_it(store: Store) -> None:
    """Under another name, and with an edit by hand: file and journal tell of the same conversation."""
    with store.create(Conversation(messages=(said("first"),))) as writer:
        writer.save()
        writer.add_message(said("second"))
        copy = store.path_of("01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c11")
        copy.write_bytes(writer.path.read_bytes().replace(b"first", b"edited"))
        shutil.copy(writer.path.with_suffix(".journal"), copy.with_suffix(".journal"))
    assert [message.content for message in store.read(copy.stem).messages] == ["edited", "second"]


@pytest.mark.skipif(os.name == "nt", reason="flock is POSIX's")
@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_is_written(
    store: Store, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Stands in for such a file system, which a test cannot mount: the call fails as it does there."""

    def flock(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", flock)
    writer = begun(store)
    writer.add_message(said("1"))
    writer.close()
    with store.open(writer.path.stem) as again:
        again.add_message(said("2"))
        assert store.summaries()[0].message_count == 2
    assert contents(store, writer) == ["1", "2"]
