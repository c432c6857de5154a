"""What a turn costs to save does not depend on how long the conversation is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from golem_cli.chat.session import utc_now
from golem_cli.chat.turn import Turn
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.message import Message
from golem_cli.core.run import Agent
from golem_cli.store.changes import Draft
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel


async def test_a_turn_never_puts_the_whole_conversation_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value of a conversation is a tuple of all its messages: to make it costs as many steps."""
    writer = Store(tmp_path).create()
    writer.save()
    made = 0
    value = Draft.__dict__["conversation"].fget

    def counted(draft: Draft) -> Conversation:
        nonlocal made
        made += 1
        whole: Conversation = value(draft)
        return whole

    monkeypatch.setattr(Draft, "conversation", property(counted))
    turn = Turn(
        writer=writer,
        conversation_id=writer.path.stem,
        run=RunRecord(run_id="r", prompt="hi", started_at=utc_now()),
        clock=utc_now,
    )

    async def prepare() -> tuple[Agent[Any, str], list[Message]]:
        return Agent(ScriptedModel("hello", fragment_size=1)), []

    result = await turn.take(prepare)
    assert (result.output, made) == ("hello", 0)
    assert [message.content for message in writer.conversation.messages] == ["hi", "hello"]
    writer.close()
