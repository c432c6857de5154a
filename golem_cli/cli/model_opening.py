"""From a model's name to the model: its address and key from the environment and the settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from golem_cli.cli.model_choice import EMBEDDED
from golem_cli.cli.service_access import checked_address_of, configured_for, key_variable_of
from golem_cli.core.errors import ConfigurationError
from golem_cli.core.quote import quoted
from golem_cli.providers.services import SERVICES, find_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.chat.ports import ChatModel
    from golem_cli.cli.environment import Environment
    from golem_cli.providers.services import Service
    from golem_cli.store.settings import Settings

_SEVERAL: Final = re.compile(r",(?=\s*[a-z][a-z-]*:)")
"""A comma before another PROVIDER: a comma in the path of a file is none."""

_VERY_NEAR: Final = 0.85
"""A slip of one letter; `llama3:8b` lacks its provider and does not mean Ollama's model `8b`."""


class FoundModel(NamedTuple):
    """A model whose address and key, or file, are known: its whole name, and what makes it."""

    name: str
    make: Callable[[], ChatModel]


def open_model(name: str, settings: Settings, environment: Environment) -> ChatModel:
    """Find the model called `name` and make it."""
    return find_model(name, settings, environment).make()


def find_model(name: str, settings: Settings, environment: Environment) -> FoundModel:
    """Find the model called `name`, as in `openai:gpt-6.1-terra`, `local:` or `local:/path/to/model.gguf`.

    Several names with commas between are models to try in that order. Raises `ConfigurationError` that says
    what to set. The weights of the embedded model are fetched here,
    when they are not in the cache yet. An adapter is imported only when the model is made.
    """
    if name.strip() and name.strip(" ,") != name.strip():
        raise ConfigurationError(
            f"{quoted(name)} has a comma with no model beside it; a,b tries a first, then b"
        )
    names = names_in(name)
    if len(names) > 1:
        return _in_order([find_model(each, settings, environment) for each in names])
    provider, colon, model = name.partition(":")
    if not colon or not provider:
        raise ConfigurationError(f"a model is named PROVIDER:NAME; {_guess(model or provider)}")
    if provider == "local":
        return _embedded(model, environment)
    service = find_service(provider)
    if service is None:
        from difflib import get_close_matches

        near = get_close_matches(provider, provider_names(), n=1, cutoff=_VERY_NEAR)
        hint = f"did you mean {near[0]}:{model}?" if near else f"known are {', '.join(provider_names())}"
        raise ConfigurationError(
            f"a model is named PROVIDER:NAME, and there is no provider {provider}; {hint}"
        )
    if not model:
        raise ConfigurationError(f"which model of {service.title}? {_example(service)}")
    return _of_service(service, model, settings, environment)


def names_in(name: str) -> list[str]:
    """The names of the models that `name` lists with commas between; none in an empty one.

    >>> names_in("groq:x, local:/tmp/a,b.gguf")
    ['groq:x', 'local:/tmp/a,b.gguf']
    """
    return [each.strip() for each in _SEVERAL.split(name)] if name else []


def _in_order(found: Sequence[FoundModel]) -> FoundModel:
    def make() -> ChatModel:
        from golem_cli.chat.fallback import FallbackModel

        return FallbackModel([each.make() for each in found])

    return FoundModel(",".join(each.name for each in found), make)


def _of_service(service: Service, model: str, settings: Settings, environment: Environment) -> FoundModel:
    from golem_cli.providers.addresses import checked_key, is_loopback

    configured = configured_for(service, settings)
    base_url = checked_address_of(service, settings, environment.variables)
    if not base_url and service.protocol != "bedrock":  # which finds its region's
        raise ConfigurationError(f"where is the server? set {service.base_url_variable} to its address")
    key = environment.variables.get(key_variable_of(service, environment.variables), "")
    if not key and configured and configured.api_key_command:
        from golem_cli.store.settings.key_command import run_key_command

        key = run_key_command(configured.api_key_command, provider=service.name)
    has_home = service.base_url or service.under  # a server of one's own may need no key
    needs_key = service.key_variables and has_home
    if not key and needs_key and not is_loopback(base_url):
        raise ConfigurationError(
            f"{service.title} needs a key: set {service.key_variables[0]}, or api_key_command in "
            f"[providers.{service.name}] of the settings file"
        )
    place = service.root(base_url) if base_url else ""
    make = partial(_make_adapter, service, model, base_url=place, api_key=checked_key(key))
    return FoundModel(f"{service.name}:{model}", make)


def _make_adapter(service: Service, model: str, *, base_url: str, api_key: str) -> ChatModel:
    name = f"{service.name}:{model}"
    if service.protocol == "anthropic":
        from golem_cli.providers.anthropic import AnthropicModel

        return AnthropicModel(model=model, name=name, base_url=base_url, api_key=api_key)
    if service.protocol == "gemini":
        from golem_cli.providers.gemini import GeminiModel

        return GeminiModel(model=model, name=name, base_url=base_url, api_key=api_key)
    if service.protocol == "responses":
        from golem_cli.providers.openai_responses import ResponsesModel

        return ResponsesModel(model=model, name=name, base_url=base_url, api_key=api_key)
    if service.protocol == "bedrock":
        from golem_cli.providers.bedrock import BedrockModel

        return BedrockModel(model=model, name=name, base_url=base_url, api_key=api_key)
    from golem_cli.providers.openai import OpenAIModel

    return OpenAIModel(model=model, name=name, base_url=base_url, api_key=api_key, quirks=service.quirks)


def _embedded(path: str, environment: Environment) -> FoundModel:
    from golem_cli.cli.home import paths_of
    from golem_cli.cli.weights import fetched_weights
    from golem_cli.providers.local import SMOLLM2, LocalModel, check_gguf
    from golem_cli.providers.local.installed import check_installed
    from golem_cli.store.paths import user_path

    if path and path != SMOLLM2.name:
        file = user_path(path)
        check_gguf(file)
        check_installed()
        name = f"local:{file.absolute()}"  # resumed from any folder
    else:
        file, name = fetched_weights(paths_of(environment).cache, environment), f"local:{SMOLLM2.name}"
    return FoundModel(name, partial(LocalModel, file, name=name))


def model_names() -> tuple[str, ...]:
    """Names that completion offers."""
    defaults = (f"{each.name}:{each.default_model}" for each in SERVICES if each.default_model)
    return (EMBEDDED, *defaults, *(f"{each.name}:" for each in SERVICES if not each.default_model))


def provider_names() -> list[str]:
    """What may stand before the colon of a model's name."""
    return ["local", *(service.name for service in SERVICES)]


def _example(service: Service) -> str:
    if service.default_model:
        return f"for example {service.name}:{service.default_model}"
    if not service.local:
        return f"name it, as in {service.name}:NAME"
    return f"name it, as in {service.name}:NAME; golem models lists what a server on this machine has"


def _guess(name: str) -> str:
    from difflib import get_close_matches

    family, dash, _ = name.partition("-")
    related = [each.name for each in SERVICES if dash and each.default_model.startswith(f"{family}-")]
    if related:
        return f"did you mean {related[0]}:{name}?"
    near = get_close_matches(name, provider_names(), n=1, cutoff=_VERY_NEAR)
    service = find_service(near[0]) if near else None
    if near and service is None:
        return "did you mean local: ?"
    if service is not None:
        return f"did you mean {service.name}:{service.default_model or 'NAME'}?"
    return f"did you mean openai:{name or 'NAME'}?"
