"""The table of services."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.addresses import checked_base_url, is_loopback
from golem_cli.providers.anthropic.client import AnthropicModel
from golem_cli.providers.bedrock.client import BedrockModel
from golem_cli.providers.gemini.client import GeminiModel
from golem_cli.providers.openai.client import OpenAIModel
from golem_cli.providers.openai_responses.client import ResponsesModel
from golem_cli.providers.services import SERVICES, find_service


def test_every_service_of_the_product_page_has_a_row() -> None:
    names = {service.name for service in SERVICES}
    cloud = "openai openrouter groq deepseek mistral xai together fireworks cerebras perplexity cohere"
    local = "ollama lmstudio vllm llamacpp generic"
    own = "openai-responses anthropic gemini azure bedrock"
    assert names == {*cloud.split(), *own.split(), *local.split()}
    assert len(names) == len(SERVICES)


def test_keys_go_over_https_and_servers_without_keys_are_on_this_machine() -> None:
    for service in SERVICES:
        if service.name in {"generic", "azure", "bedrock"}:  # people write the address, or the region
            continue
        assert checked_base_url(service.base_url) == service.base_url
        assert is_loopback(service.base_url) is service.local
        assert service.local or service.base_url.startswith("https://")


def test_only_servers_with_a_port_of_their_own_are_looked_for() -> None:
    assert {service.name for service in SERVICES if service.own_port} == {"ollama", "lmstudio"}


def test_an_unknown_name_has_no_row() -> None:
    assert find_service("nobody") is None


def test_the_table_and_the_adapter_load_without_the_http_library() -> None:
    """Start-up must not pay for it: it is imported with the first request."""
    code = (
        "import sys; import golem_cli.providers.openai, golem_cli.providers.services;"
        "sys.exit('httpx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("client", [OpenAIModel, ResponsesModel, AnthropicModel, GeminiModel, BedrockModel])
def test_a_client_needs_the_name_of_a_model(client: Callable[..., object]) -> None:
    with pytest.raises(ConfigurationError, match="a model needs a name"):
        client(model=" ", base_url="http://127.0.0.1:9")
