"""Length, sampling and thinking of a request, checked against what the model is documented to take.

Source: Claude API reference, "Create a Message"; Claude docs, "Thinking" (a budget is at least 1,024 tokens,
smaller than `max_tokens`, without `temperature`, without a forced call) and "Migration guide".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.anthropic.claude import ADAPTIVE, BUDGETED, OTHER, Claude
from golem_cli.providers.wire.checks import check_max_tokens, check_range

if TYPE_CHECKING:
    from golem_cli.core.model import ModelSettings
    from golem_cli.providers.wire.fields import Json

LONGEST_WHOLE: Final = 16_000
"""Tokens of an answer that is not streamed, unless the settings say otherwise: the provider advises against
longer ones, whose connection is silent for minutes."""

_LEAST_BUDGET: Final = 1024
_LEAST_TOP_P: Final = 0.95


def length_of(settings: ModelSettings, row: Claude, *, stream: bool) -> Json:
    """`max_tokens`, which the format demands: the settings', else the most that the model can say."""
    asked = settings.max_tokens
    check_max_tokens(asked)
    if asked is not None and asked > row.max_tokens and row is not OTHER:
        raise ConfigurationError(f"max_tokens must be at most {row.max_tokens} with this model, got {asked}")
    if asked is None:
        asked = row.max_tokens if stream else min(row.max_tokens, LONGEST_WHOLE)
        if isinstance(settings.thinking, int):
            asked = max(asked, min(row.max_tokens, settings.thinking + LONGEST_WHOLE))
    return {"max_tokens": asked}


def sampling_of(settings: ModelSettings, row: Claude) -> Json:
    """`temperature`, `top_p` and `stop_sequences`, as far as they are set."""
    given: Json = {"temperature": settings.temperature, "top_p": settings.top_p}
    sent = {name: value for name, value in given.items() if value is not None}
    check_range("temperature", settings.temperature, 1)
    check_range("top_p", settings.top_p, 1)
    if settings.seed is not None:
        raise ConfigurationError("Anthropic's models take no seed: leave it out")
    if row.sampling == "none" and sent:
        raise ConfigurationError(f"this model takes no {' and no '.join(sent)}: leave it out")
    if row.sampling == "one" and len(sent) > 1:
        raise ConfigurationError("this model takes temperature or top_p, not both: leave one out")
    if isinstance(settings.thinking, int) and settings.temperature not in {None, 1}:
        raise ConfigurationError("temperature cannot be set while thinking has a budget: leave one out")
    if isinstance(settings.thinking, int) and settings.top_p is not None and settings.top_p < _LEAST_TOP_P:
        raise ConfigurationError(f"top_p must be in [{_LEAST_TOP_P}, 1] while thinking has a budget")
    if any(not text.strip() for text in settings.stop):
        raise ConfigurationError("a stop sequence must hold more than white space")
    return sent | ({"stop_sequences": list(settings.stop)} if settings.stop else {})


def thinking_of(settings: ModelSettings, row: Claude, *, tool_choice: str) -> Json:
    """The `thinking` of the request; empty for the provider's default.

    A model that thinks unless told not to is asked to show a summary, which it leaves out by default.
    """
    forced = tool_choice not in {"", "auto", "none"}
    wish = settings.thinking
    if isinstance(wish, int):
        return _budget(wish, settings, row, forced=forced)
    if wish == "off":
        if row.thinking == "always":
            raise ConfigurationError("this model always thinks: thinking cannot be off")
        return {"type": "disabled"} if row.thinking == "on" else {}
    if wish == "adaptive" and row.thinking not in ADAPTIVE:
        known = "give a budget of tokens" if row.thinking in BUDGETED else "it does not think"
        raise ConfigurationError(f"this model has no adaptive thinking: {known}")
    if wish is None and row.thinking not in {"on", "always"}:
        return {}
    if forced and not row.forced_tools:
        raise ConfigurationError("this model cannot be made to call a tool while it thinks: choose auto")
    return {"type": "adaptive", "display": "summarized"}


def _budget(budget: int, settings: ModelSettings, row: Claude, *, forced: bool) -> Json:
    if row.thinking not in BUDGETED:
        known = "use adaptive" if row.thinking in ADAPTIVE else "it does not think"
        raise ConfigurationError(f"this model takes no budget for thinking: {known}")
    most = settings.max_tokens or row.max_tokens
    if not _LEAST_BUDGET <= budget < most:
        raise ConfigurationError(
            f"a budget for thinking must be in [{_LEAST_BUDGET}, {most - 1}], below max_tokens, got {budget}"
        )
    if forced:
        raise ConfigurationError("a call cannot be forced while thinking has a budget: choose auto")
    return {"type": "enabled", "budget_tokens": budget}
