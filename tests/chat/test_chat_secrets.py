"""The guard: a key in a prompt is pointed out or refused before anything of it is kept or sent."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

import pytest

from golem_cli.chat import lineage, resuming
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.secret_guard import Origins, SecretPolicy
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


async def test_what_went_with_an_earlier_prompt_is_not_said_again(store: Store) -> None:
    """Its instructions, its attachments, and a prompt whose run failed before it left a message."""
    session, said = session_with("warn", store, instructions=f"Use {OTHER}.")
    identity = session.conversation.conversation_id
    data = base64.b64encode(f"\x00\xff{KEY}".encode("latin-1")).decode()
    part = Part(kind="document", data=data, media_type="application/pdf")
    session.model = ScriptedModel().fail(ModelError("gone"))
    with pytest.raises(RunError):
        await session.ask("this", parts=(part,))
    assert len(said) == 2
    session.close()
    for _ in range(2):
        said = []
        again = Session(
            library=store, writer=store.open(identity), model=ScriptedModel("Yes."), notice=said.append
        )
        await again.ask("and this", parts=(part,))
        again.close()
        assert said == []


async def test_new_instructions_are_pointed_out_when_they_are_given(store: Store) -> None:
    """Whoever leaves then, and goes on in another process, has been told."""
    session, said = session_with("warn", store)
    await session.ask("hi")
    session.instruct(f"Use {OTHER}.")
    told = ["what looks like a Groq key stands in the instructions, line 1; it is sent as it is"]
    assert said == told
    await session.ask("hi")
    session.close()
    writer = store.open(session.conversation.conversation_id)
    await Session(library=store, writer=writer, model=ScriptedModel("Yes."), notice=said.append).ask("hi")
    assert said == told


async def test_instructions_with_a_key_are_not_kept_where_it_is_refused(store: Store) -> None:
    session, _ = session_with("block", store, instructions="Be kind.")
    await session.ask("hi")
    with pytest.raises(ConfigurationError, match="not kept: what looks like a Groq key stands in the instr"):
        session.instruct(f"Be kind.\nUse {OTHER}.")
    assert session.conversation.instructions == "Be kind."
    assert not any(OTHER.encode() in path.read_bytes() for path in store.conversations.iterdir())


async def test_trying_again_says_nothing_twice(store: Store) -> None:
    session, said = session_with("warn", store)
    await session.ask(KEY)
    await resuming.try_again(session)
    assert [line for line in said if "left behind" not in line] == [SAID.format("the prompt, line 1")]


async def test_a_key_from_a_file_is_placed_in_it_by_name_and_line(store: Store) -> None:
    session, said = session_with("warn", store)
    prompt = f"Look\n\na.txt:\n\nnothing\n\nb.txt:\n\nfirst\n{KEY}"
    texts = ((prompt.index("nothing"), "a.txt"), (prompt.index("first"), "b.txt"))
    data = base64.b64encode(OTHER.encode()).decode()
    part = Part(kind="document", data=data, media_type="application/pdf")
    await session.ask(prompt, parts=(part,), origins=Origins(texts, ("c.pdf",)))
    assert said == [
        SAID.format("b.txt, line 2"),
        "what looks like a Groq key stands in c.pdf; it is sent as it is",
    ]


async def test_the_name_of_a_file_that_holds_a_key_is_not_shown(store: Store) -> None:
    session, said = session_with("warn", store)
    await session.ask(f"x:\n\n{OTHER}", origins=Origins(((4, f"{KEY}.txt"),)))
    assert said == ["what looks like a Groq key stands in a file, line 1; it is sent as it is"]
