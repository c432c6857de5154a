"""Every wire format with the rules of its strict server, for histories that all of them must carry. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from golem_cli.core.history import leave_out_malformed_parts, repair
from golem_cli.core.message import Message, Part, ThinkingBlock
from golem_cli.core.model import ModelRequest, ModelSettings
from golem_cli.providers.anthropic import encode as anthropic
from golem_cli.providers.anthropic.parts import refusal_of as anthropic_refusal_of
from golem_cli.providers.bedrock import encode as bedrock
from golem_cli.providers.bedrock.families import family_of
from golem_cli.providers.bedrock.parts import refusal_of as bedrock_refusal_of
from golem_cli.providers.gemini import encode as gemini
from golem_cli.providers.gemini.parts import refusal_of as gemini_refusal_of
from golem_cli.providers.openai import encode as openai
from golem_cli.providers.openai.parts import refusal_of as openai_refusal_of
from golem_cli.providers.openai_responses import encode as openai_responses
from golem_cli.providers.openai_responses.parts import refusal_of as responses_refusal_of
from golem_cli.providers.services import SERVICES
from tests.support import strict_anthropic, strict_bedrock, strict_gemini, strict_openai, strict_responses
from tests.support.damaged_histories import BETWEEN_CALLS, FOREIGN, NOBODYS, OWN


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format: its `models` (of chat completions: services), and how a request to one is made and judged.

    `body` is a request as the strict server reads it, `refusal` what that says of it, None when it takes it.
    `signed` and `redacted` are what a model signs, beside which `extra` stands in a block. `says` tells
    whether a message gives a request something to say: one of which none does is refused by us; None when all
    are sent. `thinks` tells which wishes for thinking a model takes. With `repairs` only repaired histories
    are sent; with `instructs` a system message may stand among them; `calls` says that tools are sent too,
    `between_calls` that what was signed may stand between two calls of a turn.
    """

    name: str
    models: Sequence[str]
    body: Callable[[ModelRequest, str], dict[str, Any]]
    refusal: Callable[[dict[str, Any], str], object]
    refusal_of: Callable[[Part, str], str]
    says: Callable[[Message], bool] | None
    signed: Callable[[str], str]
    redacted: Callable[[str], str] = lambda model: ""
    extra: Mapping[str, str] = field(default_factory=dict)
    thinks: Callable[[Any, str], bool] = lambda wish, model: False
    settings: Mapping[str, Any] = field(default_factory=dict)
    repairs: bool = False
    instructs: bool = False
    calls: bool = False
    between_calls: bool = True

    def __str__(self) -> str:
        return self.name

    def sent(self, messages: Sequence[Message], model: str, **fields: Any) -> dict[str, Any]:
        """The request with `messages` to `model`, as the strict server reads it."""
        fields = {"settings": ModelSettings(**self.settings), **fields}
        return self.body(ModelRequest(messages=messages, **fields), model)

    def carried(self, messages: Sequence[Message], model: str) -> list[Message]:
        """What the chat supplies: without the parts that nobody, or that `model`, can take."""
        history, _ = leave_out_malformed_parts(messages)
        return [
            msgspec.structs.replace(
                message, parts=tuple(part for part in message.parts if not self.refusal_of(part, model))
            )
            for message in history
        ]

    def origin(self, model: str) -> str:
        """What a message that `model` signed names."""
        return f"{self.name}:{model}"

    def prepared(self, history: Sequence[Message], model: str) -> list[Message]:
        """What the chat sends of a random `history`: this format's own, repaired, without instructions."""
        carried = self.carried(repair(self.own(history)), model)
        return [message for message in carried if message.role != "system"]

    def own(self, history: Sequence[Message]) -> list[Message]:
        """`history` with this format's models where numbers stand, and what they signed, as they sign it.

        What a message of a model's has of another's signatures is left out: no adapter would write it.
        """
        return [self._own(message) for message in history]

    def _own(self, message: Message) -> Message:
        if message.role == "system" and not self.instructs:
            return msgspec.structs.replace(message, role="wizard")
        signer = self._model(message.signed_by) if message.signed_by.isdigit() else ""
        return msgspec.structs.replace(
            message,
            thinking=tuple(
                self._block(block, signer)
                for block in message.thinking
                if self._honest(block.signature, signer) and self._honest(block.redacted, signer)
            ),
            tool_calls=tuple(
                msgspec.structs.replace(call, signature=self._written(call.signature, signer, self.signed))
                for call in message.tool_calls
                if self._honest(call.signature, signer)
            ),
            signed_by=self.origin(signer) if signer else _OTHERS.get(message.signed_by, ""),
        )

    def _model(self, number: str) -> str:
        return self.models[int(number) % len(self.models)]

    def _honest(self, mark: str, signer: str) -> bool:
        return not signer or mark in {"", OWN} or (mark != NOBODYS and self._model(mark) == signer)

    def _block(self, block: ThinkingBlock, signer: str) -> ThinkingBlock:
        return msgspec.structs.replace(
            block,
            signature=self._written(block.signature, signer, self.signed),
            redacted=self._written(block.redacted, signer, self.redacted),
            extra={**self._placed(block.extra), **(self.extra if block.signature else {})},
        )

    def _placed(self, extra: Mapping[str, str]) -> Mapping[str, str]:
        return {} if extra.get("after") == BETWEEN_CALLS and not self.between_calls else extra

    def _written(self, mark: str, signer: str, write: Callable[[str], str]) -> str:
        if mark in {"", NOBODYS}:
            return mark and "ErUB"
        return write((signer or self.models[0]) if mark == OWN else self._model(mark))


_OTHERS: Final = {FOREIGN: "someone:else"}
_SERVICES: Final = {service.name: service for service in SERVICES if service.protocol == "openai"}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _claude_thinks(wish: Any, model: str) -> bool:
    if wish in ("adaptive", 2048) and model.startswith("claude-3-5"):
        return False
    return not ((wish == "adaptive" and "4-5" in model) or (wish == 2048 and "opus-5" in model))


def _gemini_thinks(wish: Any, model: str) -> bool:
    if (wish == "off" and "gemini-3" in model) or (wish == "adaptive" and "2.0" in model):
        return False
    return wish != 2048 or "2.5" in model


def _bedrock_thinks(wish: Any, model: str) -> bool:
    return not (
        (wish == "adaptive" and model != strict_bedrock.OPUS) or (wish == 2048 and "claude-3-haiku" in model)
    )


def _written(message: Message) -> bool:
    return message.role != "tool" and bool(message.content.strip() or message.parts)


ANTHROPIC: Final = Format(
    name="anthropic",
    models=("claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5", "claude-3-5-haiku-20241022"),
    body=lambda request, model: json.loads(
        anthropic.encode_request(request, model=model, origin=f"anthropic:{model}", stream=True)
    ),
    refusal=lambda body, model: strict_anthropic.refusal(body),
    refusal_of=lambda part, model: anthropic_refusal_of(part),
    says=_written,
    signed=lambda model: strict_anthropic.SIGNED + model,
    redacted=lambda model: strict_anthropic.SIGNED + model,
    thinks=_claude_thinks,
)
GEMINI: Final = Format(
    name="gemini",
    models=("gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.0-flash"),
    body=lambda request, model: (
        json.loads(gemini.encode_request(request, model=model, origin=f"gemini:{model}")) | {"model": model}
    ),
    refusal=lambda body, model: strict_gemini.refusal(body),
    refusal_of=lambda part, model: gemini_refusal_of(part),
    says=_written,
    signed=lambda model: strict_gemini.SIGNED + model,
    thinks=_gemini_thinks,
)
RESPONSES: Final = Format(
    name="openai-responses",
    models=("gpt-5-mini", "gpt-4o", "o3", "gpt-5.2"),
    body=lambda request, model: json.loads(
        openai_responses.encode_request(request, model=model, origin=f"openai-responses:{model}", stream=True)
    ),
    refusal=lambda body, model: strict_responses.refusal(body),
    refusal_of=lambda part, model: responses_refusal_of(part),
    says=lambda message: (
        message.role != "tool" and bool(message.content or message.parts or message.tool_calls)
    ),
    signed=lambda model: f"{strict_responses.ENCRYPTED}{model} in rs_1",
    extra={"id": '"rs_1"'},
    between_calls=False,
)
BEDROCK: Final = Format(
    name="bedrock",
    models=strict_bedrock.MODELS,
    body=lambda request, model: {
        "modelId": model,
        "operation": "converse",
        **json.loads(bedrock.encode_request(request, model=model, origin=f"bedrock:{model}", stream=False)),
    },
    refusal=lambda body, model: strict_bedrock.refusal(body),
    refusal_of=lambda part, model: bedrock_refusal_of(part, family_of(model)),
    says=lambda message: (
        message.role in {"user", "wizard"} and bool(message.content.strip() or message.parts)
    ),
    signed=lambda model: strict_bedrock.SIGNED + model,
    redacted=lambda model: _base64(strict_bedrock.SIGNED + model),
    thinks=_bedrock_thinks,
    instructs=True,
    calls=True,
)
OPENAI: Final = Format(
    name="openai",
    models=tuple(_SERVICES),
    body=lambda request, service: json.loads(
        openai.encode_request(request, model="m", quirks=_SERVICES[service].quirks, stream=True)
    ),
    refusal=strict_openai.refusal,
    refusal_of=lambda part, service: openai_refusal_of(part),
    says=None,
    signed=lambda service: "signed",
    settings={"max_tokens": 100, "seed": 1},
    repairs=True,
)
FORMATS: Final = (OPENAI, RESPONSES, ANTHROPIC, GEMINI, BEDROCK)
