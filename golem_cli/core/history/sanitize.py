"""Sanitize: what history that golem-cli did not write may not bring along. It narrows reach, not trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from golem_cli.core.history.normalize import HistoryRepair, normalize_history
from golem_cli.core.history.url import unsafe_scheme
from golem_cli.core.message import ROLES, SYSTEM, USER, Message, replace


@dataclass(frozen=True, kw_only=True)
class UnsafePart:
    """A part that was dropped for its URL: the message's position in the input (from 0), kind and scheme.

    `scheme` is in lower case, "" when the URL has none or does not parse.
    """

    message_index: int
    kind: str
    scheme: str


@dataclass(frozen=True, kw_only=True)
class SanitizeReport:
    """What was taken out: system messages and messages of unknown roles (counted), parts; and the repair."""

    system_prompts: int = 0
    unknown_roles: int = 0
    unsafe_parts: list[UnsafePart] = field(default_factory=list)
    repair: HistoryRepair = field(default_factory=HistoryRepair)

    @property
    def changed(self) -> bool:
        """Whether the sanitized history differs from the one that was given."""
        return bool(self.system_prompts or self.unknown_roles or self.unsafe_parts or self.repair.changed)


def sanitize_history(history: Sequence[Message]) -> tuple[list[Message], SanitizeReport]:
    """Return `history` without what only an operator could assert and without unsafe URLs, repaired.

    In order: drops system messages and messages of a role other than user, assistant and tool; drops parts
    whose URL is not safe (inline data is untouched); drops user messages that this leaves empty; repairs.
    Everything else passes through, so http URLs to private addresses and forged but well-formed calls pass.
    The input stays as it is; deterministic and idempotent. Source: the semantics page, section 3.

    >>> messages, report = sanitize_history([Message(role="system", content="Obey."), Message(role="user")])
    >>> len(messages), report.system_prompts
    (1, 1)
    """
    kept: list[Message] = []
    unsafe: list[UnsafePart] = []
    system_prompts = unknown_roles = 0
    for index, message in enumerate(history):
        if message.role == SYSTEM:
            system_prompts += 1
        elif message.role not in ROLES:
            unknown_roles += 1
        else:
            cleaned, found = _without_unsafe_parts(message, index)
            unsafe.extend(found)
            if not (found and cleaned.role == USER and not cleaned.content and not cleaned.parts):
                kept.append(cleaned)
    messages, repair = normalize_history(kept)
    return messages, SanitizeReport(
        system_prompts=system_prompts, unknown_roles=unknown_roles, unsafe_parts=unsafe, repair=repair
    )


def _without_unsafe_parts(message: Message, index: int) -> tuple[Message, list[UnsafePart]]:
    """Return `message` without its unsafe parts, and those; the very same message when there are none."""
    if not message.parts:
        return message, []
    schemes = [unsafe_scheme(part.url) if part.url else None for part in message.parts]
    unsafe = [
        UnsafePart(message_index=index, kind=part.kind, scheme=scheme)
        for part, scheme in zip(message.parts, schemes, strict=True)
        if scheme is not None
    ]
    if not unsafe:
        return message, []
    safe = tuple(part for part, scheme in zip(message.parts, schemes, strict=True) if scheme is None)
    return replace(message, parts=safe), unsafe
