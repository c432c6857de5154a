"""The scripted model and the scripted tool keep their word: other people's tests lean on them."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from golem_cli.core.errors import ModelError, RunError
from golem_cli.core.message import Message
from golem_cli.core.model import Delta, ModelRequest, StreamingModel
from golem_cli.core.run import Agent
from golem_cli.testing import ScriptedModel, ScriptedTool, call

REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])


async def test_it_is_a_streaming_model_and_records_requests_in_order() -> None:
    model = ScriptedModel("a", "b")
    assert isinstance(model, StreamingModel)
    await model.complete(REQUEST)
    assert (model.requests, model.left) == ([REQUEST], 1)
    await model.aclose()
    assert model.closed


async def test_a_request_beyond_the_script_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="queue an outcome with respond, fail or hang"):
        await ScriptedModel().complete(REQUEST)


async def test_a_hanging_answer_goes_on_once_it_is_released() -> None:
    model = ScriptedModel().hang("at last")
    task = asyncio.create_task(Agent(model).run("go"))
    await model.until_hanging()
    assert not task.done()
    model.release()
    assert (await task).output == "at last"


async def test_each_hang_is_waited_for_anew() -> None:
    model = ScriptedModel().hang("first").hang("second")
    for asked in (1, 2):
        task = asyncio.create_task(model.complete(REQUEST))
        await model.until_hanging()
        assert len(model.requests) == asked
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def note(heard: list[str], delta: Delta) -> None:
    heard.append(delta.content)


async def test_fragments_join_to_the_whole_whatever_their_size() -> None:
    for size in range(5):
        heard: list[str] = []
        model = ScriptedModel("héllo", fragment_size=size)
        await Agent(model).run_stream("go", partial(note, heard))
        assert "".join(heard) == "héllo"
        assert all(len(piece) <= (size or 5) for piece in heard)


async def test_the_last_outcome_of_a_tool_serves_for_all_further_calls() -> None:
    tool = ScriptedTool("t", "first", "then")
    model = ScriptedModel().respond(tool_calls=[call(str(number), "t") for number in range(3)]).respond("x")
    result = await Agent(model, tools=[tool.tool]).run("go")
    assert [message.content for message in result.messages[2:5]] == ["first", "then", "then"]


async def test_a_scripted_failure_is_the_very_error() -> None:
    error = ModelError("down", status_code=500)
    with pytest.raises(RunError) as caught:
        await Agent(ScriptedModel().fail(error)).run("go")
    assert caught.value.cause is error
