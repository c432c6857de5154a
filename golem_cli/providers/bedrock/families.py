"""What the families of models behind Converse take that others refuse. A table.

Sources: Bedrock user guide, "Supported models and model features", "Prompt caching"; Bedrock runtime API
reference, `ToolResultBlock`, `ToolResultContentBlock`, `SpecificToolChoice`; Nova user guide, "Using tools"
(three fields at the top of a schema); what the server says when it refuses: langchain-ai/langchain-aws pull
request 1118 and strands-agents/harness-sdk issue 1223 (text beside calls or results), BerriAI/litellm pull
request 39210 and earendil-works/pi issue 2053 (points for the cache).
"""

from __future__ import annotations

from typing import Final

import msgspec


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A row: the `name` that a model's id holds, and what such a model takes.

    `text_beside_calls` and `text_beside_results` say whether one turn may hold both; `media_in_results`
    whether a result may hold images and documents, and say that it failed; `cache_points` whether it may be
    told where to cache; `named_choice` whether one tool can be demanded by name; `system` whether it takes a
    system prompt; `plain_schemas` that a tool's schema has `type`, `properties` and `required` at the top
    only. `parts` are the kinds that a message may hold.
    """

    name: str
    text_beside_calls: bool = False
    text_beside_results: bool = False
    media_in_results: bool = False
    cache_points: bool = False
    named_choice: bool = False
    system: bool = True
    plain_schemas: bool = False
    parts: frozenset[str] = frozenset({"image", "document", "audio", "video"})


_CLAUDE: Final = Family(
    name="anthropic.claude",
    text_beside_calls=True,
    text_beside_results=True,
    media_in_results=True,
    cache_points=True,
    named_choice=True,
    parts=frozenset({"image", "document"}),
)
_WITHOUT_CACHE: Final = (
    "anthropic.claude-3-haiku",
    "anthropic.claude-3-opus",
    "anthropic.claude-3-sonnet",
    "anthropic.claude-3-5-sonnet",
    "anthropic.claude-v2",
    "anthropic.claude-instant",
)

OTHER: Final = Family(name="")
"""A model that the table does not know: it is spared whatever any is known to refuse."""

_ROWS: Final[tuple[Family, ...]] = (  # the longer name before the one that it holds
    *(msgspec.structs.replace(_CLAUDE, name=name, cache_points=False) for name in _WITHOUT_CACHE),
    _CLAUDE,
    Family(
        name="amazon.nova",
        text_beside_calls=True,
        media_in_results=True,
        named_choice=True,
        plain_schemas=True,
    ),
    Family(name="amazon.titan", system=False),
    Family(name="mistral.mistral-7b", system=False),
    Family(name="mistral.mixtral", system=False),
)


def family_of(model: str) -> Family:
    """The row of `model`, an id, an inference profile or an ARN.

    >>> family_of("eu.amazon.nova-lite-v1:0").plain_schemas, family_of("meta.llama4") is OTHER
    (True, True)
    """
    return next((row for row in _ROWS if row.name in model), OTHER)


def is_claude(family: Family) -> bool:
    """Whether the family is Anthropic's, whose own settings Converse passes on."""
    return family.name.startswith(_CLAUDE.name)
