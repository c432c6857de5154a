"""Several models as one, over real servers: which of them answers, and what the person is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from golem_cli.chat import lineage
from golem_cli.chat.chat_settings import ChatSettings
from golem_cli.chat.fallback import FallbackModel
from golem_cli.chat.session import Session
from golem_cli.core.errors import HistoryError, ModelError, RunError
from golem_cli.core.message import Message, Part
from golem_cli.core.model import Delta, ModelRequest, WindowedModel
from golem_cli.core.price import Rates
from golem_cli.core.usage import UsageLimit
from golem_cli.providers.openai import OpenAIModel
from golem_cli.store.store import Store
from tests.support.http_server import HttpServer, Reply

NOW = "2026-01-02T03:04:05.000Z"
REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])
SSE = {"Content-Type": "text/event-stream"}
USAGE = {"prompt_tokens": 1000, "completion_tokens": 500}
IMAGE = Part(kind="image", data="AAEC/+8=", media_type="image/png")
VIDEO = Part(kind="video", url="https://example.com/a.mp4")


def answer(text: str) -> Reply:
    chunk = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}], "usage": USAGE}
    return Reply(headers=SSE, body=b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n")


def failure(status: int, **headers: str) -> Reply:
    return Reply(status=status, headers=headers, body=b'{"error": {"message": "no"}}')


BROKEN = Reply(headers=SSE, body=b'data: {"choices": [{"delta": {"content": "Hel"}}]}\n\n', end="cut")


@pytest.fixture
def servers() -> Iterator[tuple[HttpServer, HttpServer]]:
    with HttpServer() as first, HttpServer() as second:
        yield first, second


def both(servers: tuple[HttpServer, HttpServer], said: list[str] | None = None) -> FallbackModel:
    models = [
        OpenAIModel(model="m", name=f"{name}:m", base_url=server.url)
        for name, server in zip("ab", servers, strict=True)
    ]
    return FallbackModel(models, notice=(said if said is not None else []).append)


async def test_the_first_that_answers_is_the_only_one_asked(servers: tuple[HttpServer, HttpServer]) -> None:
    servers[0].reply(answer("from a"))
    model = both(servers)
    response = await model.stream(REQUEST, lambda _: None)
    await model.aclose()
    assert (response.message.content, model.answering.name, model.name) == ("from a", "a:m", "a:m,b:m")
    assert servers[1].requests == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [401, 404, 429, 500])
async def test_one_that_fails_before_its_first_word_is_followed_by_the_next(
    servers: tuple[HttpServer, HttpServer], status: int, stream: bool
) -> None:
    servers[0].reply(failure(status))
    servers[1].reply(answer("from b"))
    said: list[str] = []
    heard: list[Delta] = []
    model = both(servers, said)
    if stream:
        response = await model.stream(REQUEST, heard.append)
        assert heard == [Delta(content="from b")]
        assert (response.message.content, model.answering.name) == ("from b", "b:m")
    else:
        with pytest.raises(ModelError):  # the second answers in events, which a whole answer is not
            await model.complete(REQUEST)
    await model.aclose()
    assert said[0].startswith("a:m (127.0.0.1:")
    assert said[0].endswith("; asking b:m")


async def test_one_that_fails_after_its_first_word_is_not_followed(
    servers: tuple[HttpServer, HttpServer],
) -> None:
    servers[0].reply(BROKEN)
    model = both(servers)
    with pytest.raises(ModelError, match="dropped"):
        await model.stream(REQUEST, lambda _: None)
    await model.aclose()
    assert servers[1].requests == []


async def test_when_all_fail_the_error_tells_of_each_and_may_be_tried_again_if_any_may(
    servers: tuple[HttpServer, HttpServer],
) -> None:
    servers[0].reply(failure(401))
    servers[1].reply(failure(429, **{"Retry-After": "7"}))
    model = both(servers)
    with pytest.raises(ModelError) as caught:
        await model.stream(REQUEST, lambda _: None)
    await model.aclose()
    assert "a:m (" in str(caught.value)
    assert "; b:m (" in str(caught.value)
    assert (caught.value.retryable, caught.value.retry_after) == (True, 7)


async def test_a_wait_is_the_shortest_that_was_asked_for(servers: tuple[HttpServer, HttpServer]) -> None:
    for server, seconds in zip(servers, ("30", "5"), strict=True):
        server.reply(failure(429, **{"Retry-After": seconds}))
    model = both(servers)
    with pytest.raises(ModelError) as caught:
        await model.stream(REQUEST, lambda _: None)
    await model.aclose()
    assert caught.value.retry_after == 5


class TextOnly(OpenAIModel):
    """A model that takes no parts, as the embedded one."""

    def refusal_of(self, part: Part) -> str:
        """Why not."""
        return f"{self.name} takes text only"


async def test_what_one_cannot_take_is_left_out_for_that_one_alone(
    servers: tuple[HttpServer, HttpServer],
) -> None:
    servers[0].reply(failure(500))
    servers[1].reply(answer("ok"))
    said: list[str] = []
    models = [
        OpenAIModel(model="m", name="a:m", base_url=servers[0].url),
        TextOnly(model="m", name="b:m", base_url=servers[1].url),
    ]
    model = FallbackModel(models, notice=said.append)
    assert model.refusal_of(IMAGE) == ""
    assert model.refusal_of(VIDEO) == "chat completions cannot carry a video part"
    await model.stream(
        ModelRequest(messages=[Message(role="user", content="look", parts=(IMAGE,))]), lambda _: None
    )
    await model.aclose()
    first, second = (json.loads(server.requests[0].body)["messages"][0]["content"] for server in servers)
    assert [block["type"] for block in first] == ["text", "image_url"]
    assert second == "look"
    assert said[1] == "left out of the request to b:m: message 1: b:m takes text only"


async def test_a_history_that_none_can_send_is_the_historys_fault(
    servers: tuple[HttpServer, HttpServer],
) -> None:
    model = both(servers)
    system = Message(role="system", content="x", parts=(IMAGE,))
    with pytest.raises(HistoryError, match="a message of role system cannot carry parts"):
        await model.stream(ModelRequest(messages=[system]), lambda _: None)
    await model.aclose()


def test_several_models_know_no_window(servers: tuple[HttpServer, HttpServer]) -> None:
    assert not isinstance(both(servers), WindowedModel)


def session_of(store: Store, model: FallbackModel, settings: ChatSettings, said: list[str]) -> Session:
    writer = store.create(lineage.start(now=NOW, model=model.name))
    return Session(library=store, writer=writer, model=model, settings=settings, notice=said.append)


async def test_a_run_is_recorded_and_priced_as_the_model_that_answered(
    servers: tuple[HttpServer, HttpServer], tmp_path: Path
) -> None:
    servers[0].reply(failure(500))
    servers[1].reply(answer("from b"))
    said: list[str] = []
    prices = {"a:m": Rates(input=1000, output=1000), "b:m": Rates(input=2, output=8)}
    model = both(servers)
    session = session_of(Store(tmp_path), model, ChatSettings(prices=prices), said)
    result = await session.ask("hi")
    await model.aclose()
    assert result.cost == pytest.approx(1000 * 2e-6 + 500 * 8e-6)
    (run,) = session.conversation.runs
    assert (run.model, run.cost, session.conversation.model) == ("b:m", result.cost, "a:m,b:m")
    assert said[0].endswith("; asking b:m")


async def test_a_run_that_costs_more_than_its_bound_ends_and_keeps_the_answer(
    servers: tuple[HttpServer, HttpServer], tmp_path: Path
) -> None:
    servers[0].reply(answer("dear"))
    model = both(servers)
    settings = ChatSettings(
        prices={"a:m": Rates(input=0, output=1000)}, usage_limit=UsageLimit(cost=0.4), max_attempts=3
    )
    session = session_of(Store(tmp_path), model, settings, [])
    with pytest.raises(RunError, match=r"run exceeded the cost limit of 0\.4 \(used 0\.5\)"):
        await session.ask("hi")
    await model.aclose()
    assert [message.content for message in session.seen.messages] == ["hi", "dear"]
    assert session.conversation.runs[0].cost == 0.5


async def test_when_all_fail_the_run_waits_and_begins_with_the_first_again(
    servers: tuple[HttpServer, HttpServer], tmp_path: Path
) -> None:
    at_once = {"Retry-After": "0"}
    servers[0].reply(failure(503, **at_once), answer("from a"))
    servers[1].reply(failure(503, **at_once))
    said: list[str] = []
    model = both(servers)
    session = session_of(Store(tmp_path), model, ChatSettings(max_attempts=2), said)
    assert (await session.ask("hi")).output == "from a"
    await model.aclose()
    assert [len(server.requests) for server in servers] == [2, 1]
    assert said[1].endswith("; trying again in 0.0 s")


async def test_a_run_that_nobody_answered_is_recorded_for_all_of_them(
    servers: tuple[HttpServer, HttpServer], tmp_path: Path
) -> None:
    servers[0].reply(failure(401))
    servers[1].reply(answer("from b"), failure(401))
    model = both(servers)
    session = session_of(Store(tmp_path), model, ChatSettings(), [])
    await session.ask("hi")
    with pytest.raises(RunError):
        await session.ask("again")
    await model.aclose()
    assert [run.model for run in session.conversation.runs] == ["b:m", "a:m,b:m"]


async def test_a_bound_that_nobody_can_apply_is_said_once(
    servers: tuple[HttpServer, HttpServer], tmp_path: Path
) -> None:
    servers[0].reply(answer("ok"))
    said: list[str] = []
    model = both(servers)
    session = session_of(Store(tmp_path), model, ChatSettings(usage_limit=UsageLimit(cost=1)), said)
    await session.ask("hi")
    await session.ask("and again")
    await model.aclose()
    assert len(said) == 1
    assert said[0].startswith("max_cost cannot bound this: nothing tells what a:m costs")
