"""What a writer puts on disk, and when."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.errors import (
    ConversationChanged,
    ConversationNotFound,
    NewerFormatError,
    StoreError,
    TranscriptError,
)
from golem_cli.core.identity import is_canonical_uuid, new_id
from golem_cli.core.message import Message
from golem_cli.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Starts at 2026-01-02 03:04:05 UTC and goes on one second with each look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 4, tzinfo=UTC)

    def __call__(self) -> datetime:  # noqa: D102 (the class says it)
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "golem", clock=Clock())


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_new_conversation_is_not_on_disk_before_its_first_run(store: Store, tmp_path: Path) -> None:
    with store.create() as writer:
        writer.update(model="openai:gpt-5-mini", instructions="Be brief.")
        assert not writer.saved
    assert not (tmp_path / "golem").exists()


def test_the_prompt_is_on_disk_when_begin_run_returns(store: Store) -> None:
    """Read with nothing but the file, as after a kill: prompt, title, model, times."""
    writer = store.create()
    writer.update(model="local:")
    writer.begin_run(RunRecord(run_id="r1", prompt="What is\na golem?"))
    found = json.loads(writer.path.read_bytes())
    assert found["golem"] == 1
    assert found["conversationId"] == writer.path.stem
    assert found["title"] == "What is a golem?"
    assert found["model"] == "local:"
    assert found["runs"][0]["prompt"] == "What is\na golem?"
    assert found["runs"][0]["status"] == "running"
    assert found["createdAt"] == "2026-01-02T03:04:05.000Z"
    assert found["updatedAt"] > found["createdAt"]
    writer.close()


def test_each_message_is_readable_by_others_when_add_message_returns(store: Store) -> None:
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r1", prompt="hi"))
    messages = [Message(role="user", content="hi", run_id="r1"), Message(role="assistant", content="ho\n\0")]
    for count, message in enumerate(messages, 1):
        writer.add_message(message)
        assert list(store.read(writer.path.stem).messages) == messages[:count]
    assert json.loads(writer.path.read_bytes())["messages"] == []
    writer.close()


def test_closing_folds_everything_into_one_file(store: Store) -> None:
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r1", prompt="hi"))
    writer.add_message(Message(role="user", content="hi"))
    writer.end_run(RunRecord(run_id="r1", status="done", requests=1))
    value = writer.conversation
    writer.close()
    assert not writer.path.with_suffix(".journal").exists()
    lines = writer.path.read_text().splitlines()
    assert any(line.strip().rstrip(",") == '{"role":"user","content":"hi"}' for line in lines)
    assert store.read(writer.path.stem) == value
    assert [run.status for run in value.runs] == ["done"]


def test_what_was_written_comes_back_equal(store: Store) -> None:
    """Unknown fields, lone surrogates, settings and partial text survive journal and file."""
    writer = store.create(Conversation(title="t", extra={"later": '{"a":1e400}'}))
    writer.begin_run(RunRecord(run_id="r1", prompt="x\ud800\u2028\U0001f600"))
    writer.update(settings=ConversationSettings(trim=0))
    writer.note_partial("r1", "half \ud800")
    writer.add_message(Message(role="tool", content="\0\r\n", extra={"k": '"v"'}))
    value = writer.conversation
    assert store.read(writer.path.stem) == value
    writer.close()
    with store.open(writer.path.stem) as again:
        run = again.conversation.runs[0]
        assert (run.status, run.stage) == ("failed", "crashed")
        assert msgspec.structs.replace(again.conversation, runs=value.runs) == value
        assert run.prompt == "x\ud800\u2028\U0001f600"
        assert run.partial_text == "half \ud800"


def test_partial_text_grows_shrinks_and_ends_with_its_turn(store: Store) -> None:
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r1", prompt="hi"))
    seen = []
    for text in ("one", "one two", "one two", "other"):
        writer.note_partial("r1", text)
        seen.append(store.read(writer.path.stem).runs[0].partial_text)
    assert seen == ["one", "one two", "one two", "other"]
    writer.add_message(Message(role="assistant", content="other.", run_id="r1"))
    assert store.read(writer.path.stem).runs[0].partial_text == ""
    writer.close()


def test_partial_text_of_an_unknown_run_is_refused(store: Store) -> None:
    with store.create() as writer, pytest.raises(StoreError, match="no such run"):
        writer.note_partial("r9", "text")


def test_the_cost_of_a_message_on_disk_does_not_grow_with_the_conversation(store: Store) -> None:
    """Bytes appended for the same message: equal after 1 and after 3,000 messages."""
    message = Message(role="user", content="hello")

    def appended(length: int) -> int:
        with store.create(Conversation(messages=(message,) * length)) as writer:
            writer.save()
            writer.add_message(message)
            journal = writer.path.with_suffix(".journal")
            before = journal.stat().st_size
            writer.add_message(message)
            return journal.stat().st_size - before

    assert appended(1) == appended(3000)


def test_files_and_folders_are_for_their_owner_only(store: Store, tmp_path: Path) -> None:
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r1", prompt="hi"))
    writer.add_message(Message(role="user", content="hi"))
    for path in (tmp_path / "golem").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert (tmp_path / "golem").stat().st_mode & 0o777 == 0o700
    writer.close()


def test_only_a_canonical_uuid_names_a_file(store: Store) -> None:
    with store.create(Conversation(conversation_id="../../etc/passwd")) as writer:
        writer.save()
        assert is_canonical_uuid(writer.path.stem)
        assert writer.path.parent == store.conversations
        assert writer.conversation.forked_from == "../../etc/passwd"
    with pytest.raises(ConversationNotFound):
        store.path_of("../../etc/passwd")


def test_a_canonical_id_is_kept_and_never_taken_twice(store: Store) -> None:
    wanted = new_id()
    with store.create(Conversation(conversation_id=wanted)) as writer:
        writer.save()
        assert writer.path.stem == wanted
    with pytest.raises(ConversationChanged, match="exists already"):
        store.create(Conversation(conversation_id=wanted))


def test_replace_rewrites_and_can_keep_the_file_as_it_was(store: Store) -> None:
    with store.create(Conversation(messages=(Message(role="user", content="1"),))) as writer:
        writer.save()
        writer.add_message(Message(role="assistant", content="2"))
        old = writer.conversation
        kept = writer.replace(msgspec.structs.replace(old, messages=old.messages[:1]), backup=True)
        assert kept == writer.path.with_name(f"{writer.path.name}.orig")
        assert [each["content"] for each in json.loads(kept.read_bytes())["messages"]] == ["1", "2"]
        assert len(store.read(writer.path.stem).messages) == 1
    identifier = writer.path.stem
    undone = store.undo(identifier)
    assert store.read(identifier).messages == old.messages
    assert len(json.loads(undone.read_bytes())["messages"]) == 1
    with pytest.raises(StoreError, match="nothing to undo"):
        store.undo(identifier)


def test_the_id_of_a_conversation_cannot_be_replaced(store: Store) -> None:
    with store.create() as writer, pytest.raises(StoreError, match="id"):
        writer.replace(Conversation(conversation_id=new_id()))


def test_a_closed_writer_says_so(store: Store) -> None:
    writer = store.create()
    writer.close()
    writer.close()
    with pytest.raises(StoreError, match="closed"):
        writer.add_message(Message(role="user", content="x"))


def edit(path: Path, change: Callable[[dict[str, object]], None]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value))


def test_a_file_edited_meanwhile_is_not_overwritten_and_nothing_is_lost(store: Store) -> None:
    """The writer refuses to fold; opening again has both the edit and what the journal held, once."""
    writer = store.create(Conversation(title="old", messages=(Message(role="user", content="1"),)))
    writer.save()
    writer.add_message(Message(role="assistant", content="2"))
    edit(writer.path, lambda value: value.update(title="by hand"))
    with pytest.raises(ConversationChanged):
        writer.close()
    assert json.loads(writer.path.read_bytes())["title"] == "by hand"
    for _ in range(2):
        with store.open(writer.path.stem) as again:
            assert again.conversation.title == "by hand"
            assert [each.content for each in again.conversation.messages] == ["1", "2"]


def test_an_edit_that_changes_neither_size_nor_time_is_seen(store: Store) -> None:
    """As on a file system that counts in seconds, or by an editor that sets the time back."""
    writer = store.create(Conversation(title="old"))
    writer.save()
    writer.add_message(Message(role="user", content="1"))
    before = writer.path.stat()
    writer.path.write_bytes(writer.path.read_bytes().replace(b"old", b"OLD"))
    os.utime(writer.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ConversationChanged):
        writer.close()
    with store.open(writer.path.stem) as again:
        assert again.conversation.title == "OLD"
        assert [each.content for each in again.conversation.messages] == ["1"]


def test_an_edited_file_that_has_the_journals_messages_gets_them_once(store: Store) -> None:
    writer = store.create(Conversation(messages=(Message(role="user", content="1"),)))
    writer.save()
    writer.add_message(Message(role="assistant", content="2"))
    writer.add_message(Message(role="user", content="3"))

    def add(value: dict[str, object]) -> None:
        value["messages"] = [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}]

    edit(writer.path, add)
    assert [each.content for each in store.read(writer.path.stem).messages] == ["1", "2", "3"]
    with pytest.raises(ConversationChanged):
        writer.close()


def test_a_journal_without_its_file_is_a_conversation(store: Store) -> None:
    writer = store.create(Conversation(title="kept"))
    writer.save()
    writer.begin_run(RunRecord(run_id="r1", prompt="hi"))
    writer.add_message(Message(role="user", content="hi"))
    writer.path.unlink()
    identifier = writer.path.stem
    found = store.read(identifier)
    assert (found.title, len(found.messages), len(found.runs)) == ("kept", 1, 1)
    assert [each.conversation_id for each in store.summaries()] == [identifier]
    writer.close()
    assert store.read(identifier).title == "kept"


def test_a_damaged_journal_is_kept_aside(store: Store) -> None:
    writer = store.create()
    writer.save()
    for content in "123":
        writer.add_message(Message(role="user", content=content))
    journal = writer.path.with_suffix(".journal")
    data = journal.read_bytes()
    writer.close()
    writer.path.unlink()
    rotten = data.replace(b'"content":"2"', b'"content":"9"')
    assert rotten != data
    journal.write_bytes(rotten)
    with store.open(writer.path.stem) as again:
        assert [each.content for each in again.conversation.messages] == ["1", "3"]
    assert journal.with_name(f"{journal.name}.damaged").read_bytes().startswith(rotten)
    assert not journal.exists()


@pytest.mark.parametrize("data", [b"", b"[1", bytes(100), b"\xff"], ids=["empty", "cut", "zeros", "no text"])
@pytest.mark.parametrize("journaled", [False, True])
def test_undo_brings_the_original_back_where_the_file_cannot_be_read(
    store: Store, data: bytes, journaled: bool
) -> None:
    """That is when it is needed most; what is there is kept as it is."""
    with store.create(Conversation(title="before")) as writer:
        writer.save()
        original = writer.path.read_bytes()
        writer.replace(msgspec.structs.replace(writer.conversation, title="after"), backup=True)
        writer.update(title="later")
        journal = writer.path.with_suffix(".journal")
        entries = journal.read_bytes()
    writer.path.write_bytes(data)
    if journaled:
        journal.write_bytes(entries)
    undone = store.undo(writer.path.stem)
    assert (writer.path.read_bytes(), undone.read_bytes()) == (original, data)
    kept = journal.with_name(f"{journal.name}.undone")
    assert (kept.read_bytes() if kept.exists() else b"") == (entries if journaled else b"")
    assert store.read(writer.path.stem).title == "before"


def test_a_newer_file_is_read_and_not_written(store: Store) -> None:
    identifier = new_id()
    store.conversations.mkdir(parents=True)
    path = store.path_of(identifier)
    path.write_text(json.dumps({"golem": 2, "conversationId": identifier, "messages": [], "runs": []}))
    before = path.read_bytes()
    assert store.read(identifier).version == 2
    with pytest.raises(NewerFormatError):
        store.open(identifier)
    with pytest.raises(NewerFormatError):
        store.rename(identifier, "x")
    assert path.read_bytes() == before


def test_a_file_copied_to_another_name_is_a_fork(store: Store) -> None:
    with store.create() as writer:
        writer.save()
    copy = new_id()
    store.path_of(copy).write_bytes(writer.path.read_bytes())
    found = store.read(copy)
    assert (found.conversation_id, found.forked_from) == (copy, writer.path.stem)


def test_a_damaged_file_is_named_in_the_error(store: Store) -> None:
    with store.create() as writer:
        writer.save()
    writer.path.write_bytes(b'{"golem": 1, "messages": [')
    for attempt in (store.read, store.open):
        with pytest.raises(TranscriptError, match=writer.path.name):
            attempt(writer.path.stem)
    assert writer.path.read_bytes() == b'{"golem": 1, "messages": ['


def test_a_symlink_in_the_store_is_not_followed(store: Store, tmp_path: Path) -> None:
    """Neither read through nor written through."""
    with store.create() as writer:
        writer.save()
    secret = tmp_path / "secret.json"
    writer.path.replace(secret)
    writer.path.symlink_to(secret)
    with pytest.raises(StoreError, match="symbolic link"):
        store.read(writer.path.stem)
    assert store.summaries()[0].status == "damaged"


def test_a_long_journal_is_folded_when_a_run_ends(store: Store) -> None:
    """Its bound is one megabyte, or half of the file when that is more."""
    writer = store.create()
    writer.begin_run(RunRecord(run_id="r1", prompt="hi"))
    writer.add_message(Message(role="user", content="x" * (1 << 20)))
    writer.end_run(RunRecord(run_id="r1", status="done"))
    assert not writer.path.with_suffix(".journal").exists()
    assert len(json.loads(writer.path.read_bytes())["messages"]) == 1
    writer.add_message(Message(role="user", content="more"))
    assert len(store.read(writer.path.stem).messages) == 2
    writer.close()


def test_leaving_the_block_by_an_exception_keeps_that_exception(store: Store) -> None:
    """A fold that fails then does not hide what happened; it is added as a note."""
    writer = store.create()
    with pytest.raises(KeyboardInterrupt) as caught, writer:  # noqa: PT012 (the block is the case)
        writer.save()
        writer.add_message(Message(role="user", content="x"))
        edit(writer.path, lambda value: value.update(title="by hand"))
        raise KeyboardInterrupt
    assert "nothing was overwritten" in caught.value.__notes__[0]


def test_every_step_but_streamed_text_is_forced_to_the_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An fsync of the journal for each; a new conversation also syncs its file and folder."""
    synced: list[int] = []
    real = os.fsync

    def counted(descriptor: int) -> None:
        synced.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", counted)

    def syncs(step: Callable[[], object]) -> int:
        before = len(synced)
        step()
        return len(synced) - before

    writer = store.create()
    assert syncs(lambda: writer.begin_run(RunRecord(run_id="r1", prompt="hi"))) >= 2
    writer.add_message(Message(role="user", content="hi"))
    assert syncs(lambda: writer.note_partial("r1", "he")) == 0
    assert syncs(lambda: writer.add_message(Message(role="assistant", content="hello"))) == 1
    assert syncs(lambda: writer.end_run(RunRecord(run_id="r1", status="done"))) == 1
    assert syncs(lambda: writer.begin_run(RunRecord(run_id="r2", prompt="more"))) == 1
    assert syncs(lambda: writer.update(title="new")) == 1
    assert syncs(writer.close) >= 3
