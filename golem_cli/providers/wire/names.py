"""Ids of calls and names of tools in the form that a format takes, whoever gave them."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from golem_cli.core.history.pairing import Slot, pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.core.message import Message

_OTHER: Final = re.compile(r"[^a-zA-Z0-9_-]", re.ASCII)
_READABLE: Final = 55
"""Characters that stay of a name that has to be changed; its digest tells it from others."""


def fitted(text: str, form: re.Pattern[str]) -> str:
    """`text` when it has the `form`, else something like it that no other text becomes.

    At most 64 letters, digits, `_` and `-`; the first is a `_` where the form wants no other.

    >>> fitted("docs.search", re.compile("[a-z_]+")).startswith("docs_search_")
    True
    """
    if form.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    like = f"{_OTHER.sub('_', text[:_READABLE])}_{digest}"
    return like if form.match(like) else f"_{like[1:]}"


class WireIds:
    """The ids, each of the `form`, of the calls of `messages`, all of which are answered, and of the results.

    An id that an earlier call has gets a number, so that it is this request's only one. What stands before
    alone decides: an id never changes as the conversation grows. `fit` brings a text into the form.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        form: re.Pattern[str],
        *,
        fit: Callable[[str, re.Pattern[str]], str] = fitted,
    ) -> None:
        self._form = form
        self._fit = fit
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
        return self._of_call[self.answered_by(position)]

    def answered_by(self, position: int) -> Slot:
        """Where the call stands that the result at `position` answers."""
        return self._answers[position]

    def _unique(self, call_id: str) -> str:
        wanted = self._fit(call_id, self._form)
        unique = wanted
        while unique in self._taken:
            self._times[wanted] = self._times.get(wanted, 1) + 1
            unique = self._fit(f"{wanted}_{self._times[wanted]}", self._form)
        self._taken.add(unique)
        return unique
