"""The message contract: what one entry of a transcript is, in memory.

Field names and shapes only ever gain fields. In JSON they are camelCase and empty fields are left out;
`golem_cli.core.codec` is the only place that knows the bytes. Every value here is immutable, so passes
may share messages freely and nothing can be stamped or edited behind its owner's back. They hold nothing
that could refer back to them, so the cycle collector need not watch them (`gc=False`): loading stays linear.
"""

from __future__ import annotations

from typing import Final

import msgspec

SYSTEM: Final = "system"
USER: Final = "user"
ASSISTANT: Final = "assistant"
TOOL: Final = "tool"
ROLES: Final = frozenset({SYSTEM, USER, ASSISTANT, TOOL})

PART_KINDS: Final = frozenset({"image", "document", "audio", "video"})

Extra = dict[str, str]
"""Unknown fields of a record: name → the value's JSON text, on one line, as it will be written back."""


class Part(msgspec.Struct, frozen=True, kw_only=True, eq=True, rename="camel", gc=False):
    """A piece of a user or tool message that is not text.

    `kind` is one of `PART_KINDS`. Exactly one of `url` and `data` (base64 text, kept as it came) is set;
    `data` needs `media_type`. Nothing is checked here: `validate_history` does, before a run.
    """

    kind: str = ""
    url: str = ""
    data: str = ""
    media_type: str = ""
    extra: Extra = {}


class ThinkingBlock(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A model's reasoning: `text` with an opaque `signature`, or `redacted` bytes as text. Never edited."""

    text: str = ""
    signature: str = ""
    redacted: str = ""
    extra: Extra = {}


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A model's request to call a tool.

    `args` is the text that the model sent, verbatim: usually a JSON object, but a stream that died leaves
    less, and that is evidence. `signature` is opaque (Gemini signs its calls).
    """

    id: str = ""
    name: str = ""
    args: str = ""
    signature: str = ""
    extra: Extra = {}


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """One entry of a transcript.

    `parts` belong on user and tool messages, `thinking` and `tool_calls` on assistant messages,
    `tool_call_id`, `tool_name` and `failed` on tool messages; other places are kept on disk and ignored or
    refused by a run. `interrupted` marks an assistant message whose end the user cut off. `signed_by` names
    the model whose signatures an assistant message carries (PROVIDER:NAME): no other may be shown them.
    `run_id` and `conversation_id` stamp what a run added.

    >>> Message(role="user", content="hi").content
    'hi'
    """

    role: str
    content: str = ""
    parts: tuple[Part, ...] = ()
    thinking: tuple[ThinkingBlock, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    failed: bool = False
    interrupted: bool = False
    signed_by: str = ""
    run_id: str = ""
    conversation_id: str = ""
    extra: Extra = {}

    @property
    def thoughts(self) -> tuple[ThinkingBlock, ...]:
        """The blocks of thinking that there is something to show of; the others are a signature alone."""
        return tuple(block for block in self.thinking if block.text or block.redacted)


def replace(message: Message, **changes: object) -> Message:
    """Return a copy of `message` with `changes`; the original stays as it is."""
    return msgspec.structs.replace(message, **changes)
