"""What a turn costs: a user's rates applied to the tokens that a response reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from golem_cli.core.usage import Usage

_PER: Final = 1_000_000


class Rates(NamedTuple):
    """Prices of a million tokens, in whatever currency the user counts; None costs as much as `input`.

    `Usage` counts cached tokens as part of the input, whatever the provider's own rule is: OpenAI's formats
    and Gemini count them so, and Anthropic's adapter adds those that Anthropic counts beside the input.
    Reasoning is part of the output.

    >>> from golem_cli.core.usage import Usage
    >>> usage = Usage(input_tokens=1_000_000, cache_read_tokens=600_000)
    >>> Rates(input=2, output=8, cache_read=0.5).cost(usage)
    1.1
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        """What `usage` costs."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        fresh = max(usage.input_tokens - read - written, 0)
        read_rate = self.input if self.cache_read is None else self.cache_read
        write_rate = self.input if self.cache_write is None else self.cache_write
        total = fresh * self.input + read * read_rate + written * write_rate
        return (total + usage.output_tokens * self.output) / _PER
