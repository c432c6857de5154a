"""The newest conversation: which one that is, and what was passed over on the way to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from golem_cli.core.conversation import Conversation
from golem_cli.core.message import Message
from golem_cli.store.store import Store
from tests.support.chat_replies import answer
from tests.support.golem_runs import golem
from tests.support.http_server import HttpServer

IDS: Final = [f"01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c{number}" for number in range(10, 16)]


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home / "golem")


def keep(store: Store, conversation_id: str, **about: Any) -> Path:
    said = Message(role="user", content="hi")
    with store.create(Conversation(conversation_id=conversation_id, messages=(said,), **about)) as writer:
        writer.save()
    return store.path_of(conversation_id)


def test_who_goes_on_with_the_newest_is_told_which_damaged_one_was_passed_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, IDS[0], title="Bread")
    keep(store, IDS[1]).write_bytes(b'{"golem":1,"messages":[{"ro')
    os.utime(store.path_of(IDS[1]), (4e9, 4e9))  # newer than all that follows
    line = (
        f"golem: skipped {IDS[1]}, which is damaged (golem doctor says how); "
        f"the newest that can be read is {IDS[0]} 'Bread'"
    )
    with HttpServer([answer("On.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        asked = golem("ask", "--model", "openai:test", "-c", "and then?")
    assert (asked.out, asked.error_line) == ("On.\n", line)
    assert len(store.read(IDS[0]).messages) == 3
    for arguments in (["show"], ["fork", "--last"], ["export", "--format", "json"]):
        assert golem(*arguments).error_line.startswith(f"golem: skipped {IDS[1]}, which is damaged")


def test_nothing_is_said_when_the_newest_can_be_read(store: Store) -> None:
    keep(store, IDS[0]).write_bytes(b"")
    os.utime(store.path_of(IDS[0]), (0, 0))
    keep(store, IDS[1])
    assert golem("show").err == ""


def test_many_damaged_ones_are_counted(store: Store) -> None:
    keep(store, IDS[0])
    for each in IDS[1:]:
        keep(store, each).write_bytes(b"")
    said = golem("show").error_line
    assert sum(each in said for each in IDS[1:]) == 3
    assert " and 2 more, which are damaged" in said


def test_where_none_can_be_read_that_is_said(store: Store) -> None:
    keep(store, IDS[0]).write_bytes(b"")
    done = golem("fork", "--last")
    assert done.code == 2
    assert f"skipped {IDS[0]}, which is damaged (golem doctor says how); no other can be read" in done.err


@pytest.mark.parametrize("moment", ["zzzz", "\uffff", "9999-99-99T99:99:99.999Z"])
def test_a_time_that_is_none_gives_way_to_the_files_own(store: Store, moment: str) -> None:
    path = keep(store, IDS[1], updated_at=moment)
    os.utime(path, (0, 0))
    keep(store, IDS[0], updated_at="2026-01-01T00:00:00.000Z")
    assert store.newest() == IDS[0]
    newest, other = golem("list", "--json").json
    assert (newest["conversationId"], other["conversationId"]) == (IDS[0], IDS[1])
    assert other["updatedAt"] == "1970-01-01T00:00:00.000Z"


def test_times_of_other_zones_are_put_in_order(store: Store) -> None:
    keep(store, IDS[0], updated_at="2026-01-01T10:00:00+09:00")  # 01:00 in UTC
    keep(store, IDS[1], updated_at="2026-01-01T02:00:00Z")
    assert [each["updatedAt"] for each in golem("list", "--json").json] == [
        "2026-01-01T02:00:00.000Z",
        "2026-01-01T01:00:00.000Z",
    ]


def test_a_change_gives_a_readable_time_again(store: Store) -> None:
    keep(store, IDS[0], updated_at="zzzz")
    golem("rename", IDS[0], "Bread")
    assert store.read(IDS[0]).updated_at.startswith("20")
