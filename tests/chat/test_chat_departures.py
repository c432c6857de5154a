"""`/model`: what the new model gets of the history in another form, in one line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from golem_cli.chat import lineage
from golem_cli.chat.departures import departures_line
from golem_cli.chat.session import Session
from golem_cli.core.conversation import Conversation
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel

THOUGHT = ThinkingBlock(text="hm", signature="s")


def thought(text: str) -> Message:
    return Message(role="assistant", content=text, thinking=(THOUGHT,), signed_by="anthropic:claude-opus-4-8")


def user(text: str, *parts: Part) -> Message:
    return Message(role="user", content=text, parts=parts)


def conversation(*messages: Message) -> Conversation:
    start = lineage.start(now="2026-01-02T03:04:05.000Z", model="scripted:m")
    return msgspec.structs.replace(start, messages=messages)


def test_each_rule_is_named_once_with_its_messages_and_the_command_that_explains_it() -> None:
    call = ToolCall(id="call_1", name="ls", args="{}")
    kept = conversation(
        user("a"),
        thought("b"),
        user("c"),
        msgspec.structs.replace(thought(""), tool_calls=(call,)),
        Message(role="tool", content="d", tool_call_id="call_1", tool_name="ls"),
        thought("e"),
    )
    command = f"golem normalize --for mistral:small {kept.conversation_id}"
    assert departures_line(kept, "mistral:small", kept=True) == (
        "sent to mistral:small in another form, or not at all: unsent-thinking (messages 2, 4, 6); "
        f"call-id (message 4); why: {command}"
    )
    assert "golem normalize" not in departures_line(kept, "mistral:small", kept=False)


def test_long_lists_of_messages_are_cut() -> None:
    kept = conversation(*(message for _ in range(8) for message in (user("a"), thought("b"))))
    assert "unsent-thinking (messages 2, 4, 6, 8, 10 and 3 more)" in departures_line(
        kept, "openai:m", kept=False
    )


def test_the_command_works_when_it_is_pasted() -> None:
    kept = conversation(user("a"), thought("b"))
    assert "--for 'local:/my models/x.gguf' " in departures_line(kept, "local:/my models/x.gguf", kept=True)


def test_what_travels_as_it_is_is_not_mentioned() -> None:
    assert (
        departures_line(conversation(user("a"), thought("b")), "anthropic:claude-opus-4-8", kept=True) == ""
    )
    assert departures_line(conversation(user("a")), "scripted:m", kept=True) == ""
    refused = Part(kind="video", url="https://example.org/v.mp4")  # has a line of its own
    assert departures_line(conversation(user("a", refused)), "openai:m", kept=True) == ""


async def test_a_change_of_model_says_it_once(tmp_path: Path) -> None:
    said: list[str] = []
    store = Store(tmp_path)
    writer = store.create(conversation(user("a"), thought("b")))
    session = Session(library=store, writer=writer, model=ScriptedModel(), notice=said.append)
    for _ in range(2):
        await session.use_model(ScriptedModel(name="openai:m"))
    assert [line.partition(";")[0] for line in said] == [
        "sent to openai:m in another form, or not at all: unsent-thinking (message 2)"
    ]
    assert session.conversation.messages[1].thinking == (THOUGHT,)
