"""Histories to hold against every format: our samples, those of bug reports, and random ones, damaged.

Random messages name the models of a format by number, so that one history serves all: `Format.own` of
`every_format` puts a format's models, and what they signed, in the numbers' place.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from hypothesis import strategies as st

from golem_cli.core.codec import load_transcript
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall

_CASES: Final = Path(__file__).parent.parent / "conformance" / "cases"
_TRANSCRIPTS: Final = Path(__file__).parent.parent.parent / "transcripts"

PROMPT: Final = Message(role="user", content="go on")
IMAGE: Final = Part(kind="image", data="AAEC/+8=", media_type="image/png")
NOTE: Final = Part(kind="document", data="aGk=", media_type="text/plain")
PDF: Final = Part(kind="document", data="AAEC/+8=", media_type="application/pdf")
FILM: Final = Part(kind="video", data="AAEC/+8=", media_type="video/mp4")
LINKED_FILM: Final = Part(kind="video", url="https://example.com/v.mp4")

SAMPLES: Final = [
    pytest.param(load_transcript(path.read_bytes(), salvage=True).messages, id=path.stem)
    for path in sorted(_TRANSCRIPTS.glob("*.json*"))
]
CASES: Final = [
    pytest.param(json.dumps(case["transcript"]), id=path.stem)
    for path in sorted(_CASES.glob("*.json"))
    if (case := json.loads(path.read_text(encoding="utf-8")))["kind"] in {"normalize", "sanitize", "wire"}
    and isinstance(case.get("transcript"), list)
]
"""The transcripts of bug reports, as JSON."""

OWN: Final = "own"
"""A signature of the model that the message names."""
NOBODYS: Final = "nobody's"
"""A signature that no model of the format made."""
FOREIGN: Final = "foreign"
"""A message that a model of another provider signed."""
BETWEEN_CALLS: Final = "[0,1]"
"""Where a block stands between two calls of a turn without text."""
_NUMBERS: Final = ("0", "1", "2", "3")

ids = st.sampled_from(["", "a", "b", "call_0", "call|1", "é" * 70, "a_2", "n" * 64, "abcDEF123"])
texts = st.sampled_from(["", " \n", "x", "ends ", "cut \ud83d", "\x00", "\ud83d\ude00"])
signatures = st.sampled_from(["", OWN, NOBODYS, *_NUMBERS])
calls = st.builds(
    ToolCall,
    id=ids,
    name=st.sampled_from(["f", "", "docs.search", "1st", "n" * 90, "\ud83d"]),
    args=st.sampled_from(
        [
            "",
            " ",
            "{}",
            '{"a":',
            "[1]",
            "null",
            '"\ud83d',
            '{"a": "\\ud83d"}',
            '{"a":1,"a":2}',
            '{"\\\\ud83d":1}',
        ]
    ),
    signature=signatures,
)
thinking = st.builds(
    ThinkingBlock,
    text=texts,
    signature=signatures,
    redacted=st.sampled_from(["", "", OWN, "0"]),
    extra=st.sampled_from(
        [
            {},
            {"signs": "0"},
            {"after": BETWEEN_CALLS},
            {"after": "[1,0]"},
            {"after": "[-1,0]"},
            {"after": "[9,9]"},
            {"after": '["x"]'},
            {"after": "[1,0]", "signs": "3"},
            {"after": "[9,9]", "signs": "99"},
            {"after": '["x"]', "signs": '"x"'},
        ]
    ),
)
parts = st.sampled_from(
    [(), (IMAGE,), (NOTE, IMAGE), (LINKED_FILM, IMAGE), (PDF,), (PDF, PDF, FILM), (IMAGE,) * 12, (PDF,) * 4]
)
messages_of_any_kind = st.one_of(
    st.builds(Message, role=st.just("user"), content=texts, parts=parts),
    st.builds(Message, role=st.sampled_from(["wizard", "system"]), content=texts),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=texts,
        tool_calls=st.lists(calls, max_size=3).map(tuple),
        thinking=st.lists(thinking, max_size=2).map(tuple),
        signed_by=st.sampled_from([*_NUMBERS, "", FOREIGN]),
    ),
    st.builds(
        Message,
        role=st.just("tool"),
        content=texts,
        tool_call_id=ids,
        tool_name=st.sampled_from(["", "f"]),
        parts=parts,
        failed=st.booleans(),
    ),
)


def histories(most: int = 12) -> st.SearchStrategy[list[Message]]:
    """Histories of up to `most` messages."""
    return st.lists(messages_of_any_kind, max_size=most)
