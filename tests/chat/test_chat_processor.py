"""The chat's processors: never stuck, never over budget, and the cut stays where it is for many turns."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isawaitable
from itertools import pairwise

from golem_cli.chat.processor import in_turn, patient_budget, patient_trim
from golem_cli.core.history import HistoryProcessor, can_open_request
from golem_cli.core.message import Message, ToolCall


def turn(number: int) -> list[Message]:
    return [
        Message(role="user", content=f"question {number}"),
        Message(role="assistant", content=f"answer {number}"),
    ]


def loop(steps: int) -> list[Message]:
    messages = [Message(role="user", content="go")]
    for number in range(steps):
        call = ToolCall(id=f"c{number}", name="step", args="{}")
        messages.append(Message(role="assistant", tool_calls=(call,)))
        messages.append(Message(role="tool", content="ok", tool_call_id=call.id, tool_name="step"))
    return messages


def ten_each(messages: Sequence[Message]) -> int:
    return 10 * len(messages)


async def run(processor: HistoryProcessor, history: list[Message]) -> list[Message]:
    processed = processor(history)
    return await processed if isawaitable(processed) else processed


async def test_twenty_messages_of_one_tool_loop_go_back_to_its_prompt_and_say_so() -> None:
    said: list[str] = []
    history = [*turn(1), *loop(15)]
    kept = await run(patient_trim(20, said.append), history)
    assert kept == history[2:]
    assert len(said) == 1


async def test_a_history_that_nothing_can_open_leaves_the_prompt_alone() -> None:
    said: list[str] = []
    assert await run(patient_trim(2, said.append), loop(4)[1:]) == []
    assert len(said) == 1


async def test_five_hundred_turns_stay_within_the_budget() -> None:
    """A budget of 100 tokens at 10 a message: never more than 10 messages, opened by one that may."""
    said: list[str] = []
    processor = patient_budget(ten_each, 100, said.append)
    history: list[Message] = []
    first_kept: list[str] = []
    for number in range(500):
        kept = await run(processor, history)
        assert ten_each(kept) <= 100
        assert kept == history[len(history) - len(kept) :]
        assert not history or kept
        assert not kept or can_open_request(kept[0])
        first_kept.append(kept[0].content if kept else "")
        history += turn(number)
    moves = sum(before != after for before, after in pairwise(first_kept))
    assert moves <= 500 // 2, "the cut moves a page at a time, not with every turn"
    assert not said


async def test_a_newest_turn_over_budget_leaves_the_prompt_alone_and_says_so() -> None:
    said: list[str] = []
    assert await run(patient_budget(ten_each, 5, said.append), turn(1)) == []
    assert len(said) == 1


async def test_processors_in_turn_see_what_the_one_before_kept() -> None:
    said: list[str] = []
    both = in_turn(patient_trim(4, said.append), patient_budget(ten_each, 20, said.append))
    assert await run(both, [*turn(1), *turn(2), *turn(3)]) == turn(3)
