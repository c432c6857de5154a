"""A disk that loses its power: the system calls of a store recorded, and every disk that they may leave.

`Recorder` stands between the store and `os` and notes what it does below a folder, while it is really done.
`disks(calls)` then yields what a disk may hold when the power goes after these calls. What was synced is
there: the bytes of a file by an fsync of that file, its name by one of its folder. Of what was not, anything
may be missing: a name, a rename, a removal, each by itself; a write, wholly, or from some byte on, or with
zeros in its place where a later one arrived.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, Self

import pytest

Tree = dict[str, bytes | None]
"""Paths below the folder, each with its bytes; None for a folder."""

Kind = Literal["name", "remove", "rename", "write", "cut", "sync", "sync folder"]
FOLDER: Final = -1
WATCHED: Final = ("open", "fdopen", "write", "ftruncate", "fsync", "replace", "unlink", "link", "mkdir")


@dataclass(frozen=True, kw_only=True)
class Call:
    """One system call. `path` is below the folder; `file` the number of a file, or `FOLDER`.

    A `write` puts `data` at `at`, a `cut` ends the file there; a `rename` gives `file`, which was `old`,
    the name `path`.
    """

    kind: Kind
    path: str = ""
    file: int = FOLDER
    at: int = 0
    data: bytes = b""
    old: str = ""

    def is_kept_by(self, later: Call) -> bool:
        """Whether `later` brings this call to the disk for good."""
        if self.kind in {"write", "cut"}:
            return later.kind == "sync" and later.file == self.file
        return later.kind == "sync folder" and str(PurePosixPath(self.path).parent) == later.path


class Recorder:
    """Records what is done below `root` in its block. Of the store nothing is replaced, only of `os`."""

    def __init__(self, root: Path) -> None:
        self.calls: list[Call] = []
        self._root = root
        self._patch = pytest.MonkeyPatch()
        self._numbers = itertools.count()
        self._files: dict[str, int] = {}
        self._sizes: dict[int, int] = {}
        self._descriptors: dict[int, int | str] = {}

    def __enter__(self) -> Self:
        for name in WATCHED:
            self._patch.setattr(os, name, self._noting(getattr(os, name), getattr(self, f"_note_{name}")))
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.undo()

    def _noting(self, real: Callable[..., Any], note: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            return note(real, *values, **named)

        return call

    def _below(self, path: Any) -> str | None:
        """The path below the root; None for one elsewhere, and for locks, which need not survive."""
        try:
            found = Path(os.fspath(path)).relative_to(self._root).as_posix()
        except (TypeError, ValueError):
            return None
        return None if found.partition("/")[0] == "locks" else found

    def _name(self, path: str, file: int) -> None:
        self._files[path] = file
        self.calls.append(Call(kind="name", path=path, file=file))

    def _note_open(self, real: Any, path: Any, *rest: Any, **named: Any) -> int:
        descriptor: int = real(path, *rest, **named)
        self._descriptors.pop(descriptor, None)
        if (name := self._below(path)) is None:
            return descriptor
        if Path(path).is_dir():
            self._descriptors[descriptor] = name
            return descriptor
        if name not in self._files:
            number = next(self._numbers)
            self._sizes[number] = 0
            self._name(name, number)
        self._descriptors[descriptor] = self._files[name]
        return descriptor

    def _note_fdopen(self, real: Any, descriptor: int, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if descriptor in self._descriptors and "w" in mode:
            return _Unbuffered(descriptor)
        return real(descriptor, mode, *rest, **named)

    def _note_write(self, real: Any, descriptor: int, data: Any) -> int:
        written: int = real(descriptor, data)
        file = self._descriptors.get(descriptor)
        if isinstance(file, int):  # the store writes its files at their ends only
            at = self._sizes[file]
            self.calls.append(Call(kind="write", file=file, at=at, data=bytes(data[:written])))
            self._sizes[file] += written
        return written

    def _note_ftruncate(self, real: Any, descriptor: int, size: int) -> None:
        real(descriptor, size)
        file = self._descriptors.get(descriptor)
        if isinstance(file, int):
            self.calls.append(Call(kind="cut", file=file, at=size))
            self._sizes[file] = size

    def _note_fsync(self, real: Any, descriptor: int) -> None:
        real(descriptor)
        match self._descriptors.get(descriptor):
            case int(file):
                self.calls.append(Call(kind="sync", file=file))
            case str(folder):
                self.calls.append(Call(kind="sync folder", path=folder))

    def _note_replace(self, real: Any, source: Any, target: Any) -> None:
        real(source, target)
        old, new = self._below(source), self._below(target)
        if old is not None and new is not None:
            self._files[new] = self._files.pop(old)
            self.calls.append(Call(kind="rename", path=new, file=self._files[new], old=old))

    def _note_unlink(self, real: Any, path: Any, **named: Any) -> None:
        real(path, **named)
        name = self._below(path)
        if name is not None and self._files.pop(name, None) is not None:
            self.calls.append(Call(kind="remove", path=name))

    def _note_link(self, real: Any, source: Any, target: Any, **named: Any) -> None:
        real(source, target, **named)
        old, new = self._below(source), self._below(target)
        if old is not None and new is not None:
            self._name(new, self._files[old])

    def _note_mkdir(self, real: Any, path: Any, *rest: Any, **named: Any) -> None:
        real(path, *rest, **named)
        if (name := self._below(path)) is not None and name != ".":
            self.calls.append(Call(kind="name", path=name))


class _Unbuffered:
    """What `os.fdopen` gives while it is recorded: a `write` is a system call at once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def flush(self) -> None:
        """Nothing is held back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def disks(calls: Sequence[Call], chance: random.Random, *, most: int = 24) -> Iterator[Tree]:
    """Yield what a disk may hold after `calls` and the loss of power: all, or about `most` of them."""
    loose = [
        index
        for index, call in enumerate(calls)
        if not call.kind.startswith("sync") and not any(map(call.is_kept_by, calls[index:]))
    ]
    seen: list[Tree] = []
    for lost in _choices(loose, chance, most // 2):
        left = [call for index, call in enumerate(calls) if index not in lost]
        for disk in (left, _torn(left, calls, loose, lost, chance)):
            tree = after(disk)
            if tree not in seen:
                seen.append(tree)
                yield tree


def _choices(loose: list[int], chance: random.Random, most: int) -> Iterator[set[int]]:
    """Which of the loose calls are lost: every choice, or all, none and some."""
    if 2 ** len(loose) <= most:
        for count in range(len(loose) + 1):
            yield from map(set, itertools.combinations(loose, count))
        return
    yield set()
    yield set(loose)
    for _ in range(most - 2):
        yield {index for index in loose if chance.random() < 0.5}


def _torn(
    left: list[Call], calls: Sequence[Call], loose: list[int], lost: set[int], chance: random.Random
) -> list[Call]:
    """`left`, but the last loose write ends at some byte."""
    writes = [calls[index] for index in loose if index not in lost and calls[index].kind == "write"]
    if not writes:
        return left
    whole = writes[-1]
    part = Call(
        kind="write", file=whole.file, at=whole.at, data=whole.data[: chance.randrange(len(whole.data))]
    )
    return [part if call is whole else call for call in left]


def after(calls: Sequence[Call]) -> Tree:
    """What is in the folder after `calls`."""
    names: dict[str, int] = {}
    files: dict[int, bytearray] = {}
    for call in calls:
        match call.kind:
            case "name":
                names[call.path] = call.file
            case "remove":
                names.pop(call.path, None)
            case "rename":
                names.pop(call.old, None)
                names[call.path] = call.file
            case "write":
                content = files.setdefault(call.file, bytearray())
                content.extend(bytes(max(0, call.at - len(content))))
                content[call.at : call.at + len(call.data)] = call.data
            case "cut":
                del files.setdefault(call.file, bytearray())[call.at :]
    return {
        path: None if file == FOLDER else bytes(files.get(file, b""))
        for path, file in sorted(names.items())
        if all(str(folder) in names for folder in list(PurePosixPath(path).parents)[:-1])
    }


def tree_at(root: Path) -> Tree:
    """What really is in a folder, but for locks."""
    return {
        path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.relative_to(root).parts[0] != "locks"
    }


def lay_out(tree: Tree, root: Path) -> None:
    """Write a disk."""
    root.mkdir()
    for path, data in tree.items():
        if data is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(data)
