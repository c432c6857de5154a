"""One conversation with every provider: each takes it from the other, three times round; caches stay warm."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from golem_cli.chat import lineage
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.request import without_refused
from golem_cli.chat.session import Session
from golem_cli.core.codec import dump_messages, load_messages, load_transcript
from golem_cli.core.message import Message, Part
from golem_cli.core.run import Agent
from golem_cli.core.tool import RunContext, Tool, ToolResult
from golem_cli.store.store import Store
from tests.support.every_provider import CALL_ID, EVERY, TOOL, CallingServer, Provider, refusals

TRANSCRIPTS = Path(__file__).parent.parent.parent / "transcripts"
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
PDF = Part(kind="document", data="AAEC/+8=", media_type="application/pdf")
NOW = "2026-01-02T03:04:05.000Z"


async def look(context: RunContext[Any], args: str) -> ToolResult:
    return ToolResult(content="This is there:", parts=(IMAGE,))


LOOK = Tool(name=TOOL, description="Looks.", function=look)


async def go_on(provider: Provider, history: list[Message], *, number: int) -> list[Message]:
    """A run that calls the tool once; what it returns is the whole conversation."""
    with CallingServer(provider) as server:
        model = provider.make(server.url)
        server.wants_tool.set()
        taken, _ = without_refused(history, model)
        parts = tuple(part for part in (IMAGE, PDF)[: number % 3] if not model.refusal_of(part))
        result = await Agent(model, tools=[LOOK], settings=provider.settings).run_stream_with_history(
            taken, f"Prompt {number}", lambda _: None, parts=parts
        )
        await model.aclose()
    assert refusals(server) == []
    assert result.output == "Hello"
    return history + list(result.messages[len(taken) :])


async def test_a_conversation_goes_through_all_providers_three_times_round(tmp_path: Path) -> None:
    """Nobody refuses anything; the file grows at its end and stays as it was before."""
    file = tmp_path / "conversation.json"
    history: list[Message] = []
    file.write_bytes(dump_messages(history))
    for number in range(3 * len(EVERY)):
        before = file.read_bytes()
        provider = EVERY[number % len(EVERY)]
        history = await go_on(provider, load_messages(before), number=number)
        file.write_bytes(dump_messages(history))
        after = file.read_bytes()
        assert after.startswith(before.rstrip().removesuffix(b"]").rstrip()), provider.name
        assert [message.role for message in history[-3:]] == ["assistant", "tool", "assistant"], provider.name
    assert sum(message.role == "tool" for message in history) == 3 * len(EVERY)
    assert {call.id for message in history for call in message.tool_calls} == {CALL_ID}
    signed = {message.signed_by.partition(":")[0] for message in history if message.thinking}
    assert signed >= {"anthropic", "gemini", "openai-responses", "bedrock"}


def damaged() -> list[Message]:
    """What the samples hold of broken histories, one after the other."""
    names = ("interrupted-batch", "orphaned-results", "displaced-result", "truncated-arguments")
    files = [TRANSCRIPTS / f"{name}.json" for name in names]
    return [
        message
        for file in files
        for message in load_transcript(file.read_bytes(), salvage=True).messages
        if message.role != "system"
    ]


@pytest.mark.parametrize("provider", EVERY, ids=str)
async def test_each_request_begins_as_the_one_before_it_did(provider: Provider, tmp_path: Path) -> None:
    """50 turns behind a damaged history that is repaired for each request; resumed, then forked."""
    store = Store(tmp_path)
    start = lineage.start(now=NOW, instructions="Be brief.")
    broken = msgspec.structs.replace(start, messages=damaged())
    with CallingServer(provider) as server:
        session = session_of(store, store.create(broken), provider, server)
        for number in range(50):
            if number == 20:
                identity = session.conversation.conversation_id
                session.close()
                await session.model.aclose()
                session = session_of(store, store.open(identity), provider, server)
            if number == 35:
                session.fork()
            parts = (IMAGE,) if number % 10 == 0 else ()
            await session.ask(f"Prompt {number}", parts=parts)
        session.close()
        await session.model.aclose()
    assert refusals(server) == []
    bodies = server.accepted
    assert len(bodies) == 50
    for one, other in pairwise(bodies):
        assert provider.unmarked(other).startswith(provider.beginning(one))
    assert b"Prompt 0" in provider.beginning(bodies[1])


def session_of(store: Store, writer: Any, provider: Provider, server: CallingServer) -> Session:
    model = provider.make(server.url)
    return Session(library=store, writer=writer, model=model, settings=ChatSettings(trim=0))


@pytest.mark.parametrize("provider", [each for each in EVERY if each.counts], ids=str)
async def test_a_budget_bounds_what_a_model_with_a_counter_is_sent(
    provider: Provider, tmp_path: Path
) -> None:
    """The strict servers count the characters of the messages' JSON as tokens."""
    store = Store(tmp_path)
    with CallingServer(provider) as server:
        model = provider.make(server.url)
        writer = store.create(lineage.start(now=NOW))
        session = Session(library=store, writer=writer, model=model, settings=ChatSettings(budget=1500))
        for number in range(12):
            await session.ask(f"Prompt {number}: {'x' * 200}")
        kept = await session.preview()
        session.close()
        assert 0 < await model.count(kept.messages) <= 1500  # type: ignore[attr-defined]  # it has a counter
        await model.aclose()
    assert kept.hidden > 0
    assert refusals(server) == []


async def test_a_budget_waits_for_a_model_that_counts_and_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path)
    said: list[str] = []
    provider = EVERY[0]
    with CallingServer(provider) as server:
        writer = store.create(lineage.start(now=NOW))
        model = provider.make(server.url)
        session = Session(
            library=store, writer=writer, model=model, settings=ChatSettings(budget=9), notice=said.append
        )
        for _ in range(2):
            await session.ask("Hi")
        session.close()
        await model.aclose()
    assert said == ["the budget of 9 tokens waits: openai:m has no token counter"]
