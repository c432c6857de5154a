"""Why an answer of Gemini's ended, and which endings are a failure.

Source: Gemini API reference, "Generating content" (`FinishReason`, `BlockReason`, `SafetyRating`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ModelError
from golem_cli.providers.wire.fields import one_line, optional, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from golem_cli.providers.wire.fields import Json

GOOD: Final[Mapping[str, str]] = {"STOP": "stop", "MAX_TOKENS": "length"}
"""The endings that leave an answer, as every adapter calls them."""

_BLOCKED: Final[Mapping[str, str]] = {
    "SAFETY": "for safety",
    "RECITATION": "since it recited its sources",
    "LANGUAGE": "since it does not know the language",
    "BLOCKLIST": "for a forbidden word",
    "PROHIBITED_CONTENT": "for prohibited content",
    "SPII": "for personal data",
    "MODEL_ARMOR": "by a filter",
    "IMAGE_SAFETY": "for the safety of an image",
    "IMAGE_PROHIBITED_CONTENT": "for an image with prohibited content",
    "IMAGE_RECITATION": "since an image recited its sources",
}
_FAILED: Final[Mapping[str, tuple[str, bool]]] = {  # what happened, and whether another try may help
    "OTHER": ("for a reason that it does not name", True),
    "MALFORMED_FUNCTION_CALL": ("over a tool call that it could not write", True),
    "MALFORMED_RESPONSE": ("over an answer that it could not write", True),
    "UNEXPECTED_TOOL_CALL": ("over a call of a tool that it was not given", True),
    "TOO_MANY_TOOL_CALLS": ("over too many tool calls in a row", False),
    "MISSING_THOUGHT_SIGNATURE": ("over a signature that the history lacks", False),
}


def blocked_prompt(feedback: Json) -> ModelError | None:
    """The failure that `promptFeedback` tells; None when the prompt was not blocked."""
    reason = text(feedback, "blockReason")
    if not reason or reason == "BLOCK_REASON_UNSPECIFIED":
        return None
    told = text(feedback, "blockReasonMessage")
    return _failure(f"refused the prompt {_BLOCKED.get(reason, '')}", reason, told, feedback)


def failed_answer(candidate: Json) -> ModelError | None:
    """The failure that a candidate's `finishReason` tells; None for an ending that leaves an answer.

    A reason that is not known is none: it is handed on in the provider's word.
    """
    reason = text(candidate, "finishReason")
    told = text(candidate, "finishMessage")
    if reason in _BLOCKED:
        return _failure(f"stopped the answer {_BLOCKED[reason]}", reason, told, candidate)
    if reason in _FAILED:
        words, retryable = _FAILED[reason]
        return _failure(f"stopped the answer {words}", reason, told, candidate, retryable=retryable)
    return None


def _failure(words: str, reason: str, told: str, record: Json, *, retryable: bool = False) -> ModelError:
    rated = ", ".join(_blocking(record))
    more = "".join(f"; {one_line(each)}" for each in (rated, told) if each)
    return ModelError(
        f"{words.strip()} ({one_line(reason, limit=60)}{more})", code=reason, retryable=retryable
    )


def _blocking(record: Json) -> list[str]:
    """The categories of harm that blocked, in words."""
    ratings = optional(record, "safetyRatings", list) or []
    blocking = [each for each in ratings if isinstance(each, dict) and each.get("blocked") is True]
    return [
        text(each, "category").removeprefix("HARM_CATEGORY_").replace("_", " ").lower() for each in blocking
    ]
