"""Ids of calls and names of tools in the form that the format takes, whoever gave them.

Source: Claude API reference, "Create a Message" (`tool_use` ids match ^[a-zA-Z0-9_-]+$ and differ from one
another in a request); Claude docs, "Define tools" (names match ^[a-zA-Z0-9_-]{1,64}$).
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from golem_cli.core.history.pairing import Slot, pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.message import Message

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_OTHER: Final = re.compile(r"[^a-zA-Z0-9_-]", re.ASCII)
_READABLE: Final = 55
"""Characters that stay of a name that has to be changed; its digest tells it from others."""


def is_name(name: str) -> bool:
    """Whether a tool may be declared by that name."""
    return _NAME.fullmatch(name) is not None


def wire_name(name: str) -> str:
    """`name` as the format takes it: itself, or something like it that no other name becomes.

    >>> wire_name("get_weather"), wire_name("docs.search").startswith("docs_search_")
    ('get_weather', True)
    """
    return name if is_name(name) else _like(name)


class WireIds:
    """The ids of the calls of `messages`, all of which are answered, and of their results.

    An id that an earlier call has gets a number, so that it is this request's only one. What stands before
    alone decides: an id never changes as the conversation grows.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._of_call: dict[Slot, str] = {}
        self._taken: set[str] = set()
        self._times: dict[str, int] = {}
        for position, message in enumerate(messages):
            for index, call in enumerate(message.tool_calls):
                self._of_call[position, index] = self._unique(call.id)
        self._answers = pair(messages).answers

    def of_call(self, position: int, index: int) -> str:
        """The id of the call at `index` of the message at `position`."""
        return self._of_call[position, index]

    def of_result(self, position: int) -> str:
        """The id of the call that the result at `position` answers."""
        return self._of_call[self._answers[position]]

    def _unique(self, call_id: str) -> str:
        wanted = call_id if _ID.fullmatch(call_id) else _like(call_id)
        unique = wanted
        while unique in self._taken:
            self._times[wanted] = self._times.get(wanted, 1) + 1
            unique = f"{wanted}_{self._times[wanted]}"
        self._taken.add(unique)
        return unique


def _like(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('_', text[:_READABLE])}_{digest}"
