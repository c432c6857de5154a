"""The order of roles that some services demand of chat-completions messages. Pure, deterministic.

Sources: avante-corp/avante.nvim pull request 2695 and NEKOparapa/AiNiee issue 641 (Mistral: an assistant
message behind tool results, a user or tool message last), mistralai/mistral-common, `validator.py`;
perplexityai/api-discussion issue 265, BerriAI/litellm issues 11665 and 3918 and pipecat-ai/pipecat pull
request 4009 (Perplexity: user and assistant alternate behind the system messages, the user last, no tools).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER, Message
from golem_cli.providers.wire.fields import Json
from golem_cli.providers.wire.findings import silent
from golem_cli.providers.wire.flatten import OPENING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.providers.wire.findings import Note

Sent = tuple[Json, Message]
"""A message of the request, and the one of the history that it is of."""

_GO_ON: Final = "Continue."
_NOTED: Final = "Noted."


def bridged(messages: Sequence[Sent], note: Note = silent) -> list[Json]:
    """`messages` with an assistant message between tool results and the user, and none at the end."""
    out: list[Json] = []
    for turn, message in _demoted(messages):
        if out and out[-1]["role"] == TOOL and turn["role"] not in {TOOL, ASSISTANT}:
            note(message, "role-order", f"the model speaks behind results: it is made to say {_NOTED}")
            out.append({"role": ASSISTANT, "content": _NOTED})
        out.append(turn)
    return _closed(out)


def alternated(messages: Sequence[Sent], note: Note = silent) -> list[Json]:
    """`messages`, which have no tools in them, as turns that alternate behind the system messages."""
    out: list[Json] = []
    for turn, message in _demoted(messages):
        if turn["role"] == ASSISTANT and (not out or out[-1]["role"] == SYSTEM):
            note(message, "role-order", "the user begins: a line that says what is missing goes in front")
            out.append({"role": USER, "content": OPENING})
        if out and turn["role"] == out[-1]["role"] != SYSTEM:
            note(message, "role-order", "turns alternate: this one is sent as part of the one before it")
            out[-1] = out[-1] | {"content": _joined(out[-1]["content"], turn["content"])}
        else:
            out.append(turn)
    return _closed(out)


def _demoted(messages: Sequence[Sent]) -> list[Sent]:
    """`messages` with each system message behind others as the user's: it may stand in front only."""
    front = next((index for index, (turn, _) in enumerate(messages) if turn["role"] != SYSTEM), len(messages))
    return [
        (turn | {"role": USER}, message) if turn["role"] == SYSTEM and index >= front else (turn, message)
        for index, (turn, message) in enumerate(messages)
    ]


def _closed(messages: list[Json]) -> list[Json]:
    if messages and messages[-1]["role"] == ASSISTANT:
        messages.append({"role": USER, "content": _GO_ON})
    return messages


def _joined(one: object, other: object) -> object:
    """Two contents as one: texts with a blank line between, or a list of parts when either has parts."""
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_blocks(one), *_blocks(other)]


def _blocks(content: object) -> list[object]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]
