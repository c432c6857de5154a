"""The guard: a key-shaped string that is about to be sent or exported is pointed out before it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.chat.ports import OnNotice
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.message import Message, Part

SecretPolicy = Literal["warn", "block", "off"]
"""What becomes of a secret that is about to leave: a line is said, it is refused, or nobody looks."""

_GO_ON: Final = "take it out, or set GOLEM_SECRETS=warn to go on all the same"


class SecretGuard:
    """Looks at what is about to be sent in one conversation. A kind is pointed out once."""

    def __init__(self, policy: SecretPolicy, notice: OnNotice) -> None:
        self._policy = policy
        self._notice = notice
        self._told: set[str] = set()

    def check(self, conversation: Conversation, *, prompt: str, parts: Sequence[Part] = ()) -> None:
        """Look at a prompt, its parts and the instructions, before anything of them is kept or sent.

        Raises `ConfigurationError`, which never shows the secret, where the policy is to block.
        """
        if self._policy == "off":
            return
        found = _outgoing(conversation, prompt, parts)
        if self._policy == "block":
            for kind, place in found.items():
                raise ConfigurationError(f"not sent: what looks like {kind} stands in {place}; {_GO_ON}")
        if found.keys() <= self._told:
            return  # a long conversation is not searched again for what was said already
        self._told |= _kinds_sent(conversation.messages)
        for kind, place in found.items():
            if kind not in self._told:
                self._notice(f"what looks like {kind} stands in {place}; it is sent as it is")
        self._told |= found.keys()


def check_export(conversation: Conversation, policy: SecretPolicy, notice: OnNotice) -> None:
    """Look at a conversation that is about to be exported as it is; as `SecretGuard.check`."""
    if policy == "off":
        return
    from golem_cli.core.secrets import kinds_in

    for kind, place in kinds_in(conversation).items():
        if policy == "block":
            raise ConfigurationError(
                f"not written: what looks like {kind} stands in {place}; golem export --redact replaces it, "
                "GOLEM_SECRETS=warn lets it pass"
            )
        notice(
            f"what looks like {kind} stands in {place}; it is written as it is, golem export --redact "
            "replaces it"
        )


def _outgoing(conversation: Conversation, prompt: str, parts: Sequence[Part]) -> dict[str, str]:
    """Return each kind of secret in what is about to be sent, and where its first stands, in words."""
    from golem_cli.core.secrets import find_secrets, secrets_in_data

    kinds: dict[str, str] = {}
    for place, text in (("the prompt", prompt), ("the instructions", conversation.instructions)):
        for found in find_secrets(text):
            kinds.setdefault(found.kind, f"{place}, line {text.count(chr(10), 0, found.start) + 1}")
    for number, part in enumerate(parts, 1):
        for found in find_secrets(part.url) + secrets_in_data(part.data):
            kinds.setdefault(found.kind, f"attachment {number}")
    return kinds


def _kinds_sent(messages: Sequence[Message]) -> set[str]:
    """The kinds that earlier prompts held: they were pointed out then, perhaps by another process."""
    from golem_cli.core.message import USER
    from golem_cli.core.secrets import find_secrets

    return {
        found.kind for message in messages if message.role == USER for found in find_secrets(message.content)
    }
