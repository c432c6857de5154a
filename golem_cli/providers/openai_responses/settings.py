"""Length, sampling and reasoning of a request, checked against what the model is documented to take.

Source: OpenAI API reference, "Create a model response" (no seed, no stop sequences); OpenAI guides,
"Reasoning models" and "Latest model" (efforts; which take `temperature` and `top_p`); what the server says:
earendil-works/pi issue 6265 (at least 16 tokens), pydantic/pydantic-ai issues 2865 and 3326 (encrypted
reasoning is refused by models that do not reason), sourcebot-dev/sourcebot issue 454 (temperature).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.wire.checks import check_max_tokens, check_range

if TYPE_CHECKING:
    from golem_cli.core.model import ModelSettings
    from golem_cli.providers.wire.fields import Json

_LEAST_TOKENS: Final = 16
_UNREASONING: Final = re.compile(r"gpt-3|gpt-4|chatgpt|.*-chat", re.ASCII)
_ALWAYS: Final = re.compile(r"o\d", re.ASCII)
_FIRST: Final = re.compile(r"gpt-5(?!\.)", re.ASCII)
"""Models whose reasoning can be made short but not left out."""


def reasons(model: str) -> bool:
    """Whether `model` reasons: one that the rules do not know is taken for one of the newest, which do.

    >>> reasons("gpt-5-mini"), reasons("o3"), reasons("gpt-4.1"), reasons("gpt-5-chat-latest")
    (True, True, False, False)
    """
    return _UNREASONING.match(_bare(model)) is None


def settings_of(settings: ModelSettings, model: str) -> Json:
    """The fields for length, sampling and reasoning that are set. Raises `ConfigurationError`."""
    _check(settings)
    reasoning = _reasoning(settings, model)
    given: Json = {"temperature": settings.temperature, "top_p": settings.top_p}
    sampling = {name: value for name, value in given.items() if value is not None}
    if sampling and (_samples_nothing(model) or "summary" in reasoning):
        raise ConfigurationError(f"this model takes no {' and no '.join(sampling)} while it reasons")
    length = {} if settings.max_tokens is None else {"max_output_tokens": settings.max_tokens}
    return length | sampling | ({"reasoning": reasoning} if reasoning else {})


def _check(settings: ModelSettings) -> None:
    check_range("temperature", settings.temperature, 2)
    check_range("top_p", settings.top_p, 1)
    check_max_tokens(settings.max_tokens)
    if settings.max_tokens is not None and settings.max_tokens < _LEAST_TOKENS:
        raise ConfigurationError(
            f"max_tokens must be at least {_LEAST_TOKENS} with the Responses API, got {settings.max_tokens}"
        )
    for name, value in (("seed", settings.seed), ("stop sequences", settings.stop or None)):
        if value is not None:
            raise ConfigurationError(f"the Responses API takes no {name}: leave out, or use openai:")


def _reasoning(settings: ModelSettings, model: str) -> Json:
    """The `reasoning` of the request; empty for the model's default."""
    wish = settings.thinking
    if wish is None or (wish == "off" and not reasons(model)):
        return {}
    if not reasons(model):
        raise ConfigurationError("this model does not reason: leave out thinking")
    if wish == "adaptive":
        return {"summary": "auto"}
    if wish == "off":
        if _ALWAYS.match(_bare(model)):
            raise ConfigurationError("this model always reasons: thinking cannot be off")
        return {"effort": "minimal" if _FIRST.match(_bare(model)) else "none"}
    raise ConfigurationError("OpenAI's models take no budget for thinking: use adaptive")


def _samples_nothing(model: str) -> bool:
    """Whether the model refuses `temperature` and `top_p` however it reasons."""
    bare = _bare(model)
    return reasons(model) and (_ALWAYS.match(bare) or _FIRST.match(bare)) is not None


def _bare(model: str) -> str:
    """The name without a maker in front, as routers have it."""
    return model.rpartition("/")[2].lower()
