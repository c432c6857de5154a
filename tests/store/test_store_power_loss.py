"""The power goes at any call of a turn, a fold, a fork, a rename: what was said to be saved is there."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import msgspec
import pytest

if sys.platform == "win32":
    pytest.skip("its folders cannot be synced", allow_module_level=True)

from golem_cli.chat import lineage
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.store import writer as writing
from golem_cli.store.changes import mark_crashed
from golem_cli.store.store import Store
from golem_cli.store.writer import ConversationWriter
from tests.support.power_loss import Recorder, after, disks, lay_out, tree_at

NOW = "2026-01-02T03:04:05.678Z"
Kept = dict[str, Conversation]


class Step(NamedTuple):
    """A step that was recorded: its calls are those from `start` to `end`."""

    start: int
    end: int
    before: Kept
    after: Kept


class Story:
    """Steps on a store in an empty folder, recorded. Each gives what is kept before and after it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store(root)
        self.recorder = Recorder(root)
        self.steps: list[Step] = []

    def step(self, action: Callable[[], object]) -> None:
        """Do `action` and record it."""
        start, before = len(self.recorder.calls), kept(self.store)
        with self.recorder:
            action()
        self.steps.append(Step(start, len(self.recorder.calls), before, kept(self.store)))

    def begin(self) -> ConversationWriter:
        """Save a conversation of two messages."""
        messages = (Message(role="user", content="q"), Message(role="assistant", content="a"))
        writer = self.store.create(Conversation(title="t", messages=messages))
        self.step(writer.save)
        return writer

    def turn(self, writer: ConversationWriter, number: int) -> None:
        """A prompt, streamed text, a call, its result, the answer, the end."""
        run = f"r{number}"
        self.step(lambda: writer.begin_run(RunRecord(run_id=run, prompt=f"prompt {number}")))
        for text in ("one ", "one two "):
            self.step(lambda text=text: writer.note_partial(run, text))  # type: ignore[misc]  # mypy's own limit
        for role in ("user", "assistant", "tool"):
            message = Message(role=role, content=f"{role} {number}", run_id=run)
            self.step(lambda message=message: writer.add_message(message))  # type: ignore[misc]  # as above
        for text in ("three ", "three four"):
            self.step(lambda text=text: writer.note_partial(run, text))  # type: ignore[misc]  # as above
        self.step(lambda: writer.end_run(RunRecord(run_id=run, status="done")))


def kept(store: Store) -> Kept:
    """Everything in the store, as whoever opens it would have it. The index has no part in this."""
    names = {path.stem for path in store.conversations.glob("[!.]*") if path.suffix in {".json", ".journal"}}
    return {name: mark_crashed(store.read(name)) for name in names}


def promised(found: Kept) -> Kept:
    """But for streamed text, which is not forced to the disk, and the time of the last change."""
    return {
        name: msgspec.structs.replace(
            each,
            updated_at="",
            runs=tuple(msgspec.structs.replace(run, partial_text="") for run in each.runs),
        )
        for name, each in found.items()
    }


def partial_texts(found: Kept) -> list[str]:
    return [run.partial_text for each in found.values() for run in each.runs if run.partial_text]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "golem")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Where disks are laid out: in memory if that can be, since there are many."""
    memory = Path("/dev/shm")  # noqa: S108 (a folder of our own in it)
    folder = Path(mkdtemp(dir=memory if memory.is_dir() else tmp_path))
    yield folder
    shutil.rmtree(folder)


def lose_power_everywhere(story: Story, scratch: Path) -> int:
    """Hold every disk of every moment against the promise; return how many there were."""
    calls = story.recorder.calls
    assert after(calls) == tree_at(story.root), "the record tells another story than the disk"
    chance = random.Random(len(calls))  # noqa: S311 (a seed, no secret)
    count = 0
    for moment in range(len(calls) + 1):
        step = next((each for each in story.steps if each.start <= moment < each.end), None)
        allowed = [step.before, step.after] if step else [story.steps[-1].after]
        for tree in disks(calls[:moment], chance):
            count += 1
            root = scratch / str(count)
            lay_out(tree, root)
            hold_against(root, allowed)
            shutil.rmtree(root)
    return count


def hold_against(root: Path, allowed: list[Kept]) -> None:
    store = Store(root)
    found = kept(store)
    assert promised(found) in [promised(each) for each in allowed]
    streamed = [text for each in allowed for text in partial_texts(each)]
    assert all(any(text.startswith(part) for text in streamed) for part in partial_texts(found))
    for name, each in found.items():
        with store.open(name) as writer:
            assert writer.conversation == each
        assert store.read(name) == each
        left = [path.name for path in store.conversations.glob(f"*{name}*")]
        assert not any(each.endswith((".journal", ".tmp")) for each in left), left


def test_a_turn(story: Story, scratch: Path) -> None:
    """A new conversation, two turns, and the fold when it is closed."""
    writer = story.store.create(Conversation())
    story.turn(writer, 1)
    story.turn(writer, 2)
    story.step(writer.close)
    assert lose_power_everywhere(story, scratch) > 100


def test_a_fold_at_the_end_of_a_run(story: Story, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the journal has outgrown its file; the next turn begins another journal."""
    monkeypatch.setattr(writing, "_FOLD_ABOVE", 300)
    writer = story.begin()
    for number in range(2):
        story.turn(writer, number)
        assert not writer.path.with_suffix(".journal").exists()
    story.step(lambda: writer.begin_run(RunRecord(run_id="r", prompt="more")))
    story.step(writer.close)
    assert lose_power_everywhere(story, scratch) > 50


def test_a_fork_and_a_rename(story: Story, scratch: Path) -> None:
    """The parent is there whatever becomes of the fork; the fork is whole or not there."""
    parent = story.begin()
    story.turn(parent, 1)
    child = story.store.create(lineage.fork(parent.conversation, now=NOW))
    story.step(child.save)
    story.step(child.close)
    story.step(parent.close)
    story.step(lambda: story.store.rename(parent.path.stem, "another"))
    story.step(lambda: story.store.rename(child.path.stem, "a third"))
    assert lose_power_everywhere(story, scratch) > 50


def test_a_rewrite_with_a_backup_and_its_undoing(story: Story, scratch: Path) -> None:
    writer = story.begin()
    story.turn(writer, 1)
    story.step(writer.save)  # what follows keeps the file as it is now
    shorter = msgspec.structs.replace(writer.conversation, messages=writer.conversation.messages[:2])
    story.step(lambda: writer.replace(shorter, backup=True))
    story.step(writer.close)
    story.step(lambda: story.store.undo(writer.path.stem))
    assert [message.content for message in story.store.read(writer.path.stem).messages][2:] == [
        "user 1",
        "assistant 1",
        "tool 1",
    ]
    assert lose_power_everywhere(story, scratch) > 50


def test_opening_after_a_crash(story: Story, scratch: Path) -> None:
    """The power goes again while what a crash had left is folded and a damaged journal is kept aside."""
    writer = story.begin()
    story.turn(writer, 1)
    story.step(lambda: writer.begin_run(RunRecord(run_id="r2", prompt="more")))
    journal = writer.path.with_suffix(".journal")
    with story.recorder:
        _append(journal, b"00000000 7 damage!\n")
    let_go(writer)
    story.step(lambda: story.store.open(writer.path.stem).close())
    assert journal.with_name(f"{journal.name}.damaged").exists()
    assert lose_power_everywhere(story, scratch) > 50


def _append(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)


def let_go(writer: ConversationWriter) -> None:
    """What the system does for a process that dies."""
    assert writer._journal is not None
    writer._journal.close()
    writer._lock.release()
