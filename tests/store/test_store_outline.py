"""The text of a conversation that a search goes through, from the quick parse and from the codec alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.errors import TranscriptError
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.store.outline import Outline, Piece, summarize
from golem_cli.store.store import Store

FIRST = "01890000-0000-7000-8000-000000000001"


def written(folder: Path, **fields: Any) -> Path:
    path = folder / f"{FIRST}.json"
    value = {"golem": 1, "conversationId": FIRST, "messages": [], "runs": []} | fields
    path.write_text(json.dumps(value))
    return path


def pieces(path: Path) -> list[tuple[str, int, str]]:
    return [(each.place, each.message, each.text) for each in Outline(path).pieces() if each.text]


def test_every_text_of_a_conversation_has_its_place(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        title="the title",
        instructions="be brief",
        messages=[
            {"role": "user", "content": "look", "parts": [{"kind": "image", "url": "https://a.example/cat"}]},
            {
                "role": "assistant",
                "content": "so",
                "thinking": [{"text": "hmm"}, {"redacted": "AAAA"}],
                "toolCalls": [
                    {"id": "c1", "name": "shell", "args": {"command": "ls -l"}},
                    {
                        "id": "c2",
                        "name": "write",
                        "args": {"text": "one\ntwo \u00fc", "mode": 7, "deep": [{"x": None}]},
                    },
                    {"id": "c3", "name": "torn", "args": None, "argsText": '{"a": "b\\'},
                ],
            },
            {"role": "tool", "toolCallId": "c1", "toolName": "shell", "content": "a.txt"},
        ],
        runs=[
            {"runId": "r", "status": "dropped", "prompt": "given up", "partialText": "half", "error": "gone"}
        ],
    )
    assert pieces(path) == [
        ("title", 0, "the title"),
        ("instructions", 0, "be brief"),
        ("user", 1, "look"),
        ("user", 1, "https://a.example/cat"),
        ("assistant", 2, "so"),
        ("assistant", 2, "hmm"),
        ("assistant", 2, "shell"),
        ("assistant", 2, '{"command": "ls -l"}'),
        ("assistant", 2, "write"),
        ("assistant", 2, "text one\ntwo ü mode 7 deep x None"),
        ("assistant", 2, "torn"),
        ("assistant", 2, '{"a": "b\\'),
        ("tool", 3, "a.txt"),
        ("tool", 3, "shell"),
        ("prompt", 0, "given up"),
        ("partial text", 0, "half"),
        ("error", 0, "gone"),
    ]


def test_what_a_stopped_last_run_left_has_the_numbers_that_a_reader_sees(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        messages=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        runs=[{"runId": "r", "status": "failed", "stage": "model", "prompt": "c", "partialText": "d"}],
    )
    assert pieces(path) == [("user", 1, "a"), ("assistant", 2, "b"), ("user", 3, "c"), ("assistant", 4, "d")]
    assert Outline(path).summary.message_count == 4


def test_the_journal_is_read_along(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.create() as writer:
        writer.begin_run(RunRecord(run_id="r", prompt="Hello"))
        writer.note_partial("r", "Good mor")
        assert ("assistant", 2, "Good mor") in pieces(writer.path)


def test_a_damaged_message_is_an_error_when_its_text_is_asked_for(tmp_path: Path) -> None:
    outline = Outline(written(tmp_path, messages=[{"role": "user", "content": [1]}]))
    with pytest.raises(TranscriptError, match="content"):
        outline.pieces()


def test_the_summary_of_what_is_gone_is_none(tmp_path: Path) -> None:
    assert summarize(tmp_path / f"{FIRST}.json") is None


TEXT = st.text(max_size=8)
CALLS = st.builds(ToolCall, id=TEXT, name=TEXT, args=st.one_of(TEXT, st.just('{"a": "\\u00e9\\n"}')))
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool", "system", "odd"]),
    content=TEXT,
    parts=st.lists(st.builds(Part, kind=TEXT, url=TEXT, media_type=TEXT), max_size=2).map(tuple),
    thinking=st.lists(st.builds(ThinkingBlock, text=TEXT), max_size=2).map(tuple),
    tool_calls=st.lists(CALLS, max_size=2).map(tuple),
    tool_name=TEXT,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MESSAGES, max_size=4).map(tuple), TEXT)
def test_the_quick_parse_and_the_codec_find_the_same_text(
    tmp_path: Path, messages: tuple[Message, ...], title: str
) -> None:
    """A byte order mark sends the same document the way of the codec."""
    from golem_cli.core.codec import dump_conversation

    path = tmp_path / f"{FIRST}.json"
    data = dump_conversation(Conversation(conversation_id=FIRST, title=title, messages=messages))
    path.write_bytes(data)
    quick = Outline(path)
    quick_pieces = quick.pieces()
    path.write_bytes(b"\xef\xbb\xbf" + data)
    slow = Outline(path)
    assert quick.summary == slow.summary
    assert quick_pieces == slow.pieces()
    assert all(isinstance(each, Piece) for each in quick_pieces)
