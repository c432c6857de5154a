"""Text that attacks a terminal, and a conversation that has it in every field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

ATTACK: Final = (
    "\x1b]0;OWNED\x07\x1b]52;c;T1dORUQ=\x07\x1b]8;;http://evil\x1b\\\x1b[2J\x1b[8m\x1b[3A\x1bc\x9b31m\x9d0;OWNED\x9c"
    "\x1bPq\x1b\\\x1b^x\x1b\\\x1b[?1049h\x1b[6n\r\x08\x7f\x00"
    "\u202eOWNED\u2028\u200b\U000e0041 [red]x[/red] \x1b["
)
HIDDEN: Final = frozenset("\u202e\u2028\u200b\U000e0041")
"""What of it no terminal acts on, but must not be shown as it is either."""
TIME: Final = "2026-01-02T03:04:05Z"


def _call(name: str) -> dict[str, str]:
    return {"id": f"call {ATTACK}", "name": f"{name} {ATTACK}", "args": json.dumps({ATTACK: ATTACK})}


def messages() -> list[dict[str, Any]]:
    """A history of seven messages with the attack in each string."""
    part = {"kind": f"image {ATTACK}", "mediaType": f"image/png {ATTACK}", "url": f"http://x/{ATTACK}"}
    stamps = {"runId": f"run {ATTACK}", "conversationId": f"c {ATTACK}"}
    return [
        {"role": "system", "content": ATTACK},
        {"role": "user", "content": f"# {ATTACK}", "parts": [part], **stamps},
        {"role": "assistant", "content": ATTACK, "toolCalls": [_call("read"), _call("write")], **stamps},
        {
            "role": "tool",
            "toolCallId": f"call {ATTACK}",
            "toolName": ATTACK,
            "content": ATTACK,
            "failed": True,
        },
        {"role": f"odd {ATTACK}", "content": ATTACK, f"field {ATTACK}": ATTACK},
        {"role": "user", "content": f"a prompt {ATTACK}", **stamps},
        {
            "role": "assistant",
            "content": f"```{ATTACK}\n{ATTACK}\n```\n[link](http://a/{ATTACK})",
            "thinking": [{"text": ATTACK, "signature": ATTACK, "provider": ATTACK}],
            "interrupted": True,
        },
    ]


def conversation(identifier: str, model: str) -> dict[str, Any]:
    """The object of a stored conversation whose last run failed."""
    run = {
        "runId": f"run {ATTACK}", "status": "failed", "stage": "model", "error": ATTACK, "requests": 1,
        "toolCalls": 0, "usage": {}, "startedAt": TIME, "prompt": ATTACK, "partialText": ATTACK,
    }  # fmt: skip
    return {
        "golem": 1, "conversationId": identifier, "title": f"title {ATTACK}", "createdAt": TIME,
        "updatedAt": TIME, "model": model, "instructions": ATTACK, "settings": {},
        "forkedFrom": f"parent {ATTACK}", "messages": messages(), "runs": [run], f"more {ATTACK}": ATTACK,
    }  # fmt: skip


def write_conversation(store: Path, identifier: str, model: str) -> None:
    """Put the hostile conversation into a store."""
    folder = store / "conversations"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = json.dumps(conversation(identifier, model))
    (folder / f"{identifier}.json").write_text(text, encoding="utf-8")
