"""The forms of ids and names that the Messages format takes.

Source: Claude API reference, "Create a Message" (`tool_use` ids match ^[a-zA-Z0-9_-]+$ and differ from one
another in a request); Claude docs, "Define tools" (names match ^[a-zA-Z0-9_-]{1,64}$).
"""

from __future__ import annotations

import re
from typing import Final

from golem_cli.providers.wire.names import fitted

ID: Final = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)


def is_name(name: str) -> bool:
    """Whether a tool may be declared by that name."""
    return _NAME.fullmatch(name) is not None


def wire_name(name: str) -> str:
    """`name` as the format takes it: itself, or something like it that no other name becomes.

    >>> wire_name("get_weather"), wire_name("docs.search").startswith("docs_search_")
    ('get_weather', True)
    """
    return fitted(name, _NAME)
