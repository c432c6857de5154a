"""The room: everything that a slash command may touch, in one place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from golem_cli.core.conversation import Conversation
from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.chat.ports import ChatModel, Library
    from golem_cli.chat.session import Session
    from golem_cli.core.message import Message
    from golem_cli.repl.answering import Answering
    from golem_cli.repl.commands import Commands
    from golem_cli.repl.terminal import Terminal


class Room(msgspec.Struct, kw_only=True):
    """`draft` is what the next prompt begins with; `leaving` ends the loop.

    `open_model` makes the model for a name such as `openai:gpt-6.1-terra` and raises `ConfigurationError`;
    `export` writes a conversation to a new file, by its ending; `ask` reads one line;
    `model_names` are what completion offers.
    """

    session: Session
    terminal: Terminal
    answering: Answering
    commands: Commands
    open_model: Callable[[str], ChatModel]
    export: Callable[[str, Conversation], Path]
    ask: Callable[[str], Awaitable[str]]
    model_names: tuple[str, ...] = ()
    draft: str = ""
    leaving: bool = False

    @property
    def library(self) -> Library:
        """Where conversations live."""
        return self.session.library

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is seen, with what a stopped run left."""
        return self.session.seen

    def say(self, text: str, style: str = "") -> None:
        """Show lines of text."""
        self.terminal.say(text, style)

    def message(self, number: str) -> tuple[int, Message]:
        """The message with a typed number (from 1), with that number; without one the last.

        Raises `ConfigurationError` when there is none.
        """
        messages = self.conversation.messages
        if not messages:
            raise ConfigurationError("there is no message yet")
        index = whole_number(number, low=1, high=len(messages)) if number else len(messages)
        return index, messages[index - 1]


def whole_number(text: str, *, low: int = 0, high: int | None = None) -> int:
    """The number that was typed; raises `ConfigurationError` saying what would do.

    >>> whole_number("3", low=1, high=5)
    3
    """
    if high is not None and high < max(low, 1):
        raise ConfigurationError("there is no message yet")
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        from golem_cli.core.quote import quoted

        wrong = "is more than one number" if _are_numbers(text.split()) else "is no number"
        raise ConfigurationError(f"{quoted(text)} {wrong}; give one from {low}{_to(high)}")
    if not low <= int(text) <= (int(text) if high is None else high):
        raise ConfigurationError(f"{text} is out of range; give a number from {low}{_to(high)}")
    return int(text)


def _are_numbers(words: list[str]) -> bool:
    return len(words) > 1 and all(word.isdigit() for word in words)


def _to(high: int | None) -> str:
    return " up" if high is None else f" to {high}"
