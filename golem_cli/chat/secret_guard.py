"""The guard: a key-shaped string that is about to be sent or exported is pointed out before it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from golem_cli.core.errors import ConfigurationError

if TYPE_CHECKING:
    from golem_cli.chat.ports import OnNotice
    from golem_cli.core.conversation import Conversation
    from golem_cli.core.message import Part

SecretPolicy = Literal["warn", "block", "off"]
"""What becomes of a secret that is about to leave: a line is said, it is refused, or nobody looks."""

_GO_ON: Final = "take it out, or set GOLEM_SECRETS=warn to go on all the same"


class Origins(NamedTuple):
    """Which files a prompt is from: where in it the text of each begins, and what each part was."""

    texts: tuple[tuple[int, str], ...] = ()
    parts: tuple[str, ...] = ()


NO_FILES: Final = Origins()


class SecretGuard:
    """Looks at what is about to be sent in one conversation. A kind is pointed out once a conversation.

    What earlier prompts held was pointed out with them, and the instructions when they were given, perhaps
    by another process.
    """

    def __init__(self, policy: SecretPolicy, notice: OnNotice) -> None:
        self._policy = policy
        self._notice = notice
        self._told: set[str] = set()

    def check_instructions(self, text: str) -> None:
        """Look at instructions that are about to be kept, to be sent with every prompt.

        Raises `ConfigurationError` as `check` does.
        """
        if self._policy != "off":
            self._point_out(_in_text(text, "the instructions"), refused="not kept")

    def check(
        self,
        conversation: Conversation,
        *,
        prompt: str,
        parts: Sequence[Part] = (),
        origins: Origins = NO_FILES,
    ) -> None:
        """Look at a prompt, its parts and the instructions, before anything of them is kept or sent.

        Raises `ConfigurationError`, which never shows the secret, where the policy is to block.
        """
        if self._policy == "off":
            return
        found = _outgoing(conversation, prompt, parts, origins)
        if not found.keys() <= self._told:  # else a long conversation is not searched again
            self._told |= _kinds_sent(conversation)
        self._point_out(found, refused="not sent")

    def _point_out(self, found: dict[str, str], *, refused: str) -> None:
        for kind, place in found.items():
            what = f"what looks like {kind} stands in {place}"
            if self._policy == "block":
                raise ConfigurationError(f"{refused}: {what}; {_GO_ON}")
            if kind not in self._told:
                self._notice(f"{what}; it is sent as it is")
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


def _outgoing(
    conversation: Conversation, prompt: str, parts: Sequence[Part], origins: Origins
) -> dict[str, str]:
    """Return each kind of secret in what is about to be sent, and where its first stands, in words."""
    kinds = _in_text(prompt, "the prompt", origins)
    for kind, place in _in_text(conversation.instructions, "the instructions").items():
        kinds.setdefault(kind, place)
    for number, part in enumerate(parts, 1):
        for kind in _kinds_in_part(part):
            name = origins.parts[number - 1] if origins.parts else ""
            kinds.setdefault(kind, _shown(name) or f"attachment {number}")
    return kinds


def _in_text(text: str, place: str, origins: Origins = NO_FILES) -> dict[str, str]:
    from golem_cli.core.secrets import find_secrets

    kinds: dict[str, str] = {}
    for found in find_secrets(text):
        begin, name = max((each for each in origins.texts if each[0] <= found.start), default=(0, ""))
        line = text.count("\n", begin, found.start) + 1
        kinds.setdefault(found.kind, f"{_shown(name) or place}, line {line}")
    return kinds


def _shown(name: str) -> str:
    """Return a file's name as it may be shown; one that holds a secret says no more than that it is one."""
    from golem_cli.core.secrets import find_secrets

    return "a file" if find_secrets(name) else name


def _kinds_in_part(part: Part) -> set[str]:
    from golem_cli.core.secrets import find_secrets, secrets_in_data

    return {found.kind for found in find_secrets(part.url) + secrets_in_data(part.data)}


def _kinds_sent(conversation: Conversation) -> set[str]:
    """Return the kinds that went with earlier prompts of `conversation`, or will with the next ones."""
    from golem_cli.core.message import USER
    from golem_cli.core.secrets import find_secrets

    if not conversation.messages and not conversation.runs:
        return set()
    asked = [(each.content, each.parts) for each in conversation.messages if each.role == USER]
    asked += [(run.prompt, run.prompt_parts) for run in conversation.runs]
    texts = [conversation.instructions, *(text for text, _ in asked)]
    sent = {found.kind for text in texts for found in find_secrets(text)}
    return sent.union(*(_kinds_in_part(part) for _, parts in asked for part in parts))
