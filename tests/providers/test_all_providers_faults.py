"""What goes wrong on the way to a provider is one clear line with every adapter, and no key leaves for it."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from golem_cli.core.errors import ModelError
from golem_cli.core.message import Message
from golem_cli.core.model import ModelRequest, ModelResponse
from golem_cli.providers.http import Timeouts
from tests.support.every_provider import EVERY, KEY, Provider
from tests.support.http_server import HttpServer, Reply, Request, free_port

UNTRUSTED = Path(__file__).parent.parent / "support" / "untrusted.pem"
REQUEST = ModelRequest(messages=[Message(role="user", content="hi")])

pytestmark = [
    pytest.mark.parametrize("provider", EVERY, ids=str),
    pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"]),
]


async def ask(
    provider: Provider, url: str, *, stream: bool, timeouts: Timeouts | None = None
) -> ModelResponse:
    model = provider.make(url, timeouts=timeouts)
    try:
        return await (model.stream(REQUEST, lambda _: None) if stream else model.complete(REQUEST))
    finally:
        await model.aclose()


async def fault(
    provider: Provider, url: str, *, stream: bool, timeouts: Timeouts | None = None
) -> ModelError:
    """The error of a request: one line that names the model, and no key."""
    with pytest.raises(ModelError) as caught:
        await ask(provider, url, stream=stream, timeouts=timeouts)
    said = str(caught.value)
    assert said.startswith(provider.make(url).name + " (")
    assert "\n" not in said
    assert KEY[:8] not in said
    assert len(said) < 400
    return caught.value


async def test_a_host_that_nobody_reaches(provider: Provider, stream: bool) -> None:
    error = await fault(provider, f"http://127.0.0.1:{free_port()}", stream=stream)
    assert "cannot be reached (Connection refused)" in str(error)
    assert error.retryable
    assert error.status_code is None


@contextmanager
def untrusted_server() -> Iterator[str]:
    """A TLS server whose certificate nobody signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(UNTRUSTED)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    context.wrap_socket(connection, server_side=True).close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


async def test_a_certificate_that_nobody_trusts(provider: Provider, stream: bool) -> None:
    with untrusted_server() as url:
        error = await fault(provider, url, stream=stream)
    assert "its certificate is not trusted" in str(error)
    assert not error.retryable


async def test_a_proxy_that_refuses(
    provider: Provider, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpServer([Reply(status=403, framing="length")]) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        error = await fault(provider, "https://models.example", stream=stream)
    assert "the proxy refused (403 Forbidden)" in str(error)
    assert {request.method for request in proxy.requests} == {"CONNECT"}
    assert all(KEY not in value for request in proxy.requests for value in request.headers.values())


async def test_http_1_0_is_understood(provider: Provider, stream: bool) -> None:
    def respond(request: Request) -> Reply:
        reply = provider.respond(request)
        return Reply(status=reply.status, headers=reply.headers, body=reply.body, framing="close")

    with HttpServer(respond=respond) as server:
        response = await ask(provider, server.url, stream=stream)
    assert response.message.content == "Hello"


async def test_a_good_status_with_an_error_in_the_body(provider: Provider, stream: bool) -> None:
    body = b'{"error": {"message": "The quota is used up.", "code": "quota", "type": "quota"}}'
    with HttpServer([Reply(headers={"Content-Type": "application/json"}, body=body)]) as server:
        error = await fault(provider, server.url, stream=stream)
    assert "The quota is used up." in str(error)


async def test_a_redirect_to_another_host_gets_no_key(provider: Provider, stream: bool) -> None:
    with HttpServer([Reply(body=b"{}")]) as other:
        there = {"Location": f"{other.url}/elsewhere"}
        with HttpServer([Reply(status=307, headers=there, framing="length")]) as server:
            error = await fault(provider, server.url, stream=stream)
        assert f"redirects to 127.0.0.1:{other.port}; keys are not sent there" in str(error)
        assert other.connections == 0


async def test_a_page_where_an_answer_was_expected(provider: Provider, stream: bool) -> None:
    page = Reply(headers={"Content-Type": "text/html"}, body=b"<html><h1>Sign in</h1>")
    with HttpServer([page]) as server:
        error = await fault(provider, server.url, stream=stream)
    assert "answered 200 with a web page; check the base URL" in str(error)


async def test_an_answer_that_is_cut_off(provider: Provider, stream: bool) -> None:
    """Nothing is half an answer, and the request may be tried again."""
    headers = {"Content-Type": "application/json"}
    with HttpServer([Reply(headers=headers, body=b'{"a": ', framing="length", end="cut")]) as server:
        error = await fault(provider, server.url, stream=stream)
    assert "dropped before the answer was complete" in str(error)
    assert error.retryable


async def test_a_silent_server_runs_into_the_time_limit(provider: Provider, stream: bool) -> None:
    with HttpServer([Reply(silent=True)]) as server:
        error = await fault(provider, server.url, stream=stream, timeouts=Timeouts(read=0.05))
    assert "sent nothing within the time limit" in str(error)
    assert error.retryable
