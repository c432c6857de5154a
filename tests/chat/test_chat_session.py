"""A session: prompts on disk first, every end of a run kept, forks and cuts that lose nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from golem_cli.chat import lineage, resuming
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.session import Session
from golem_cli.core import recovery
from golem_cli.core.canceled import RunCanceled
from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.errors import ConfigurationError, ModelError, RunError
from golem_cli.core.identity import new_id
from golem_cli.core.message import Message, Part, ToolCall
from golem_cli.core.run import RetryWait
from golem_cli.core.run_status import DONE, DROPPED, FAILED, INTERRUPTED
from golem_cli.core.tool import RunContext, Tool
from golem_cli.store.store import Store
from golem_cli.testing import ScriptedModel

NOW = "2026-01-02T03:04:05.000Z"


def make_session(
    store: Store, model: ScriptedModel, *, settings: ChatSettings | None = None, said: list[str] | None = None
) -> Session:
    writer = store.create(lineage.start(now=NOW, model=model.name))
    notices = [] if said is None else said
    return Session(library=store, writer=writer, model=model, settings=settings, notice=notices.append)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


async def test_two_turns_chain_into_one_conversation(store: Store) -> None:
    session = make_session(store, ScriptedModel("Hello!", "Fine."))
    await session.ask("Hi")
    await session.ask("How are you?")
    session.close()
    kept = store.read(session.conversation.conversation_id)
    assert [(m.role, m.content) for m in kept.messages] == [
        ("user", "Hi"),
        ("assistant", "Hello!"),
        ("user", "How are you?"),
        ("assistant", "Fine."),
    ]
    assert {m.conversation_id for m in kept.messages} == {kept.conversation_id}
    assert [run.status for run in kept.runs] == [DONE, DONE]
    assert kept.messages[0].run_id == kept.runs[0].run_id != kept.runs[1].run_id
    assert kept.title == "Hi"


async def test_the_prompt_is_on_disk_before_it_is_sent(store: Store) -> None:
    seen: list[Conversation] = []

    class Looking(ScriptedModel):
        async def stream(self, request, on_delta):  # type: ignore[no-untyped-def]  # as the parent's
            seen.append(store.read(session.conversation.conversation_id))
            return await super().stream(request, on_delta)

    session = make_session(store, Looking("Hello!"))
    await session.ask("Hi there")
    assert seen[0].runs[0].prompt == "Hi there"
    assert seen[0].messages == ()


async def test_an_empty_prompt_is_refused_and_leaves_nothing(store: Store) -> None:
    session = make_session(store, ScriptedModel())
    with pytest.raises(ConfigurationError, match="empty"):
        await session.ask("  \n ")
    assert store.ids() == []


async def test_a_run_that_fails_at_once_keeps_its_prompt_in_the_record(store: Store) -> None:
    model = ScriptedModel()
    model.fail(ModelError("no such model", status_code=404))
    model.respond("Here I am.")
    session = make_session(store, model)
    with pytest.raises(RunError):
        await session.ask("Are you there?")
    run = session.conversation.runs[0]
    assert (run.status, run.stage, run.prompt) == (FAILED, "model", "Are you there?")
    assert run.requests == 1, "the failed attempt counts"
    assert "no such model" in run.error
    assert not session.conversation.messages
    assert session.stop is not None
    assert session.stop.where == "before the first word"
    result = await resuming.resume(session)
    assert result.output == "Here I am."
    assert [m.content for m in session.conversation.messages] == ["Are you there?", "Here I am."]


async def test_a_failed_run_with_completed_turns_resumes_from_them(store: Store) -> None:
    async def look(context: RunContext[object], args: str) -> str:
        return "sunny"

    model = ScriptedModel()
    model.respond("Let me look.", tool_calls=[ToolCall(id="c1", name="look", args="{}")])
    model.fail(ModelError("gone", retryable=True))
    model.respond("Sunny.")
    tools = (Tool(name="look", description="look", function=look),)
    session = make_session(store, model, settings=ChatSettings(tools=tools))
    with pytest.raises(RunError):
        await session.ask("What is the weather?")
    assert [m.role for m in session.conversation.messages] == ["user", "assistant", "tool"]
    assert session.conversation.runs[0].prompt == ""
    await resuming.resume(session)
    assert [m.content for m in session.conversation.messages][-2:] == ["continue", "Sunny."]
    sent = model.requests[-1].messages
    assert [m.role for m in sent] == ["user", "assistant", "tool", "user"]


async def stop_in_mid_answer(session: Session, model: ScriptedModel, prompt: str) -> None:
    task = asyncio.create_task(session.ask(prompt))
    await model.until_hanging()
    task.cancel()
    with pytest.raises(RunCanceled):
        await task


async def test_a_stopped_answer_becomes_messages_with_the_next_prompt(store: Store) -> None:
    model = ScriptedModel(fragment_size=4).hang("Once upon a time").respond("As you wish.")
    session = make_session(store, model)
    await stop_in_mid_answer(session, model, "Tell me a story")
    run = session.conversation.runs[0]
    assert (run.status, run.prompt) == (INTERRUPTED, "Tell me a story")
    assert run.partial_text == "Once upon a time"
    assert not session.conversation.messages
    await session.ask("Stop")
    first, second, third, _ = session.conversation.messages
    assert (first.content, third.content) == ("Tell me a story", "Stop")
    assert second.interrupted
    assert second.content == run.partial_text
    assert {first.run_id, second.run_id} == {run.run_id}
    assert [m.content for m in model.requests[-1].messages] == ["Tell me a story", run.partial_text, "Stop"]


async def test_what_a_stopped_run_left_is_seen_counted_and_numbered(store: Store) -> None:
    model = ScriptedModel("One.").hang("Once upon a time")
    session = make_session(store, model)
    await session.ask("1")
    await stop_in_mid_answer(session, model, "Tell me a story")
    assert len(session.conversation.messages) == 2
    assert [m.content for m in session.seen.messages] == ["1", "One.", "Tell me a story", "Once upon a time"]
    assert session.seen.messages[3].interrupted
    assert session.seen == session.seen, "looking changes nothing"
    assert store.summaries()[0].message_count == 4


async def test_a_failed_run_is_seen_until_the_next_prompt_goes_without_it(store: Store) -> None:
    model = ScriptedModel().fail(ModelError("refused")).respond("Hello.")
    session = make_session(store, model)
    with pytest.raises(RunError):
        await session.ask("bad")
    assert [m.content for m in session.seen.messages] == ["bad"]
    assert store.summaries()[0].message_count == 1
    await session.ask("good")
    assert [m.content for m in session.seen.messages] == ["good", "Hello."]


async def test_going_back_to_what_a_stopped_run_left_keeps_the_whole_as_a_fork(store: Store) -> None:
    model = ScriptedModel("One.").hang("Once upon a time")
    session = make_session(store, model)
    await session.ask("1")
    await stop_in_mid_answer(session, model, "Tell me a story")
    whole = session.seen.messages
    left = session.rewind(3)
    assert session.seen.messages == whole[:3]
    assert [m.content for m in recovery.settle(store.read(left)).messages] == [m.content for m in whole]
    assert session.rewind(3) == "", "there is nothing to leave behind"
    assert len(store.ids()) == 2


async def test_the_prompt_of_a_stopped_run_can_be_taken_back_by_its_number(store: Store) -> None:
    model = ScriptedModel("One.").hang("Once upon a time")
    session = make_session(store, model)
    await session.ask("1")
    await stop_in_mid_answer(session, model, "Tell me a story")
    assert session.take_back(3).content == "Tell me a story"
    assert [m.content for m in session.seen.messages] == ["1", "One."]
    assert session.stop is None


async def test_a_fork_may_end_within_what_a_stopped_run_left(store: Store) -> None:
    model = ScriptedModel().hang("Once upon a time").respond("Sure.")
    session = make_session(store, model)
    await stop_in_mid_answer(session, model, "Tell me a story")
    session.fork(1)
    assert [m.content for m in session.seen.messages] == ["Tell me a story"]
    await session.ask("a short one")
    assert [m.content for m in model.requests[-1].messages] == ["Tell me a story", "a short one"]


async def test_dropping_a_stopped_turn_keeps_its_record(store: Store) -> None:
    model = ScriptedModel().hang("Once upon a time").respond("Hello.")
    session = make_session(store, model)
    await stop_in_mid_answer(session, model, "Tell me a story")
    session.drop_stopped()
    assert session.conversation.runs[0].status == DROPPED
    assert session.conversation.runs[0].prompt == "Tell me a story"
    await session.ask("Hi")
    assert [m.content for m in model.requests[-1].messages] == ["Hi"]


async def test_after_a_dropped_turn_there_is_nothing_to_go_on_with(store: Store) -> None:
    model = ScriptedModel().respond("Hello.").hang("Once upon a time").respond("Well.")
    session = make_session(store, model)
    await session.ask("Hi")
    await stop_in_mid_answer(session, model, "Tell me a story")
    session.drop_stopped()
    kept = session.conversation
    for going_on in (resuming.resume, resuming.go_on):
        with pytest.raises(ConfigurationError, match="the last turn was dropped"):
            await going_on(session)
    assert session.conversation == kept
    await resuming.go_on(session, "something else")
    assert [m.content for m in model.requests[-1].messages] == ["Hi", "Hello.", "something else"]


async def test_retry_leaves_the_old_answer_behind_as_a_complete_fork(store: Store) -> None:
    said: list[str] = []
    session = make_session(store, ScriptedModel("First.", "Second."), said=said)
    await session.ask("Pick one")
    old = session.conversation
    await resuming.try_again(session)
    assert session.conversation.conversation_id == old.conversation_id
    assert [m.content for m in session.conversation.messages] == ["Pick one", "Second."]
    (left,) = [each for each in store.ids() if each != old.conversation_id]
    assert store.read(left).messages == old.messages
    assert store.read(left).forked_from == old.conversation_id
    assert any(left in line for line in said)


async def test_a_fork_has_a_new_id_and_the_same_messages(store: Store) -> None:
    session = make_session(store, ScriptedModel("One.", "Two.", "Three."))
    await session.ask("1")
    await session.ask("2")
    parent = session.fork(2)
    child = session.conversation
    assert child.conversation_id != parent
    assert child.forked_from == parent
    assert child.messages == store.read(parent).messages[:2]
    await session.ask("3")
    assert session.conversation.messages[-1].conversation_id == child.conversation_id
    assert session.conversation.messages[0].conversation_id == parent, "supplied history keeps its stamps"


async def test_that_messages_stay_behind_is_told_once_and_with_numbers(store: Store) -> None:
    """With the third prompt the first 2 of 4 messages stay behind; with the fourth it is no news."""
    told: list[tuple[int, int]] = []
    said: list[str] = []
    model = ScriptedModel("1", "2", "3", "4")
    session = make_session(store, model, settings=ChatSettings(trim=2), said=said)
    session.first_hidden = lambda hidden, total: told.append((hidden, total))
    for number in range(4):
        await session.ask(str(number))
    assert (told, said) == ([(2, 4)], [])


async def test_there_is_nothing_to_fork_or_to_resume_before_the_first_prompt(store: Store) -> None:
    session = make_session(store, ScriptedModel())
    with pytest.raises(ConfigurationError, match="nothing to fork yet"):
        session.fork()
    with pytest.raises(ConfigurationError, match="nothing to resume yet"):
        await resuming.resume(session)
    assert store.ids() == []


class TenEach(ScriptedModel):
    """A scripted model whose messages are ten tokens each."""

    async def count(self, messages: Sequence[Message]) -> int:
        """Ten for each."""
        return 10 * len(messages)


@pytest.mark.parametrize("status", [FAILED, INTERRUPTED, DONE])
async def test_continue_never_goes_alone(store: Store, status: str) -> None:
    """A prompt and its half answer are 10 tokens each: of a budget of 9 nothing of them would go along."""
    left = Conversation(
        conversation_id=new_id(),
        model="scripted",
        messages=(
            (Message(role="user", content="Q"), Message(role="assistant", content="A"))
            if status == DONE
            else ()
        ),
        runs=(RunRecord(run_id="r", status=status, prompt="Q", partial_text="A"),) if status != DONE else (),
    )
    model = TenEach("Fine.", "On.")
    session = Session(library=store, writer=store.create(left), model=model, settings=ChatSettings(budget=9))
    before = session.conversation
    with pytest.raises(ConfigurationError, match=r"nothing .* fits into the budget of 9 tokens; allow more"):
        await (resuming.go_on(session) if status == DONE else resuming.resume(session))
    assert session.conversation is before
    assert not model.requests
    session.writer.update(settings=ConversationSettings(budget=10))
    await (resuming.go_on(session) if status == DONE else resuming.resume(session))
    assert [m.content for m in model.requests[-1].messages] == ["A", "continue"]


async def test_words_of_ones_own_may_go_alone(store: Store) -> None:
    model = TenEach("Fine.", "Tea, then.")
    session = make_session(store, model, settings=ChatSettings(budget=9))
    await session.ask("Coffee?")
    await resuming.go_on(session, "Tea?")
    assert [m.content for m in model.requests[-1].messages] == ["Tea?"]


async def test_trimming_decides_what_is_sent_never_what_is_kept(store: Store) -> None:
    history = [
        Message(role="user" if number % 2 else "assistant", content=str(number)) for number in range(1, 61)
    ]
    start = lineage.start(now=NOW, settings=ConversationSettings(trim=20))
    model = ScriptedModel("Done.")
    session = make_session(store, model)
    session.go_to(store.create(start))
    session.writer.replace(msgspec.structs.replace(start, messages=tuple(history)))
    await session.ask("61")
    sent = model.requests[-1].messages
    assert [m.content for m in sent] == [str(number) for number in range(41, 62)]
    assert len(session.conversation.messages) == 62
    preview = await session.preview()
    assert len(preview.messages) == 20
    assert preview.hidden == 42


async def test_a_chat_whose_newest_messages_are_one_tool_loop_goes_on(store: Store) -> None:
    loop = [Message(role="user", content="go")]
    for number in range(15):
        call = ToolCall(id=f"c{number}", name="step", args="{}")
        loop.append(Message(role="assistant", tool_calls=(call,)))
        loop.append(Message(role="tool", content="ok", tool_call_id=call.id, tool_name="step"))
    said: list[str] = []
    model = ScriptedModel("Finished.")
    session = make_session(store, model, said=said)
    session._replace_messages(loop)
    await session.ask("and?")
    assert model.requests[-1].messages[0].content == "go"
    assert len(model.requests[-1].messages) == 32
    assert any("one tool loop" in line for line in said)


async def test_one_bad_part_does_not_brick_the_conversation(store: Store) -> None:
    said: list[str] = []
    model = ScriptedModel("I see.")
    session = make_session(store, model, said=said)
    session._replace_messages(
        [Message(role="user", content="look", parts=(Part(kind="image", data="!!", media_type="image/png"),))]
    )
    await session.ask("Well?")
    assert model.requests[-1].messages[0].parts == ()
    assert session.conversation.messages[0].parts[0].data == "!!"
    assert any("message 1, part 1" in line for line in said)


async def test_a_retry_wait_is_said(store: Store) -> None:
    said: list[str] = []
    session = make_session(store, ScriptedModel(), said=said)
    session._say_wait(
        RetryWait(seconds=2.0, attempt=1, error=ModelError("busy"), run_id="r", conversation_id="c")
    )
    assert said == ["busy; trying again in 2.0 s"]


class TextOnly(ScriptedModel):
    """A model that takes no pictures."""

    def refusal_of(self, part: Part) -> str:
        """Every part is refused."""
        return f"no {part.kind} part"


async def test_a_change_of_model_says_what_it_cannot_take_and_sends_the_rest(store: Store) -> None:
    said: list[str] = []
    session = make_session(store, ScriptedModel("A cat."), said=said)
    await session.ask("What is this?", parts=[Part(kind="image", url="https://example.org/cat.png")])
    chosen = TextOnly("A small one.", name="scripted:text")
    await session.use_model(chosen)
    assert said == ["left out of the request: message 1: no image part"]
    await session.ask("What kind?")
    first = chosen.requests[0].messages[0]
    assert (first.content, first.parts) == ("What is this?", ())
    assert len(said) == 1, "it is said once"
    assert session.conversation.messages[0].parts, "what is kept does not change"


async def test_text_that_came_before_the_stream_fell_silent_is_on_disk_within_a_second(store: Store) -> None:
    model = ScriptedModel(fragment_size=4).hang("one two three")
    session = make_session(store, model)
    task = asyncio.create_task(session.ask("Count"))
    await model.until_hanging()
    kept = ""
    while kept != "one two three":  # the test's own time limit is that of the whole run
        await asyncio.sleep(0.02)
        kept = store.read(session.conversation.conversation_id).runs[0].partial_text
    task.cancel()
    with pytest.raises(RunCanceled):
        await task
