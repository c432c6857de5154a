"""Transcripts on the screen: one line a message, or one message whole. Everything in them is neutralized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from golem_cli.core.entries import numbered
from golem_cli.core.message import ASSISTANT, ROLES, TOOL, Message, Part, replace
from golem_cli.core.run_status import DROPPED, FAILED, INTERRUPTED
from golem_cli.render.neutralize import neutralize, one_line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from golem_cli.core.conversation import RunRecord
    from golem_cli.core.entries import Entry

_SUMMARY: Final = 2000
"""Characters of a message that a summary looks at; no line of a terminal is longer."""
_BASE64_GROUP: Final = 4
_WHY_LEFT_OUT: Final = {FAILED: "failed", DROPPED: "dropped", INTERRUPTED: "stopped"}


def size_of(part: Part) -> str:
    """Say how large a part's data is, without decoding it.

    >>> size_of(Part(kind="image", data="aGVsbG8=", media_type="image/png"))
    '5 bytes'
    """
    size = len(part.data) // _BASE64_GROUP * 3 - part.data[-2:].count("=")
    return f"{size:,} bytes"


def part_line(part: Part) -> str:
    """Name a part in one line: its kind and where it is, or what and how much it holds."""
    where = part.url or f"{part.media_type or 'no media type'}, {size_of(part)}"
    return one_line(f"[{part.kind or 'part'}: {where}]")


def summary_line(message: Message, left_out_by: RunRecord | None = None) -> str:
    """Return what a message holds, in one neutralized line, at most some thousand characters of it."""
    pieces = [one_line(" ".join(message.content[:_SUMMARY].split()))] if message.content else []
    pieces += [part_line(part) for part in message.parts]
    pieces += [
        f"{one_line(call.name) or 'unnamed'}({one_line(call.args[:_SUMMARY].strip())})"
        for call in message.tool_calls
    ]
    if not pieces and message.thoughts:
        pieces = [f"thinking: {one_line(message.thoughts[0].text[:_SUMMARY]) or 'redacted'}"]
    if message.role == TOOL:
        pieces.insert(0, f"{one_line(message.tool_name) or 'unnamed'} →")
    return " ".join([*marks(message, left_out_by), *pieces]) or "(empty)"


def history_lines(entries: Sequence[Entry], *, width: int) -> Iterator[str]:
    """Yield one line an entry, cut to `width` cells: its number if it has one, its role, what it holds."""
    from golem_cli.render.cells import shorten

    digits = len(str(max((entry.number for entry in entries), default=0) + 1))
    for number, message, run in entries:
        head = f"{number or '':>{digits}}  {_role(message):<9}  "
        yield head + shorten(summary_line(message, run), max(width - len(head), 8))


def history_view(entries: Sequence[Entry]) -> RenderableType:
    """Return the entries, one a line, as wide as the console."""
    return _History(entries)


class _History:
    """`history_lines` with the roles in their colours."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        lines = history_lines(self._entries, width=options.max_width)
        for (_, message, left_out_by), line in zip(self._entries, lines, strict=True):
            text = Text(line, no_wrap=True, style="note" if left_out_by else "")
            start = line.index(_role(message))
            text.stylize(style_of(message), start, start + len(_role(message)))
            yield text


_EXCHANGE_LINES: Final = 40
"""Lines of an answer's source that the view of an exchange shows; a longer one is shown from its end."""


def exchange_view(messages: Sequence[Message], *, first: int) -> RenderableType:
    """Return one exchange: a line for each message, and the text of its last answer as it was shown."""
    from rich.console import Group

    last = messages[-1]
    if last.role != ASSISTANT or not last.content:
        return history_view(numbered(messages, first=first))
    number = first + len(messages) - 1
    before = [history_view(numbered(messages[:-1], first=first))] if messages[:-1] else []
    return Group(*before, *_end_of(last, number))


def _end_of(answer: Message, number: int) -> Iterator[RenderableType]:
    """An answer as it was shown; of a long one its end."""
    from rich.text import Text

    yield _head(answer, number)
    lines = answer.content.splitlines(keepends=True)
    if len(lines) > _EXCHANGE_LINES:
        yield Text(f"… the end of its {len(lines):,} lines; /show {number} has them all", style="note")
    yield _content(replace(answer, content="".join(lines[-_EXCHANGE_LINES:])))


def message_view(message: Message, number: int) -> RenderableType:
    """Return one message whole: its stamps, thinking, text, parts and calls. `number` is what people type."""
    from rich.console import Group

    return Group(*_pieces(message, number))


def _pieces(message: Message, number: int) -> Iterator[RenderableType]:
    from rich.text import Text

    yield _head(message, number)
    for label, value in _facts(message):
        yield Text(f"{label}: {one_line(value)}", style="note")
    for block in message.thoughts:
        yield Text(neutralize(block.text) or "(redacted thinking)", style="note italic")
    if message.content:
        yield _content(message)
    for part in message.parts:
        yield Text(part_line(part))
    for call in message.tool_calls:
        yield Text(f"● {one_line(call.name) or 'unnamed'}  {one_line(call.id) or '(no id)'}")
        yield Text(neutralize(call.args) or "(no arguments)")


def _head(message: Message, number: int) -> RenderableType:
    from rich.text import Text

    return Text(" ".join([f"{number}", _role(message), *marks(message)]), style=style_of(message))


def _content(message: Message) -> RenderableType:
    from rich.text import Text

    if message.role != ASSISTANT:
        return Text(neutralize(message.content))
    from golem_cli.render.markdown import MarkdownText

    return MarkdownText(neutralize(message.content))


def _facts(message: Message) -> Iterator[tuple[str, str]]:
    """What a message carries beside its content, where it carries it."""
    facts = (
        ("call", message.tool_call_id),
        ("tool", message.tool_name),
        ("run", message.run_id),
        ("conversation", message.conversation_id),
        ("unknown fields", ", ".join(message.extra)),
    )
    return ((label, value) for label, value in facts if value)


def marks(message: Message, left_out_by: RunRecord | None = None) -> list[str]:
    """Name what sets a message apart: that the conversation goes on without it, a failure, a stop."""
    left_out = f"(left out: {_WHY_LEFT_OUT.get(left_out_by.status, 'not ended')})" if left_out_by else ""
    named = ((left_out, left_out_by), ("(failed)", message.failed), ("(interrupted)", message.interrupted))
    return [mark for mark, given in named if given]


def _role(message: Message) -> str:
    return one_line(message.role[:40]) or "(no role)"


def style_of(message: Message) -> str:
    """Return the name of the style in which a message's role is shown."""
    return f"role.{message.role}" if message.role in ROLES else "role.other"
