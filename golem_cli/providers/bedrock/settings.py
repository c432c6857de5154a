"""Length, sampling and thinking of a request, checked against what the model is documented to take.

Source: Bedrock runtime API reference, `InferenceConfiguration` (ranges; the model's own maximum when no
length is given); Bedrock user guide, "Extended thinking" (Claude's `thinking` among the fields of the model).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.anthropic.claude import claude
from golem_cli.providers.anthropic.settings import length_of, sampling_of, thinking_of
from golem_cli.providers.bedrock.families import family_of, is_claude
from golem_cli.providers.wire.checks import check_max_tokens, check_range

if TYPE_CHECKING:
    from golem_cli.core.model import ModelSettings
    from golem_cli.providers.wire.fields import Json


def inference_of(settings: ModelSettings, model: str, *, stream: bool) -> Json:
    """`inferenceConfig`, as far as it is set."""
    is_anthropic = is_claude(family_of(model))
    sampling = sampling_of(settings, claude(model)) if is_anthropic else _sampling(settings)
    check_max_tokens(settings.max_tokens)
    length = settings.max_tokens
    if is_anthropic and (length is not None or isinstance(settings.thinking, int)):
        length = length_of(settings, claude(model), stream=stream)["max_tokens"]  # type: ignore[assignment]  # an int
    fields: Json = {
        "maxTokens": length,
        "temperature": sampling.get("temperature"),
        "topP": sampling.get("top_p"),
        "stopSequences": sampling.get("stop_sequences"),
    }
    return {name: value for name, value in fields.items() if value is not None}


def claude_thinking(settings: ModelSettings, model: str, *, tool_choice: str) -> Json:
    """Claude's `thinking`; empty for the provider's default, and for all other models."""
    if not is_claude(family_of(model)):
        return {}
    return thinking_of(settings, claude(model), tool_choice=tool_choice)


def _sampling(settings: ModelSettings) -> Json:
    check_range("temperature", settings.temperature, 1)
    check_range("top_p", settings.top_p, 1)
    if settings.seed is not None:
        raise ConfigurationError("Bedrock's format has no seed: leave it out")
    if not all(settings.stop):
        raise ConfigurationError("a stop sequence must not be empty")
    given: Json = {"temperature": settings.temperature, "top_p": settings.top_p}
    return given | ({"stop_sequences": list(settings.stop)} if settings.stop else {})
