"""Flags about a conversation: what they change is kept in one step, or nothing of it is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from golem_cli.cli.opening import open_session
from golem_cli.cli.preparing import Wanted
from golem_cli.core.conversation import Conversation
from golem_cli.store.journal import decode
from golem_cli.store.store import Store
from tests.support.golem_runs import environment_for_tests, golem
from tests.support.secrets import example

FIRST: Final = "01936f4e-5f3e-7a65-8d0c-2f6f8a6b1c01"
SERVER: Final = "http://127.0.0.1:9/v1"
"""Nobody is asked anything here."""


@pytest.fixture
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A conversation, and a model that it was not begun with."""
    monkeypatch.setenv("OPENAI_BASE_URL", SERVER)
    store = Store(home / "golem")
    with store.create(Conversation(conversation_id=FIRST, instructions="Be brief.")) as writer:
        writer.save()
    return store


def test_all_flags_are_one_entry_of_the_journal(store: Store) -> None:
    environment, _ = environment_for_tests()
    wanted = Wanted(model="openai:x", system="Be long.", trim=4, budget=900, conversation=FIRST)
    session = open_session(wanted, environment, print)
    entries, damaged = decode(store.path_of(FIRST).with_suffix(".journal").read_bytes())
    assert ([entry.kind for entry in entries].count("update"), damaged) == (1, 0)
    session.close()
    kept = store.read(FIRST)
    assert (kept.model, kept.instructions) == ("openai:x", "Be long.")
    assert (kept.settings.trim, kept.settings.budget) == (4, 900)


def test_flags_beside_refused_instructions_are_not_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_SECRETS", "block")
    before = store.path_of(FIRST).read_bytes()
    text, secret = example("an Anthropic key")
    done = golem("ask", "-r", FIRST, "-m", "openai:x", "--trim", "4", "-s", text, "Hi")
    assert done.code == 2
    assert "what looks like an Anthropic key stands in the instructions" in done.error_line
    assert secret not in done.err
    assert store.path_of(FIRST).read_bytes() == before
