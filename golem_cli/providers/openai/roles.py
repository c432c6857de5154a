"""The order of roles that some services demand of chat-completions messages. Pure, deterministic.

Sources: avante-corp/avante.nvim pull request 2695 and NEKOparapa/AiNiee issue 641 (Mistral: an assistant
message behind tool results, a user or tool message last), mistralai/mistral-common, `validator.py`;
perplexityai/api-discussion issue 265, BerriAI/litellm issues 11665 and 3918 and pipecat-ai/pipecat pull
request 4009 (Perplexity: user and assistant alternate behind the system messages, the user last, no tools).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.message import ASSISTANT, SYSTEM, TOOL, USER
from golem_cli.providers.wire.flatten import OPENING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from golem_cli.providers.wire.fields import Json

_GO_ON: Final = "Continue."
_NOTED: Final = "Noted."


def bridged(messages: Sequence[Json]) -> list[Json]:
    """`messages` with an assistant message between tool results and the user, and none at the end."""
    out: list[Json] = []
    for message in _demoted(messages):
        if out and out[-1]["role"] == TOOL and message["role"] not in {TOOL, ASSISTANT}:
            out.append({"role": ASSISTANT, "content": _NOTED})
        out.append(message)
    return _closed(out)


def alternated(messages: Sequence[Json]) -> list[Json]:
    """`messages`, which have no tools in them, as turns that alternate behind the system messages."""
    out: list[Json] = []
    for message in _demoted(messages):
        if message["role"] == ASSISTANT and (not out or out[-1]["role"] == SYSTEM):
            out.append({"role": USER, "content": OPENING})
        if out and message["role"] == out[-1]["role"] != SYSTEM:
            out[-1] = out[-1] | {"content": _joined(out[-1]["content"], message["content"])}
        else:
            out.append(message)
    return _closed(out)


def _demoted(messages: Sequence[Json]) -> list[Json]:
    """`messages` with each system message behind others as the user's: it may stand in front only."""
    front = next((index for index, each in enumerate(messages) if each["role"] != SYSTEM), len(messages))
    return [
        message | {"role": USER} if message["role"] == SYSTEM and index >= front else message
        for index, message in enumerate(messages)
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
