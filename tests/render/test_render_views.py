"""Views and exports of transcripts: hostile text in them is shown and does nothing."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from golem_cli.core.codec import load_messages
from golem_cli.core.conversation import Conversation, RunRecord
from golem_cli.core.entries import numbered
from golem_cli.core.history import find_findings, normalize_history, sanitize_history
from golem_cli.core.message import Message, Part, ThinkingBlock, ToolCall
from golem_cli.render.answer import AnswerView
from golem_cli.render.cells import break_rows, most_cells, shorten
from golem_cli.render.console import Appearance, appearance, make_console
from golem_cli.render.export import export_html, export_markdown
from golem_cli.render.listing import conversation_lines
from golem_cli.render.neutralize import neutralize
from golem_cli.render.report import findings_lines, repair_lines, sanitize_lines
from golem_cli.render.transcript import history_lines, history_view, message_view, part_line

CASES = Path(__file__).parents[1] / "conformance" / "cases"
RENDER_CASES = {
    path.stem: case
    for path in sorted(CASES.glob("*.json"))
    if (case := json.loads(path.read_text(encoding="utf-8")))["kind"] == "render"
}
FAMILY = "👩\u200d👩\u200d👧"
SGR = re.compile(r"\x1b\[[\d;]*m")


def messages_of(case: dict[str, Any]) -> list[Message]:
    return load_messages(json.dumps(case["transcript"]))


def printed(renderable: Any, *, plain: bool = False, color: bool = True, width: int = 60) -> str:
    out = io.StringIO()
    make_console(out, plain=plain, color=color, width=width).print(renderable)
    return out.getvalue()


def everything_shown(messages: list[Message]) -> list[str]:
    conversation = Conversation(
        conversation_id="c\x1b]0;x\x07", title="t\x1b[31m\nfake", messages=tuple(messages), model="m\x9b"
    )
    summary = SimpleNamespace(
        conversation_id="c\x1b", title="t\nu", updated_at="", message_count=1, model="m\r", status="s\x9b",
        problem="",
    )  # fmt: skip
    normalized, repaired = normalize_history(messages)
    _, sanitized = sanitize_history(messages)
    written: list[str] = []
    view = AnswerView(written.append, width=60, height=20, title="t\x1b[31m")
    for message in normalized:
        view.thinking(message.content)
        view.feed(message.content)
        for call in message.tool_calls:
            view.tool_started(call.name, call.args)
            view.tool_ended(call.name, message.content + call.args, failed=True)
        view.notice(message.content, error=True)
    view.close("f\x1b[0m\n")
    # What the panel itself needs, beside SGR: back to the row's start, up, erase below, erase the row's rest.
    panel = re.sub(r"\x1b\[(?:\d+[AD]|J|K|\?2026[hl])|\r\n|\r(?=\x1b\[)", "\n", "".join(written))
    return [
        panel,
        printed(history_view(numbered(messages))),
        *(printed(message_view(message, number)) for number, message in enumerate(messages, 1)),
        *conversation_lines([summary], [summary.conversation_id], width=80),
        *findings_lines(find_findings(messages)),
        *repair_lines(repaired),
        *sanitize_lines(sanitized),
        export_markdown(conversation),
        export_html(conversation),
    ]


@pytest.mark.parametrize("name", RENDER_CASES)
def test_no_control_character_of_a_transcript_is_shown(name: str) -> None:
    """Cases 148, 149, 153, 154 and 155: everything that prints writes text and SGR only."""
    for shown in everything_shown(messages_of(RENDER_CASES[name])):
        text = SGR.sub("", shown)
        assert neutralize(text) == text


def test_there_are_five_render_cases() -> None:
    assert [name[:3] for name in RENDER_CASES] == ["148", "149", "153", "154", "155"]


def test_reported_ids_stay_on_their_line() -> None:
    """Case 153: an id never looks like a line of the report."""
    messages = messages_of(next(case for name, case in RENDER_CASES.items() if name.startswith("153")))
    _, repaired = normalize_history(messages)
    for line in [*findings_lines(find_findings(messages)), *repair_lines(repaired)]:
        assert len(line.splitlines()) == 1
    for line in history_lines(numbered(messages), width=80):
        assert len(line.splitlines()) == 1


def test_html_and_script_links_are_dead_in_exports() -> None:
    """Case 154: a tag is text, a javascript: link is no link, an image is not loaded."""
    messages = messages_of(next(case for name, case in RENDER_CASES.items() if name.startswith("154")))
    conversation = Conversation(messages=tuple(messages), title="<script>alert(1)</script>")
    page = export_html(conversation)
    assert "<img" not in page
    assert "<script" not in page
    assert 'href="javascript' not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "https://t.example/p?d=secret" in page
    document = export_markdown(conversation)
    assert "```\n<img src=x onerror=alert(1)>" in document  # a script link in it: shown as code
    assert "\\<script\\>" in document


def test_what_a_conversation_goes_on_without_stands_in_exports_without_a_number() -> None:
    conversation = Conversation(
        messages=(
            Message(role="user", content="one", run_id="a"),
            Message(role="user", content="three", run_id="c"),
        ),
        runs=(
            RunRecord(run_id="a", status="done"),
            RunRecord(run_id="b", status="failed", prompt="<b>two", partial_text="T\x1b[2JW"),
            RunRecord(run_id="c", status="done"),
        ),
    )
    assert export_markdown(conversation).endswith(
        "## 1. user\n\none\n\n"
        "## user (left out: failed)\n\n&lt;b>two\n\n"
        "## assistant (left out: failed) (interrupted)\n\nT\u27e6U+001B\u27e7[2JW\n\n"
        "## 2. user\n\nthree\n"
    )
    page = export_html(conversation)
    assert re.findall("<h2>(.*)</h2>", page) == [
        "1. user",
        "user (left out: failed)",
        "assistant (left out: failed) (interrupted)",
        "2. user",
    ]
    assert "&lt;b&gt;two" in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    "link",
    [
        "[x](javascript:alert(1))",
        "[x](JavaScript:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x]\n\n[x]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "[x](vbscript:x) [y](data:text/html,x)",
        "![x](javascript:alert(1))",
    ],
)
def test_no_spelling_of_a_script_link_lives(link: str) -> None:
    conversation = Conversation(messages=(Message(role="assistant", content=link),))
    page = export_html(conversation).lower()
    assert not re.search(r"(?:href|src)=\"\s*(?:javascript|vbscript|data)", page)


def test_code_keeps_its_angle_brackets_in_markdown() -> None:
    text = "`a<b>` and <b>bold</b>\n\n```html\n<p>\n```\n"
    document = export_markdown(Conversation(messages=(Message(role="assistant", content=text),)))
    assert "`a<b>` and &lt;b>bold&lt;/b>" in document
    assert "```html\n<p>\n```" in document


def test_a_tool_result_cannot_close_its_fence() -> None:
    message = Message(role="tool", content="````\n# forged")
    document = export_markdown(Conversation(messages=(message,)))
    assert "`````\n````\n# forged\n`````" in document


def test_a_line_of_any_length_is_cut_and_says_so() -> None:
    """Case 155."""
    message = Message(role="tool", tool_name="logs", content="x" * 100_000)
    (line,) = history_lines(numbered([message]), width=60)
    assert most_cells(line) <= 60 + 2  # the arrow and the ellipsis may be wide
    assert "(+" in line


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("abc", 3, "abc"),
        (
            "漢字漢字漢字漢字",
            12,
            "漢字漢… (+5)",
        ),  # the note takes 6 cells and leaves room for 3 wide characters
        (FAMILY * 10, 15, FAMILY * 4 + "… (+30)"),  # two cells each; the note takes 7
        (FAMILY * 4, 8, FAMILY * 4),
        ("abc", 0, ""),
    ],
)
def test_shorten_cuts_at_graphemes(text: str, width: int, cut: str) -> None:
    assert shorten(text, width) == cut


def test_rows_break_at_spaces_and_never_lose_text() -> None:
    assert break_rows("aaa bbb ccc", 7) == ["aaa bbb", "ccc"]
    assert break_rows("a" * 10, 4) == ["aaaa", "aaaa", "aa"]
    assert break_rows("", 4) == [""]


def test_rich_markup_is_text() -> None:
    message = Message(role="user", content="[red]no[/red] [link=x]y[/link] :smile:")
    for shown in (printed(history_view(numbered([message]))), printed(message_view(message, 1))):
        assert "[red]no[/red] [link=x]y[/link] :smile:" in SGR.sub("", shown)


def test_a_message_is_shown_whole() -> None:
    message = Message(
        role="assistant",
        content="**yes**",
        thinking=(ThinkingBlock(text="hm"), ThinkingBlock(redacted="xx")),
        tool_calls=(ToolCall(id="c1", name="read", args='{"a": 1'),),
        run_id="r1",
    )
    shown = SGR.sub("", printed(message_view(message, 7)))
    for piece in ("7 assistant", "run: r1", "hm", "(redacted thinking)", "yes", "● read  c1", '{"a": 1'):
        assert piece in shown


def test_a_part_is_named_with_its_size() -> None:
    assert (
        part_line(Part(kind="image", data="aGVsbG8=", media_type="image/png"))
        == "[image: image/png, 5 bytes]"
    )
    assert part_line(Part(kind="image", url="https://x\n")) == "[image: https://x⟦U+000A⟧]"


def test_plain_output_has_no_escape_sequence_and_no_color_no_colour() -> None:
    view = message_view(Message(role="assistant", content="# t\n\n`c`\n\n```python\nx = 1\n```"), 1)
    assert "\x1b" not in printed(view, plain=True)
    shown = printed(view, color=False)
    assert "\x1b[1" in shown  # bold is no colour
    assert not re.search(r"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7])", shown)


@pytest.mark.parametrize(
    ("is_terminal", "environment", "plain", "look"),
    [
        (True, {"TERM": "xterm"}, False, Appearance(plain=False, color=True)),
        (True, {"TERM": "xterm"}, True, Appearance(plain=True, color=False)),
        (True, {"TERM": "dumb"}, False, Appearance(plain=True, color=False)),
        (True, {}, False, Appearance(plain=True, color=False)),
        (False, {"TERM": "xterm"}, False, Appearance(plain=True, color=False)),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, False, Appearance(plain=False, color=True)),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False, Appearance(plain=False, color=False)),
    ],
)
def test_appearance(is_terminal: bool, environment: dict[str, str], plain: bool, look: Appearance) -> None:
    assert appearance(is_terminal=is_terminal, environment=environment, plain=plain) == look


def test_the_table_of_conversations() -> None:
    one = SimpleNamespace(
        conversation_id="0193", title="A title", updated_at="2026-01-01T00:00:00.000Z", message_count=4,
        model="local:x", status="failed", problem="",
    )  # fmt: skip
    now = datetime(2026, 1, 3, tzinfo=UTC)
    _, row = conversation_lines([one], ["0193"], width=80, now=now)
    assert row.split() == ["0193", "2", "d", "4", "failed", "local:x", "A", "title"]
    _, narrow = conversation_lines([one], ["0193"], width=20, now=now)
    assert narrow.endswith("A title"), "a title keeps some room"
