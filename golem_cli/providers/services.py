"""The services: one row each, and what is odd about those that speak OpenAI's chat-completions format.

Sources of the addresses and of what a service refuses: each service's public API documentation (OpenAI
reference "Chat completions" and "Responses"; OpenRouter "API reference"; Groq "OpenAI compatibility";
DeepSeek "Thinking mode"; Mistral "Chat completion", which refuses unknown fields; xAI, Together, Fireworks,
Cerebras, Perplexity and Cohere "OpenAI compatibility"; Ollama and LM Studio "OpenAI compatibility"; vLLM and
llama.cpp server manuals; OpenAI, Groq and Cerebras "Deprecations" and xAI "Migration guides" for the models
that are served; Anthropic "Models overview"; Gemini API docs "Gemini models"; Azure
"API version lifecycle", whose v1 API takes OpenAI's format and a key or a token as a bearer; Bedrock user
guide).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple


class Quirks(NamedTuple):
    """How a service departs from the common denominator of the chat-completions format.

    `length_field` bounds the answer's tokens. `seed_field` names the sampling seed. `stream_usage` says
    whether `stream_options` may be sent (without it the service reports usage on its own, or not at all).
    `call_id_length` is the exact number of letters and digits that an id of a tool call must have, 0 for any
    id. `send_reasoning` sends `reasoning_content` back, from a turn's first call on; all others refuse or
    ignore it. `order` is the order of roles: `bridged` has an assistant message between tool results and the
    user, and none at the end; `alternating` has strict turns without tool messages.
    """

    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed_field: Literal["seed", "random_seed"] = "seed"
    stream_usage: bool = True
    call_id_length: int = 0
    send_reasoning: bool = False
    order: Literal["free", "bridged", "alternating"] = "free"


class Service(NamedTuple):
    """A row: the short name that `--model NAME:MODEL` uses, where it is, and where its key comes from.

    `key_variables` are the environment variables to look at, in order; empty for a server that needs no key.
    `own_port` marks a local server whose port is its own, so that it may be looked for without being
    configured (a shared port such as 8000 or 8080 may be anything). `default_model` is the name that golem
    takes when only the service's key is set; a sensible, inexpensive one, "" where there is no telling.
    `protocol` is the format that it speaks. `beside` names the row whose server, key and settings it shares:
    it is the same service in another format, and never chosen or looked at by itself. `under` stands between
    the address that people write and the requests' own paths.
    """

    name: str
    title: str
    base_url: str
    base_url_variable: str
    key_variables: tuple[str, ...] = ()
    own_port: bool = False
    default_model: str = ""
    protocol: Literal["openai", "anthropic", "gemini", "responses", "bedrock"] = "openai"
    quirks: Quirks = Quirks()
    beside: str = ""
    under: str = ""

    @property
    def local(self) -> bool:
        """Whether its usual address is on this machine."""
        return not self.key_variables

    def root(self, address: str) -> str:
        """Where requests go when people write `address`, with or without what the service has under it.

        >>> find_service("azure").root("https://mine.openai.azure.com/")
        'https://mine.openai.azure.com/openai/v1'
        """
        address = address.strip().rstrip("/")
        return address if address.endswith(self.under) else address + self.under


LISTED_UNDER: Final = {"openai": "", "anthropic": "/v1", "gemini": "/v1beta", "responses": "", "bedrock": ""}
"""What stands between a base URL and `/models` in each protocol."""

SERVICES: Final[tuple[Service, ...]] = (
    Service(
        name="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        default_model="gpt-6.1-terra",
        quirks=Quirks(length_field="max_completion_tokens"),  # reasoning models refuse max_tokens
    ),
    Service(
        name="openai-responses",
        title="OpenAI, Responses API",
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        default_model="gpt-6.1-terra",
        protocol="responses",
        beside="openai",
    ),
    Service(
        name="anthropic",
        title="Anthropic",
        base_url="https://api.anthropic.com",
        base_url_variable="ANTHROPIC_BASE_URL",
        key_variables=("ANTHROPIC_API_KEY",),
        default_model="claude-haiku-5-5",
        protocol="anthropic",
    ),
    Service(
        name="gemini",
        title="Gemini",
        base_url="https://generativelanguage.googleapis.com",
        base_url_variable="GEMINI_BASE_URL",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        default_model="gemini-3.5-flash-lite",
        protocol="gemini",
    ),
    Service(
        name="azure",
        title="Azure OpenAI",
        base_url="",  # each resource has an address of its own, each model a deployment's name
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        key_variables=("AZURE_OPENAI_API_KEY",),
        quirks=Quirks(length_field="max_completion_tokens"),
        under="/openai/v1",
    ),
    Service(
        name="bedrock",
        title="AWS Bedrock",
        base_url="",  # each region has its own
        base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        protocol="bedrock",
    ),
    Service(
        name="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        base_url_variable="OPENROUTER_BASE_URL",
        key_variables=("OPENROUTER_API_KEY",),
        default_model="openrouter/auto",
    ),
    Service(
        name="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        base_url_variable="GROQ_BASE_URL",
        key_variables=("GROQ_API_KEY",),
        default_model="openai/gpt-oss-120b",
        quirks=Quirks(length_field="max_completion_tokens"),
    ),
    Service(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com",
        base_url_variable="DEEPSEEK_BASE_URL",
        key_variables=("DEEPSEEK_API_KEY",),
        default_model="deepseek-flash",
        quirks=Quirks(send_reasoning=True),
    ),
    Service(
        name="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        base_url_variable="MISTRAL_BASE_URL",
        key_variables=("MISTRAL_API_KEY",),
        default_model="mistral-small-latest",
        quirks=Quirks(seed_field="random_seed", stream_usage=False, call_id_length=9, order="bridged"),
    ),
    Service(
        name="xai",
        title="xAI",
        base_url="https://api.x.ai/v1",
        base_url_variable="XAI_BASE_URL",
        key_variables=("XAI_API_KEY",),
        default_model="grok-4.3",
    ),
    Service(
        name="together",
        title="Together",
        base_url="https://api.together.xyz/v1",
        base_url_variable="TOGETHER_BASE_URL",
        key_variables=("TOGETHER_API_KEY",),
        default_model="meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ),
    Service(
        name="fireworks",
        title="Fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        base_url_variable="FIREWORKS_BASE_URL",
        key_variables=("FIREWORKS_API_KEY",),
        default_model="accounts/fireworks/models/llama-v3p3-70b-instruct",
    ),
    Service(
        name="cerebras",
        title="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        base_url_variable="CEREBRAS_BASE_URL",
        key_variables=("CEREBRAS_API_KEY",),
        default_model="gpt-oss-120b",
        quirks=Quirks(length_field="max_completion_tokens"),
    ),
    Service(
        name="perplexity",
        title="Perplexity",
        base_url="https://api.perplexity.ai",
        base_url_variable="PERPLEXITY_BASE_URL",
        key_variables=("PERPLEXITY_API_KEY", "PPLX_API_KEY"),
        default_model="sonar",
        quirks=Quirks(stream_usage=False, order="alternating"),
    ),
    Service(
        name="cohere",
        title="Cohere",
        base_url="https://api.cohere.ai/compatibility/v1",
        base_url_variable="COHERE_BASE_URL",
        key_variables=("COHERE_API_KEY", "CO_API_KEY"),
        default_model="command-a-03-2025",
        quirks=Quirks(stream_usage=False),
    ),
    Service(
        name="ollama",
        title="Ollama",
        base_url="http://127.0.0.1:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        own_port=True,
    ),
    Service(
        name="lmstudio",
        title="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        own_port=True,
    ),
    Service(
        name="vllm",
        title="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        base_url_variable="VLLM_BASE_URL",
    ),
    Service(
        name="llamacpp",
        title="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        base_url_variable="LLAMACPP_BASE_URL",
    ),
    Service(
        name="generic",
        title="any other server that speaks the format",
        base_url="",
        base_url_variable="GOLEM_BASE_URL",
        key_variables=("GOLEM_API_KEY",),
    ),
)


def find_service(name: str) -> Service | None:
    """The row with that short name, or None.

    >>> find_service("groq").base_url
    'https://api.groq.com/openai/v1'
    """
    return next((service for service in SERVICES if service.name == name), None)
