"""The forms of ids and names that the format takes.

Source: Gemini API reference, "Caching" (`FunctionDeclaration.name`: letters, digits, `_`, `.`, `:` and `-`,
at most 64 of them, a letter or `_` first; `FunctionCall.id`: any text that the response repeats).
"""

from __future__ import annotations

import re
from typing import Final

from golem_cli.providers.wire.names import fitted

ID: Final = re.compile(r"[!-~]+", re.ASCII)
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", re.ASCII)


def is_name(name: str) -> bool:
    """Whether a function may be declared by that name."""
    return _NAME.fullmatch(name) is not None


def wire_name(name: str) -> str:
    """`name` as the format takes it: itself, or something like it that no other name becomes.

    >>> wire_name("docs.search"), wire_name("1st try").startswith("_st_try_")
    ('docs.search', True)
    """
    return fitted(name, _NAME)
