"""Replaying wire vectors over a real loopback server: what a request sends, and what is made of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from golem_cli.core.errors import ModelError
from golem_cli.core.model import Delta, ModelResponse
from golem_cli.providers.anthropic import AnthropicModel
from golem_cli.providers.openai import OpenAIModel
from tests.support.http_server import HttpServer, Reply, free_port
from tests.support.wire_vectors import (
    HaltError,
    body_of,
    collector,
    expected_deltas,
    request_of,
    told_deltas,
)

Row = dict[str, Any]
Deltas = list[dict[str, Any]]


class Format(NamedTuple):
    """A wire format as the vectors were recorded: its adapter, the shortest answers, the words for no end."""

    model: type[AnthropicModel | OpenAIModel]
    whole: bytes
    streamed: bytes
    default_whole: str
    default_stream: str
    without_end: str


def vectors(name: str) -> list[Row]:
    """The rows of a file."""
    path = Path(__file__).parent.parent / "conformance" / name
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def parameters(rows: Sequence[Row], *, but: Mapping[str, str]) -> list[Any]:
    """A test's rows; those in `but`, with the reason, must differ from what the vectors say."""
    return [pytest.param(row, id=row["name"], marks=_differs(but.get(row["name"]))) for row in rows]


def _differs(reason: str | None) -> tuple[pytest.MarkDecorator, ...]:
    if reason is None:
        return ()
    otherwise = (AssertionError, ModelError, pytest.fail.Exception)
    return (pytest.mark.xfail(reason=reason, raises=otherwise, strict=True),)


def base_name(row: Row) -> str:
    """The name that a request has streamed and whole."""
    name: str = row["name"]
    return name.removeprefix("request ").removesuffix(" (stream)")


async def sent_body(form: Format, row: Row) -> Row:
    """The body that reaches a server for the row's request, with the row's headers and path checked."""
    spec = row["spec"]
    config = spec.get("config", {})
    reply = Reply(body=form.streamed if spec["stream"] else form.whole)
    with HttpServer([reply]) as server:
        model = form.model(
            model=config.get("model", "test-model"),
            base_url=server.url + config.get("baseSuffix", ""),
            api_key="sk-test",
        )
        if spec["stream"]:
            await model.stream(request_of(spec), lambda _: None)
        else:
            await model.complete(request_of(spec))
        await model.aclose()
    request = server.requests[0]
    expected = row["expect"]["request"]
    assert request.method == expected["method"]
    assert request.path == expected["path"].replace("//", "/")  # final slashes of the base mean nothing
    assert request.headers.items() >= expected["headers"].items()
    body: Row = json.loads(request.body)
    return body


async def check_answer(
    form: Format,
    row: Row,
    *,
    said: Callable[[Deltas], Deltas] = lambda deltas: deltas,
    made: Callable[[tuple[str, str, str]], bool] = lambda call: True,
) -> None:
    """Let the adapter read the row's answer and compare: the deltas that `said` leaves, the calls `made`."""
    expect, spec, deltas = row["expect"], row["spec"], list[Delta]()
    if "response" in expect:
        response = await _answer(form, spec, deltas)
        content = expect["response"]["message"]["content"]
        unit = spec.get("bodyRepeat", {"unit": "", "count": 0})
        assert response.message.content == content.replace("$REPEAT", unit["unit"] * unit["count"])
        calls = expect["response"]["message"].get("toolCalls") or ()
        expected = [(call["id"], call["name"], call["argsText"]) for call in calls]
        # ours keep the text verbatim; 0.6.0 trimmed it and wrote `{}` for none
        told = [(call.id, call.name, call.args.strip() or "{}") for call in response.message.tool_calls]
        assert told == [call for call in expected if made(call)]
        usage = expect["response"]["usage"]
        assert response.usage.input_tokens == usage["inputTokens"]
        assert response.usage.output_tokens == usage["outputTokens"]
    elif expect["error"]["type"] == "other":
        with pytest.raises(HaltError, match=expect["error"]["text"]):
            await _answer(form, spec, deltas)
    else:
        with pytest.raises(ModelError) as caught:
            await _answer(form, spec, deltas)
        error = expect["error"]
        # a stream that told neither why it ends nor the sentinel was dropped, and that may pass
        assert caught.value.retryable == (error["retryable"] or form.without_end in error["text"])
        assert (caught.value.status_code or 0) == error.get("statusCode", 0)
        assert caught.value.code == error.get("code", "")
        assert "\n" not in str(caught.value)
        assert "sk-test" not in str(caught.value)
    assert said(told_deltas(deltas)) == said(expected_deltas(expect, spec))


async def _answer(form: Format, spec: Row, deltas: list[Delta]) -> ModelResponse:
    default = form.default_stream if spec["stream"] else form.default_whole
    reply = Reply(
        status=spec.get("status", 200),
        headers={"Content-Type": "text/event-stream" if spec["stream"] else "application/json"},
        body=body_of(spec, default),
        end="cut" if spec.get("cut") else "finish",
    )
    with HttpServer([reply]) as server:
        port = free_port() if spec.get("refuse") else server.port
        model = form.model(model="m", base_url=f"http://127.0.0.1:{port}", api_key="sk-test")
        try:
            if spec["stream"]:
                return await model.stream(request_of(spec), collector(spec.get("onDelta", ""), deltas))
            return await model.complete(request_of(spec))
        finally:
            await model.aclose()
