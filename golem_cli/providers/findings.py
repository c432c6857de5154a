"""What the provider of a model would refuse of a history, leaves behind or gets in another form.

The encoder of its format is asked, by letting it encode the history for nobody: no key, no network. What
repair does for every provider alike is not repeated here (`golem_cli.core.history.find_findings`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from golem_cli.core.history import leave_out_malformed_parts, repair, scalar_text
from golem_cli.core.history.wire_view import is_empty
from golem_cli.core.message import SYSTEM, Message, replace
from golem_cli.providers.services import Quirks, find_service
from golem_cli.providers.wire.findings import Findings
from golem_cli.providers.wire.flatten import tools_as_text
from golem_cli.providers.wire.history import note_broken, note_empty

if TYPE_CHECKING:
    from golem_cli.core.message import Part
    from golem_cli.providers.services import Service
    from golem_cli.providers.wire.findings import Note, WireFinding, WireRule


_BYTES_PER_TOKEN: Final = 4
"""Of text, in any script, roughly; only the model's own counter knows."""


class WireFormat(NamedTuple):
    """How a model takes a history: why it cannot take a part ("" when it can), its encoder, and its window.

    `window` is the context window in tokens, 0 when it is not known.
    """

    refusal_of: Callable[[Part], str]
    encode: Callable[[Sequence[Message], Note], object]
    window: int = 0


def wire_findings(messages: Sequence[Message], model: str) -> list[WireFinding] | None:
    """What happens to `messages` on their way to `model`, PROVIDER:NAME; None when there is no such provider.

    In order of the messages, numbered from 1. Without any they travel whole, in their form and
    order. It is supposed that the user speaks next; system messages are the run's to replace.

    >>> wire_findings([Message(role="user", content="hi")], "anthropic:claude-opus-4-8")
    []
    >>> [found.rule for found in wire_findings([Message(role="user", content=" ")], "gemini:gemini-3") or ()]
    ['blank-text', 'empty-turn']
    """
    form = _format_of(model)
    if form is None:
        return None
    findings = Findings()
    numbered = [message for message in Findings.numbered(messages) if message.role != SYSTEM]
    sendable, _ = leave_out_malformed_parts(numbered)
    for message in sendable:
        _note_broken_text(message, findings.note)
    taken = [_taken(message, form, findings.note) for message in sendable]
    form.encode(repair(taken), findings.note)  # repaired as by the run: what is dropped is not told again
    _note_window(sendable, form.window, findings.note)
    return findings.in_order()


def _taken(message: Message, form: WireFormat, note: Note) -> Message:
    """`message` without the parts that the model cannot take."""
    reasons = [form.refusal_of(part) for part in message.parts]
    if not any(reasons):
        return message
    for number, reason in enumerate(reasons, 1):
        if reason:
            note(message, "refused-part", f"part {number} is left out: {reason}")
    parts = zip(message.parts, reasons, strict=True)
    taken = replace(message, parts=tuple(part for part, reason in parts if not reason))
    if is_empty(taken):
        note_empty(message, note)
    return taken


def _note_broken_text(message: Message, note: Note) -> None:
    texts = [message.content, message.tool_name, message.tool_call_id]
    texts += [text for call in message.tool_calls for text in (call.id, call.name, call.args)]
    if any(scalar_text(text) != text for text in texts):
        note_broken(message, note)


def _note_window(messages: Sequence[Message], window: int, note: Note) -> None:
    """Note at which message, seen from the end, the texts outgrow the window; images do not count."""
    tokens = 0
    for message in reversed(messages):
        tokens += _size_of(message) // _BYTES_PER_TOKEN
        if 0 < window < tokens:
            text = (
                f"from here on some {tokens:,} tokens of text: the window of {window:,} cannot hold them all"
            )
            note(message, "context-window", text)
            return


def _size_of(message: Message) -> int:
    """The bytes of the texts of `message`."""
    texts = [message.content, *(block.text for block in message.thinking)]
    texts += [text for call in message.tool_calls for text in (call.name, call.args)]
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _format_of(model: str) -> WireFormat | None:
    provider, _, name = model.partition(":")
    if provider == "local":
        return _local(model)
    service = find_service(provider)
    return _of_service(service, name, model) if service else None


def _of_service(service: Service, model: str, origin: str) -> WireFormat:
    """The format of `service` for its `model`, called `origin` in the file."""
    if service.protocol == "anthropic":
        from golem_cli.providers.anthropic import parts as claude_parts
        from golem_cli.providers.anthropic import turns
        from golem_cli.providers.anthropic.claude import claude

        encode = partial(turns.encode_turns, origin=origin)
        return _asked(claude_parts.refusal_of, encode, claude(model).window)
    if service.protocol == "gemini":
        from golem_cli.providers.gemini import contents, rows
        from golem_cli.providers.gemini import parts as gemini_parts

        row = rows.row_of(model)
        encode = partial(contents.encode_contents, origin=origin, row=row)
        return _asked(gemini_parts.refusal_of, encode, row.window)
    if service.protocol == "responses":
        from golem_cli.providers.openai_responses import items
        from golem_cli.providers.openai_responses import parts as item_parts

        return _asked(item_parts.refusal_of, partial(items.encode_items, origin=origin))
    if service.protocol == "bedrock":
        from golem_cli.providers.anthropic.claude import claude
        from golem_cli.providers.bedrock import families
        from golem_cli.providers.bedrock import parts as block_parts
        from golem_cli.providers.bedrock import turns as converse

        family = families.family_of(model)
        refusal_of = partial(block_parts.refusal_of, family=family)
        encode = partial(converse.encode_turns, origin=origin, family=family)
        return _asked(refusal_of, encode, claude(model).window)
    from golem_cli.providers.openai import parts as chat_parts

    return WireFormat(chat_parts.refusal_of, _chat_completions(service.quirks))


def _asked(refusal_of: Callable[[Part], str], encode: Callable[..., object], window: int = 0) -> WireFormat:
    return WireFormat(refusal_of, lambda messages, note: encode(messages, note=note), window)


def _chat_completions(quirks: Quirks) -> Callable[[Sequence[Message], Note], object]:
    from golem_cli.providers.openai.messages import encode_messages

    return lambda messages, note: encode_messages(messages, quirks, note=note)


def _local(model: str) -> WireFormat:
    """The embedded engine's. Of weights that golem does not bring only the engine can say what they know."""
    from golem_cli.providers.local import SMOLLM2, LocalModel

    brought = model.partition(":")[2] in {"", SMOLLM2.name}
    encode = _chat_completions(Quirks())

    def told(messages: Sequence[Message], note: Note) -> None:
        if brought and not SMOLLM2.tool_calls:
            encode(tools_as_text(messages, note=note), note)
            return
        tools_as_text(messages, note=partial(_if_needed, note))
        encode(messages, note)

    return WireFormat(LocalModel(Path(), name=model).refusal_of, told, SMOLLM2.window if brought else 0)


def _if_needed(note: Note, message: Message, rule: WireRule, text: str, call_id: str = "", /) -> None:
    note(message, rule, f"{text}, if the model's chat template knows no tools", call_id)
