"""Small words said in several places: counts, tokens, durations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.usage import Usage

_LONGEST_ERROR: Final = 300
"""Characters of a recorded error that a line quotes at most."""


def counted(count: int, noun: str) -> str:
    """Return `1 message`, `2 messages`.

    >>> counted(1, "message"), counted(2, "part")
    ('1 message', '2 parts')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def record_says(run: RunRecord) -> str:
    """Quote the error that a run's record holds, as what it is: words of a file, not advice of golem's."""
    from golem_cli.core.quote import quoted

    return f"its record says {quoted(run.error, longest=_LONGEST_ERROR)}"


def tokens(usage: Usage) -> str:
    """Input and output tokens, with what came from a cache; some services tell none.

    >>> from golem_cli.core.usage import Usage
    >>> tokens(Usage(input_tokens=1200, output_tokens=80, cache_read_tokens=1000))
    '1,200 in (1,000 cached), 80 out'
    >>> tokens(Usage())
    'tokens not known'
    """
    if not (usage.input_tokens or usage.output_tokens):
        return "tokens not known"
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
    return f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out"


def duration(seconds: float) -> str:
    """A duration for a person.

    >>> duration(0.25), duration(12.3), duration(125)
    ('0.2 s', '12.3 s', '2 min 5 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
