"""What a session needs from outside: a writer that keeps the conversation, and a clock. `cli` wires them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.message import Message, Part
from golem_cli.core.model import StreamingModel

Clock = Callable[[], str]
"""Now, as RFC 3339 in UTC to the millisecond."""

OnNotice = Callable[[str], None]
"""Receives one line for the person: what the session did on its own, and why."""


class ChatModel(StreamingModel, Protocol):
    """A model under the name that the user knows, such as `openai:gpt-6.1-terra`, and a way to let it go."""

    @property
    def name(self) -> str:
        """PROVIDER:NAME."""
        ...

    def refusal_of(self, part: Part) -> str:
        """Why the model cannot take `part`, in words; "" when it can."""
        ...

    async def aclose(self) -> None:
        """Close connections and child processes."""
        ...


def warm_up(model: ChatModel) -> None:
    """Let a model that loads begin to; others are ready at once. Raises `ConfigurationError` for no model."""
    start = getattr(model, "warm_up", None)
    if start is not None:
        start()


class Writer(Protocol):
    """Keeps one conversation. Every method returns only when the change is as safe as the medium allows.

    Raises `StoreError` when it cannot keep something; its `conversation` is unharmed then, and the same call
    may be made again.
    """

    @property
    def conversation(self) -> Conversation:
        """The conversation as it stands."""
        ...

    @property
    def path(self) -> Path | None:
        """Where it is kept; None for one that is in memory only."""
        ...

    @property
    def losses(self) -> str:
        """What of it could not be read, and where that is kept, in one line; "" for nothing."""
        ...

    def begin_run(self, run: RunRecord, *, after: Conversation | None = None) -> None:
        """Keep a run that is about to start, with its prompt.

        With `after`, that is kept instead of the conversation as it stands, in one step: both or neither.
        """
        ...

    def add_message(self, message: Message) -> None:
        """Keep a message that a run completed."""
        ...

    def note_partial(self, run_id: str, text: str) -> None:
        """Keep what has been streamed of the turn so far, whole."""
        ...

    def end_run(self, run: RunRecord) -> None:
        """Keep how a run ended; replaces the record with the same run id."""
        ...

    def update(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
        settings: ConversationSettings | None = None,
    ) -> None:
        """Keep changed facts about the conversation; None leaves one as it is."""
        ...

    def replace(self, conversation: Conversation) -> object:
        """Keep this conversation instead, as after a repair or a cut."""
        ...

    def save(self) -> None:
        """Keep the whole conversation now, one that never ran too."""
        ...

    def close(self) -> None:
        """Fold what is open and let others write."""
        ...


class Listed(Protocol):
    """One line about a conversation, as lists, pickers and completions need it."""

    @property
    def conversation_id(self) -> str:
        """Its id."""
        ...

    @property
    def title(self) -> str:
        """Its title, untrusted."""
        ...

    @property
    def updated_at(self) -> str:
        """When it changed last."""
        ...

    @property
    def message_count(self) -> int:
        """How many messages it keeps."""
        ...

    @property
    def model(self) -> str:
        """Its model."""
        ...

    @property
    def status(self) -> str:
        """Its last run's status, `damaged` for a file that cannot be read."""
        ...

    @property
    def problem(self) -> str:
        """Why it cannot be read; "" for all others."""
        ...


class Library(Protocol):
    """Where conversations live."""

    def create(self, conversation: Conversation) -> Writer:
        """Return a writer for a new conversation; nothing is kept until its first run begins or `save`."""
        ...

    def open(self, conversation_id: str) -> Writer:
        """Return the one writer of a conversation that exists."""
        ...

    def resolve(self, reference: str) -> str:
        """Return the id for a whole id, an unambiguous beginning of one, or a title."""
        ...

    def summaries(self, limit: int | None = None) -> Sequence[Listed]:
        """Return a line about each conversation, the one changed last first; with `limit` only so many."""
        ...
