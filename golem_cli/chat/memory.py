"""A library that keeps nothing: conversations of `--no-save` live and end in memory."""

from __future__ import annotations

import msgspec

from golem_cli.core.conversation import Conversation, ConversationSettings, RunRecord
from golem_cli.core.errors import ConversationNotFound
from golem_cli.core.message import Message


class MemoryWriter:
    """A `Writer` that holds its conversation in memory."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def conversation(self) -> Conversation:
        return self._conversation

    @property
    def path(self) -> None:
        return None

    @property
    def losses(self) -> str:
        return ""

    def begin_run(self, run: RunRecord, *, after: Conversation | None = None) -> None:
        self._conversation = after or self._conversation
        self._set(runs=(*self._conversation.runs, run))

    def add_message(self, message: Message) -> None:
        self._set(messages=(*self._conversation.messages, message))

    def note_partial(self, run_id: str, text: str) -> None:
        self._set(
            runs=tuple(
                msgspec.structs.replace(run, partial_text=text) if run.run_id == run_id else run
                for run in self._conversation.runs
            )
        )

    def end_run(self, run: RunRecord) -> None:
        self._set(
            runs=tuple(run if known.run_id == run.run_id else known for known in self._conversation.runs)
        )

    def update(
        self,
        *,
        title: str | None = None,
        model: str | None = None,
        instructions: str | None = None,
        settings: ConversationSettings | None = None,
    ) -> None:
        changes = {"title": title, "model": model, "instructions": instructions, "settings": settings}
        self._set(**{name: value for name, value in changes.items() if value is not None})

    def replace(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def save(self) -> None:
        """Nothing is ever saved."""

    def close(self) -> None:
        """Nothing to fold."""

    def _set(self, **changes: object) -> None:
        self._conversation = msgspec.structs.replace(self._conversation, **changes)


class MemoryLibrary:
    """A `Library` for one sitting: forks made in it can be opened until golem ends."""

    def __init__(self) -> None:
        self._writers: dict[str, MemoryWriter] = {}

    def create(self, conversation: Conversation) -> MemoryWriter:
        writer = MemoryWriter(conversation)
        self._writers[conversation.conversation_id] = writer
        return writer

    def open(self, conversation_id: str) -> MemoryWriter:
        writer = self._writers.get(conversation_id)
        if writer is None:
            raise ConversationNotFound(
                f"no conversation {conversation_id} in this sitting (nothing is saved)"
            )
        return writer

    def resolve(self, reference: str) -> str:
        matches = [each for each in self._writers if reference and each.startswith(reference)]
        if len(matches) != 1:
            from golem_cli.core.quote import quoted

            raise ConversationNotFound(
                f"no single conversation of this sitting begins with {quoted(reference)}"
            )
        return matches[0]

    def summaries(self, limit: int | None = None) -> list[MemorySummary]:
        return [MemorySummary(writer.conversation) for writer in reversed(self._writers.values())][:limit]


class MemorySummary:
    """A line about a conversation in memory."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation_id = conversation.conversation_id
        self.title = conversation.title
        self.updated_at = conversation.updated_at
        self.message_count = len(conversation.messages)
        self.model = conversation.model
        self.problem = ""
        self.status = conversation.runs[-1].status if conversation.runs else ""
