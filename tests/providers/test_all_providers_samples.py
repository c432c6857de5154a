"""Every sample goes to every provider: streamed, whole and counted, its strict server takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from golem_cli.chat.request import without_refused
from golem_cli.core.history import leave_out_malformed_parts, repair
from golem_cli.core.message import Message
from golem_cli.core.model import CountingModel, ModelRequest, ModelResponse
from golem_cli.providers.anthropic import AnthropicModel
from tests.support.damaged_histories import PROMPT, SAMPLES
from tests.support.every_provider import EVERY, KEY, CallingServer, Provider, chat_completions

SMALL = "claude-haiku-4-5"
PROVIDERS = (
    *EVERY,
    chat_completions("perplexity"),
    chat_completions("groq"),
    replace(
        next(provider for provider in EVERY if provider.name == "anthropic"),
        name=SMALL,
        make=lambda url, **options: AnthropicModel(model=SMALL, base_url=url, api_key=KEY, **options),
    ),
)


def told(provider: Provider, response: ModelResponse) -> object:
    """What an answer tells alike streamed and whole: the servers count, and Gemini's signs, otherwise."""
    if provider.name == "openai-responses":
        return response
    return response.message.content if provider.name == "gemini" else response.message


@pytest.fixture(scope="module", params=PROVIDERS, ids=str)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Provider, CallingServer]]:
    """A provider and its strict server, which takes all samples one after the other."""
    with CallingServer(request.param) as running:
        yield request.param, running


@pytest.mark.parametrize("messages", SAMPLES)
async def test_every_sample_is_accepted_streamed_whole_and_counted(
    messages: list[Message], server: tuple[Provider, CallingServer]
) -> None:
    provider, running = server
    model = provider.make(running.url)
    carried, _ = without_refused(leave_out_malformed_parts(messages)[0], model)
    history = [message for message in repair(carried) if message.role != "system"]
    request = ModelRequest(messages=[*history, PROMPT])
    streamed = await model.stream(request, lambda _: None)
    whole = await model.complete(request)
    assert isinstance(model, CountingModel) is provider.counts
    counted = await model.count(request.messages) if isinstance(model, CountingModel) else 1
    await model.aclose()
    assert told(provider, streamed) == told(provider, whole)
    assert streamed.message.content == "Hello"
    assert counted > 0
