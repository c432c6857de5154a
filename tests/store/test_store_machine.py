"""Any sequence of turns, forks, crashes, recoveries, normalizing, undoing, edits by hand, beside a model."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from golem_cli.chat import lineage
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import ConversationChanged, ConversationLocked, StoreError
from golem_cli.core.history import normalize_history
from golem_cli.core.message import Message, ToolCall
from golem_cli.store.store import Store
from golem_cli.store.writer import ConversationWriter

NOW = "2026-01-02T03:04:05.678Z"
MEMORY = Path("/dev/shm")  # noqa: S108 (a folder of our own in it: thousands of syncs would wait for a disk)
FEW = 2
"""Conversations: many would each see little."""


@dataclass
class Expected:
    """What a conversation has to be: title, contents, and status, prompt and streamed text of each run.

    `journaled` of the messages are not in its file yet; `edited` by hand since its writer knew it.
    """

    title: str
    messages: list[str] = field(default_factory=list)
    runs: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    journaled: int = 0
    has_journal: bool = False
    edited: bool = False
    originals: list[Expected] = field(default_factory=list)

    def folded(self) -> None:
        """Everything is in the file now."""
        self.journaled, self.has_journal = 0, False

    def copy(self) -> Expected:
        """The same, to be changed apart."""
        return replace(self, messages=[*self.messages], runs={**self.runs}, originals=[*self.originals])


class StoreMachine(RuleBasedStateMachine):
    """Rules take a conversation; those that need a writer open it, as a chat would."""

    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
        self.store = Store(self.root)
        self.expected: dict[str, Expected] = {}
        self.writers: dict[str, ConversationWriter] = {}
        self.numbers = count()

    def teardown(self) -> None:
        """Let everything go."""
        for writer in self.writers.values():
            let_go(writer)
        shutil.rmtree(self.root)

    def fresh(self, word: str) -> str:
        """A text that is nowhere yet."""
        return f"{word} {next(self.numbers)}"

    def writer(self, name: str) -> ConversationWriter:
        """The writer of a conversation; opening it recovers."""
        if name not in self.writers:
            self.writers[name] = self.store.open(name)
            self.expected[name].folded()
        return self.writers[name]

    def add(self, name: str, message: Message) -> None:
        """Add a message, here and there."""
        self.writer(name).add_message(message)
        self.expected[name].messages.append(message.content)
        self.expected[name].journaled += 1

    def begin_run(self, name: str, prompt: str) -> str:
        """Begin a run that has crashed unless it is ended."""
        run = self.fresh("run")
        self.writer(name).begin_run(RunRecord(run_id=run, prompt=prompt))
        self.expected[name].has_journal = True
        self.expected[name].runs[run] = ("failed", prompt, "")
        return run

    @precondition(lambda self: len(self.expected) < FEW)
    @rule(target=ids)
    def begin(self) -> str:
        """A conversation that is saved, and closed."""
        title = self.fresh("title")
        with self.store.create(Conversation(title=title)) as writer:
            writer.save()
        self.expected[writer.path.stem] = Expected(title)
        return writer.path.stem

    @rule(name=ids, calls=st.booleans())
    def turn(self, name: str, *, calls: bool) -> None:
        """A whole turn; with `calls` it leaves one without its result, as only damage does."""
        self.take_turn(name, calls=calls)

    def take_turn(self, name: str, *, calls: bool) -> None:
        """Prompt, answer, end."""
        prompt = self.fresh("prompt")
        run = self.begin_run(name, prompt)
        self.add(name, Message(role="user", content=prompt, run_id=run))
        if calls:
            asked = ToolCall(id=self.fresh("call"), name="look", args="{}")
            self.add(name, Message(role="assistant", content=self.fresh("looking"), tool_calls=(asked,)))
        self.add(name, Message(role="assistant", content=self.fresh("answer"), run_id=run))
        self.writer(name).end_run(RunRecord(run_id=run, status="done"))
        self.expected[name].runs[run] = ("done", "", "")

    @rule(name=ids, steps=st.integers(0, 2), torn=st.booleans())
    def crash_in_a_turn(self, name: str, steps: int, *, torn: bool) -> None:
        """After the prompt, the streamed text, or the prompt's message; perhaps within a record."""
        prompt, partial = self.fresh("prompt"), ""
        run = self.begin_run(name, prompt)
        if steps:
            partial = self.fresh("half an answer")
            self.writer(name).note_partial(run, partial)
        if steps > 1:
            self.add(name, Message(role="user", content=prompt, run_id=run))
            prompt = ""
        self.expected[name].runs[run] = ("failed", prompt, partial)
        journal = self.store.path_of(name).with_suffix(".journal")
        let_go(self.writers.pop(name))
        self.expected[name].edited = False
        if torn:
            journal.write_bytes(journal.read_bytes() + b"0badc0de 40 2026-01-02T03")

    @rule(name=ids)
    def crash_at_rest(self, name: str) -> None:
        """Between two turns; and the dying process leaves a file that it had begun."""
        if name in self.writers:
            let_go(self.writers.pop(name))
            self.expected[name].edited = False
        path = self.store.path_of(name)
        path.with_name(f".{path.name}.0123456789ab.tmp").write_bytes(b"half a file")

    @rule(name=ids)
    def crash_at_the_end_of_a_fold(self, name: str) -> None:
        """The new file is in its place, and its journal still there."""
        self.die_at_the_end_of_a_fold(name)

    def die_at_the_end_of_a_fold(self, name: str) -> None:
        """If it is open, and has something to fold."""
        writer, expected = self.writers.get(name), self.expected[name]
        if writer is None or not expected.has_journal or expected.edited:
            return
        journal, spare = writer.path.with_suffix(".journal"), self.root / "spare"
        os.link(journal, spare)
        self.writers.pop(name).close()
        spare.replace(journal)
        expected.folded()

    @rule(name=ids)
    def recover(self, name: str) -> None:
        """Open it, as a chat does, after a crash or not."""
        self.writer(name)
        assert not list(self.store.conversations.glob(f".{name}*.tmp"))

    @rule(name=ids)
    def close(self, name: str) -> None:
        """Close it."""
        self.leave(name)

    def leave(self, name: str) -> None:
        """If it is open: which folds; a file that was edited meanwhile is not overwritten."""
        if name not in self.writers:
            return
        writer, expected = self.writers.pop(name), self.expected[name]
        if expected.edited and expected.has_journal:
            with pytest.raises(ConversationChanged):
                writer.close()
        else:
            writer.close()
            expected.folded()
        expected.edited = False

    @precondition(lambda self: len(self.expected) < FEW)
    @rule(target=ids, name=ids)
    def fork(self, name: str) -> str:
        """What `golem fork` does, whoever writes the parent."""
        child = self.store.create(lineage.fork(self.store.read(name), now=NOW))
        with child:
            child.save()
        parent = self.expected[name]
        title = parent.title if parent.title.endswith(" (fork)") else f"{parent.title} (fork)"
        self.expected[child.path.stem] = Expected(title, [*parent.messages], {**parent.runs})
        return child.path.stem

    @rule(name=ids)
    def normalize(self, name: str) -> None:
        """What `golem normalize -w` does to a conversation of the store."""
        expected = self.expected[name]
        if expected.edited:
            return
        writer = self.writer(name)
        messages, _ = normalize_history(list(writer.conversation.messages))
        whole = msgspec.structs.replace(writer.conversation, messages=tuple(messages))
        writer.replace(whole, backup=True)
        expected.folded()
        expected.originals.append(expected.copy())
        expected.messages = [message.content for message in messages]

    @rule(name=ids)
    def undo(self, name: str) -> None:
        """What `golem normalize --undo` does."""
        expected = self.expected[name]
        if name in self.writers:
            with pytest.raises(ConversationLocked if expected.originals else StoreError):
                self.store.undo(name)
        elif expected.originals:
            self.store.undo(name)
            originals = expected.originals
            self.expected[name] = replace(originals[-1], originals=originals[:-1])

    @rule(
        name=ids,
        adds=st.booleans(),
        after=st.sampled_from(["nothing", "a turn", "a crash"]),
        leaves=st.booleans(),
    )
    def edit_by_hand(self, name: str, after: str, *, adds: bool, leaves: bool) -> None:
        """Another title, and perhaps a message, in the file, whoever has it open."""
        if after != "nothing" and not self.expected[name].edited:
            self.take_turn(name, calls=False)
        if after == "a crash":
            self.die_at_the_end_of_a_fold(name)
        path, expected = self.store.path_of(name), self.expected[name]
        value: dict[str, Any] = json.loads(path.read_bytes())
        value["title"] = expected.title = self.fresh("title by hand")
        if adds:
            content = self.fresh("by hand")
            value["messages"].append({"role": "user", "content": content})
            expected.messages.insert(len(expected.messages) - expected.journaled, content)
        path.write_text(json.dumps(value))
        expected.edited = name in self.writers
        if leaves:
            self.leave(name)

    @rule(name=ids)
    def rename(self, name: str) -> None:
        """What `golem rename` does, to a conversation that nobody writes."""
        if name not in self.writers:
            expected = self.expected[name]
            expected.title = self.fresh("renamed")
            self.store.rename(name, expected.title)
            expected.folded()

    @invariant()
    def everything_is_there_once(self) -> None:
        """As a reader sees it, whether somebody writes it or not."""
        for name, expected in self.expected.items():
            kept = self.store.read(name)
            assert kept.title == expected.title
            assert [message.content for message in kept.messages] == expected.messages
            runs = {run.run_id: (run.status, run.prompt, run.partial_text) for run in kept.runs}
            assert runs == expected.runs


def let_go(writer: ConversationWriter) -> None:
    """What the system does for a process that dies: it closes its files, which gives its lock back."""
    if writer._journal is not None:
        writer._journal.close()
    writer._lock.release()


StoreMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
TestTheStore = StoreMachine.TestCase
