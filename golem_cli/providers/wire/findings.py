"""What an encoder leaves out of a history or reshapes, told by the encoder itself, message by message.

An encoder takes a `Note` and calls it where it departs from the history; with `silent` nobody listens, and
with that of `Findings` the departures become a list. So each rule is known in one place: where it acts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from golem_cli.core.message import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.core.message import Message

WireRule = Literal[
    "foreign-signature",
    "unsent-thinking",
    "unsigned-call",
    "refused-part",
    "moved-part",
    "call-id",
    "tool-name",
    "role-order",
    "empty-turn",
    "blank-text",
    "empty-result",
    "bare-document",
    "failed-mark",
    "tools-as-text",
    "broken-text",
    "context-window",
]
"""What may happen to a message on its way: a part of it stays behind, or travels in another form or place."""


@dataclass(frozen=True, kw_only=True)
class WireFinding:
    """One departure: the rule's name, the message's number from 1, the call it concerns, and why.

    `call_id` and `run_id` are "" where there is none. `text` is one line; foreign text in it is quoted.
    """

    rule: WireRule
    message: int
    text: str
    call_id: str = ""
    run_id: str = ""


class Note(Protocol):
    """Is told of each departure: where, by which rule, and what and why, in one line."""

    def __call__(self, message: Message, rule: WireRule, text: str, call_id: str = "", /) -> None:
        """Take one departure of `message`."""
        ...


def silent(message: Message, rule: WireRule, text: str, call_id: str = "", /) -> None:
    """The `Note` of a request: nobody listens."""


_NUMBER: Final = "\0number"
"""The additive field that holds a message's number: every pass carries it, into whatever place it moves."""


@dataclass
class Findings:
    """Collects departures from a history; what repair added to it has no number and is passed over."""

    found: list[WireFinding] = field(default_factory=list)

    @staticmethod
    def numbered(messages: Sequence[Message]) -> list[Message]:
        """`messages`, each with its number from 1, for an encoder whose output is thrown away."""
        return [
            replace(message, extra=message.extra | {_NUMBER: str(number)})
            for number, message in enumerate(messages, 1)
        ]

    def note(self, message: Message, rule: WireRule, text: str, call_id: str = "", /) -> None:
        """The `Note` of this collection."""
        if number := message.extra.get(_NUMBER):
            self.found.append(
                WireFinding(rule=rule, message=int(number), text=text, call_id=call_id, run_id=message.run_id)
            )

    def in_order(self) -> list[WireFinding]:
        """The findings by message; of one message as they were noted."""
        return sorted(self.found, key=lambda finding: finding.message)
