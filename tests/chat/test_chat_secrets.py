"""The guard: a key in a prompt is pointed out or refused before anything of it is kept or sent."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

import pytest

from golem_cli.chat import lineage, resuming
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.secret_guard import SecretPolicy
from golem_cli.chat.session import Session
from golem_cli.core.errors import ConfigurationError, ModelError, RunError
from golem_cli.core.message import Part
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel
from tests.support.secrets import example

KEY: Final = example("an Anthropic key")[1]
OTHER: Final = example("a Groq key")[1]
SAID: Final = "what looks like an Anthropic key stands in {}; it is sent as it is"


def session_with(policy: SecretPolicy, store: Store, *, instructions: str = "") -> tuple[Session, list[str]]:
    said: list[str] = []
    model = ScriptedModel(*["Yes."] * 4)
    writer = store.create(
        lineage.start(now="2026-01-02T03:04:05.000Z", model=model.name, instructions=instructions)
    )
    settings = ChatSettings(secrets=policy)
    return Session(library=store, writer=writer, model=model, settings=settings, notice=said.append), said


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


async def test_a_key_in_a_prompt_is_pointed_out_and_sent(store: Store) -> None:
    session, said = session_with("warn", store)
    await session.ask(f"Look:\n\nmy key is {KEY}")
    assert said == [SAID.format("the prompt, line 3")]
    assert KEY in session.conversation.messages[0].content


async def test_each_kind_is_pointed_out_once_a_conversation(store: Store) -> None:
    session, said = session_with("warn", store)
    await session.ask(KEY)
    await session.ask(f"{KEY} {KEY[:-3]}abc")
    assert len(said) == 1
    await session.ask(OTHER)
    assert len(said) == 2
    session.start_new()
    await session.ask(KEY)
    assert len(said) == 3


async def test_what_another_process_pointed_out_is_not_said_again(store: Store) -> None:
    session, _ = session_with("warn", store)
    await session.ask(KEY)
    identity = session.conversation.conversation_id
    session.close()
    said: list[str] = []
    again = Session(
        library=store, writer=store.open(identity), model=ScriptedModel("Yes."), notice=said.append
    )
    await again.ask(f"again {KEY}")
    assert said == []


async def test_a_blocked_prompt_is_neither_kept_nor_sent(store: Store) -> None:
    session, said = session_with("block", store)
    with pytest.raises(ConfigurationError) as caught:
        await session.ask(f"my key is {KEY}")
    assert str(caught.value) == (
        "not sent: what looks like an Anthropic key stands in the prompt, line 1; take it out, or set "
        "GOLEM_SECRETS=warn to go on all the same"
    )
    assert (session.conversation.runs, session.conversation.messages, said) == ((), (), [])
    assert not list(store.conversations.glob("*"))
    await session.ask("without it")
    assert len(session.conversation.messages) == 2


async def test_nobody_looks_when_it_is_off(store: Store) -> None:
    session, said = session_with("off", store)
    await session.ask(KEY)
    assert said == []


async def test_attachments_and_instructions_are_looked_at(store: Store) -> None:
    session, said = session_with("warn", store, instructions=f"Use {OTHER}.")
    data = base64.b64encode(f"\x00\xff{KEY}".encode("latin-1")).decode()
    await session.ask("this", parts=(Part(kind="document", data=data, media_type="application/pdf"),))
    assert said == [
        "what looks like a Groq key stands in the instructions, line 1; it is sent as it is",
        SAID.format("attachment 1"),
    ]


async def test_a_key_in_an_address_that_is_attached_is_seen(store: Store) -> None:
    session, said = session_with("warn", store)
    await session.ask("this", parts=(Part(kind="image", url=f"https://example.com/a.png?key={KEY}"),))
    assert said == [SAID.format("attachment 1")]


async def test_a_blocked_prompt_that_is_tried_again_is_not_dropped(store: Store) -> None:
    session, _ = session_with("warn", store)
    session.model = ScriptedModel().fail(ModelError("gone"))
    with pytest.raises(RunError):
        await session.ask(KEY)
    identity = session.conversation.conversation_id
    session.close()
    again = Session(
        library=store,
        writer=store.open(identity),
        model=ScriptedModel("Yes."),
        settings=ChatSettings(secrets="block"),
    )
    before = again.conversation
    for attempt in (resuming.try_again(again), resuming.resume(again)):
        with pytest.raises(ConfigurationError, match="not sent"):
            await attempt
    assert again.conversation == before
    assert again.stop is not None
