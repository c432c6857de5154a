"""A turn of a real session on a disk that refuses from the middle of it on, and later serves again.

    python -m tests.support.faulty_turn FAULT FOLDER [REQUEST]

FAULT is a method of `Fault`. The disk refuses as soon as the model is asked for the first time, or for the
REQUESTth, counted from 1. Prints `whole` when the answer went on, the refusal was told once, the next prompt
was refused, and all of it was on disk in the end; `served` when the disk let golem go on all the same, with
a journal that was open.
"""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from golem_cli.chat import lineage
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.session import Session
from golem_cli.core.errors import StoreError
from golem_cli.core.model import ModelRequest, ModelResponse, OnDelta
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel, ScriptedTool, call

NOW = "2026-01-02T03:04:05.678Z"


class Fault:
    """What goes wrong in a folder. Each method makes it so, and returns what makes it right again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def full(self) -> Callable[[], object]:
        """The disk, a small one of its own, has no room."""
        ballast = self._folder / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        return ballast.unlink

    def read_only(self) -> Callable[[], object]:
        """The file system is mounted anew, for reading only."""
        mount = ["mount", "-o"]
        subprocess.run([*mount, "remount,ro", str(self._folder)], check=True)
        return lambda: subprocess.run([*mount, "remount,rw", str(self._folder)], check=True)

    def too_large(self) -> Callable[[], object]:
        """No file may become any larger, as with a quota."""
        return _limit(resource.RLIMIT_FSIZE, 0)

    def descriptors(self) -> Callable[[], object]:
        """The process may open no more files."""
        lowest_free = os.dup(0)
        os.close(lowest_free)
        return _limit(resource.RLIMIT_NOFILE, lowest_free)

    def vanished(self) -> Callable[[], object]:
        """The folder is gone, and a file stands in its place."""
        shutil.rmtree(self._folder)
        self._folder.write_bytes(b"")
        return self._folder.unlink

    def forbidden(self) -> Callable[[], object]:
        """The folder belongs to somebody else now; for a process without privileges."""
        return _mode(self._folder, 0o500)

    def unsearchable(self) -> Callable[[], object]:
        """Nothing in the folder can be looked at; for a process without privileges."""
        return _mode(self._folder, 0o400)

    def closed(self) -> Callable[[], object]:
        """The folder says nothing at all; for a process without privileges."""
        return _mode(self._folder, 0)

    def home_closed(self) -> Callable[[], object]:
        """The folder above, the home of all of it, says nothing; for a process without privileges."""
        return _mode(self._folder.parent, 0)


def _mode(folder: Path, mode: int) -> Callable[[], object]:
    folder.chmod(mode)
    return lambda: folder.chmod(0o700)


def _limit(what: int, soft: int) -> Callable[[], object]:
    before = resource.getrlimit(what)
    resource.setrlimit(what, (soft, before[1]))
    return lambda: resource.setrlimit(what, before)


class FailingModel(ScriptedModel):
    """A scripted model; the fault comes when it is asked for the `when`th time."""

    def __init__(self, fault: Callable[[], Callable[[], object]], when: int) -> None:
        super().__init__(name="scripted", fragment_size=4)
        self._fault = fault
        self._when = when
        self.repairs: list[Callable[[], object]] = []

    async def stream(self, request: ModelRequest, on_delta: OnDelta) -> ModelResponse:
        """Answer, with the fault from now on."""
        if len(self.requests) + 1 == self._when:
            self.repairs.append(self._fault())
        return await super().stream(request, on_delta)


async def turn(fault: str, folder: Path, when: int) -> bool:
    """Return whether anything was refused."""
    store, said = Store(folder), list[str]()
    model = FailingModel(getattr(Fault(store.conversations), fault), when)
    long = "an answer " * 600  # more than a page, so that it does not fit into the last one
    model.respond("looking", tool_calls=[call("c", "look")]).respond(long).respond("never asked")
    session = Session(
        library=store,
        writer=store.create(lineage.start(now=NOW, model="scripted")),
        model=model,
        settings=ChatSettings(tools=(ScriptedTool("look", "seen").tool,)),
        notice=said.append,
    )
    result = await session.ask("prompt")
    assert result.output == long
    refused = session.writer.unsaved
    assert [line for line in said if "goes on in memory" in line] == said[:1], said
    assert bool(said) == refused
    if refused:
        with pytest.raises(StoreError, match=r"^[^\n]+$"):  # no prompt is taken that is not on disk
            await session.ask("more")
    here = session.conversation
    model.repairs.pop()()
    session.writer.save()
    assert not session.writer.unsaved
    kept = store.read(here.conversation_id)
    assert (kept.messages, kept.runs, kept.title) == (here.messages, here.runs, here.title)
    assert [message.content for message in kept.messages] == ["prompt", "looking", "seen", long]
    session.close()
    assert store.read(here.conversation_id).messages == here.messages
    assert [path.suffix for path in store.conversations.iterdir()] == [".json"]
    return refused


def main() -> None:
    """Run the turn; `full` and `read_only` on a small file system of their own, which ends with us."""
    fault, folder, *when = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])
    if fault in {"full", "read_only"}:
        (folder / "conversations").mkdir(parents=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "golem", str(folder / "conversations")], check=False
        )
        if done.returncode:
            sys.exit(errno.EPERM)
    refused = asyncio.run(turn(fault, folder, *(when or [1])))
    sys.stdout.write("whole\n" if refused else "served\n")


if __name__ == "__main__":
    main()
