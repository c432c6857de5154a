"""The forms of ids and names that Converse takes, and of a model in an address.

Source: Bedrock runtime API reference, `ToolUseBlock` (ids: 1 to 64 letters, digits, `_` and `-`; newer models
take `.` and `:` too), `ToolSpecification` (names: the same), "CountTokens" (the id of a foundation model; an
inference profile is refused: pydantic/pydantic-ai issue 4001).
"""

from __future__ import annotations

import re
from typing import Final

from golem_cli.providers.wire.names import fitted

FORM: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_AREA: Final = re.compile(r"(?:us-gov|us|eu|apac|global|jp|au|ca|sa|me|af|il|uk)\.(?=[a-z0-9-]+\.)", re.ASCII)


def is_name(name: str) -> bool:
    """Whether a tool may be declared by that name."""
    return FORM.fullmatch(name) is not None


def wire_name(name: str) -> str:
    """`name` as the format takes it: itself, or something like it that no other name becomes.

    >>> wire_name("get_weather"), wire_name("docs.search").startswith("docs_search_")
    ('get_weather', True)
    """
    return fitted(name, FORM)


def foundation_model(model: str) -> str:
    """The id of the foundation model behind an inference profile that names it; any other id as it is.

    >>> foundation_model("eu.anthropic.claude-sonnet-4-6"), foundation_model("amazon.nova-lite-v1:0")
    ('anthropic.claude-sonnet-4-6', 'amazon.nova-lite-v1:0')
    """
    return _AREA.sub("", model.rpartition("/")[2], count=1)
