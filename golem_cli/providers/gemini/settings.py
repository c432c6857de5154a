"""Length, sampling and thinking of a request, checked against what the model is documented to take.

Source: Gemini API reference, "Generating content" (`GenerationConfig`); Gemini API docs, "Gemini thinking".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.wire.checks import check_max_tokens, check_range

if TYPE_CHECKING:
    from golem_cli.core.model import ModelSettings
    from golem_cli.providers.gemini.rows import Row
    from golem_cli.providers.wire.fields import Json

_HIGHEST_TEMPERATURE: Final = 2
_MOST_STOPS: Final = 5
_LARGEST_SEED: Final = 2**31 - 1


def generation_of(settings: ModelSettings, row: Row) -> Json:
    """The `generationConfig`, without a schema: what is set, within its documented range."""
    _check(settings, row)
    given: Json = {
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "maxOutputTokens": settings.max_tokens,
        "seed": settings.seed,
        "stopSequences": list(settings.stop) or None,
        "thinkingConfig": thinking_of(settings, row) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def thinking_of(settings: ModelSettings, row: Row) -> Json:
    """The `thinkingConfig`; empty for a model that does not think.

    A model that thinks is asked to show a summary, which it leaves out by default.
    """
    wish = settings.thinking
    if isinstance(wish, int):
        return _budget(wish, row)
    if wish == "off":
        if row.thinking != "none" and not row.off:
            raise ConfigurationError("this model always thinks: thinking cannot be off")
        return {"thinkingBudget": 0} if row.off else {}
    if row.thinking == "none":
        if wish == "adaptive":
            raise ConfigurationError("this model has no adaptive thinking: it does not think")
        return {}
    dynamic: Json = {"thinkingBudget": -1} if wish == "adaptive" and row.thinking == "budget" else {}
    return {"includeThoughts": True} | dynamic


def _budget(budget: int, row: Row) -> Json:
    if row.thinking != "budget":
        known = "use adaptive" if row.thinking == "always" else "it does not think"
        raise ConfigurationError(f"this model takes no budget for thinking: {known}")
    least, most = row.budgets
    if not least <= budget <= most:
        raise ConfigurationError(f"a budget for thinking must be in [{least}, {most}], got {budget}")
    return {"includeThoughts": True, "thinkingBudget": budget}


def _check(settings: ModelSettings, row: Row) -> None:
    """Raise `ConfigurationError` for a value out of its range, and for one that would have no effect."""
    check_range("temperature", settings.temperature, _HIGHEST_TEMPERATURE)
    check_range("top_p", settings.top_p, 1)
    check_max_tokens(settings.max_tokens)
    given = {"temperature": settings.temperature, "top_p": settings.top_p}
    without_effect = [name for name, value in given.items() if value is not None and not row.sampling]
    if without_effect:
        raise ConfigurationError(f"this model takes no {' and no '.join(without_effect)}: leave it out")
    if row.max_tokens and (settings.max_tokens or 0) > row.max_tokens:
        raise ConfigurationError(
            f"max_tokens must be at most {row.max_tokens} with this model, got {settings.max_tokens}"
        )
    if settings.seed is not None and not 0 <= settings.seed <= _LARGEST_SEED:
        raise ConfigurationError(f"seed must be in [0, {_LARGEST_SEED}], got {settings.seed}")
    if len(settings.stop) > _MOST_STOPS:
        raise ConfigurationError(f"Gemini takes at most {_MOST_STOPS} stop sequences")
    if not all(settings.stop):
        raise ConfigurationError("a stop sequence must not be empty")
