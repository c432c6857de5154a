"""The picture of the chat in the README: a real session with a scripted model, drawn as SVG.

    python -m docs.picture

Runs the installed `golem` on a pseudo-terminal, types, and draws what a terminal emulator shows in the end:
docs/chat.svg. The seconds differ from run to run: they are replaced, so that the same program gives the same
picture. Needs what the tests need: `pip install -e '.[dev]'`.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import time
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pyte
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.support.chat_replies import chunk, hanging
from tests.support.chat_terminal import ALONE, at_prompt, say
from tests.support.golem_runs import GOLEM
from tests.support.http_server import HttpServer, Reply
from tests.support.terminal import Terminal

PICTURE: Final = Path(__file__).with_name("chat.svg")
COLUMNS, ROWS = 96, 38
SETTINGS: Final = """
[prices."openai:scripted"]
input = 2.5
output = 20
"""
THINKING: Final = (
    "The user wants the largest files below the current folder, in plain Python, without a shell. "
)
FIRST: Final = """\
Walk the tree once and let a **heap** keep the ten largest:

```python
from heapq import nlargest
from pathlib import Path

files = (path for path in Path(".").rglob("*") if path.is_file())
for path in nlargest(10, files, key=lambda path: path.stat().st_size):
    print(f"{path.stat().st_size:>12,}  {path}")
```

| step | cost |
| --- | --- |
| the walk | one `stat` for each file |
| the heap | *n* log 10, and ten paths in memory |

- Links are followed for their size, not into folders.
- A file that vanishes meanwhile raises `FileNotFoundError`.
"""
SECOND: Final = "With `du`, the disk usage counts instead of the length, so sparse files are"
SECONDS: Final = re.compile(r"\b\d+\.\d s\b")
HEXADECIMAL: Final = 6
LOADED_AFTER: Final = 5.0
"""Seconds in which golem loads what colours code, while a person types; until then code stays plain."""
FONTS: Final = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'


class Screen(pyte.Screen):
    """An emulator that knows dim text too: pyte does not, so its flag for blinking stands for it."""

    def select_graphic_rendition(self, *codes: int, private: bool = False) -> None:
        """Take SGR codes; 2 is dim, and 22 ends it."""
        if codes[:1] in ((38,), (48,)):
            super().select_graphic_rendition(*codes)
            return
        super().select_graphic_rendition(
            *(c for code in codes for c in {2: (5,), 22: (22, 25)}.get(code, (code,)))
        )


def main() -> None:
    """Run the session and write the picture."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["GOLEM_HOME"] = home
        Path(home, "config.toml").write_text(SETTINGS, encoding="utf-8")
        raw = session()
    PICTURE.write_text(svg(raw), encoding="utf-8")
    print(PICTURE)


def session() -> bytes:
    """Chat, and return what the terminal was sent."""
    with HttpServer([thoughtful(THINKING, FIRST), hanging(SECOND)]) as server:
        variables = {**ALONE, "OPENAI_BASE_URL": f"{server.url}/v1"}
        with Terminal(
            GOLEM, "-m", "openai:scripted", columns=COLUMNS, rows=ROWS, variables=variables
        ) as terminal:
            at_prompt(terminal)
            time.sleep(LOADED_AFTER)
            say(terminal, "The ten largest files here, in Python?", "FileNotFoundError", "cost")
            terminal.type("And in a shell?\r")
            terminal.wait_for("sparse files")
            terminal.type("\x03")
            terminal.wait_for("Stopped in mid-answer")
            at_prompt(terminal)
            terminal.type("/")
            terminal.wait_for("/sessions", "/resume")
            return terminal.raw


def thoughtful(thinking: str, text: str) -> Reply:
    """An answer behind a model's thinking, with its usage."""
    thought = {"choices": [{"index": 0, "delta": {"reasoning_content": thinking}, "finish_reason": None}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 58, "completion_tokens": 236}}
    lines = [chunk(line) for line in text.splitlines(keepends=True)]
    body = [event(thought), *lines, chunk("", "stop"), event(usage), b"data: [DONE]\n\n"]
    return Reply(headers={"Content-Type": "text/event-stream"}, body=body)


def event(value: dict[str, Any]) -> bytes:
    """One event of a stream."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def svg(raw: bytes) -> str:
    """Draw the screen that `raw` leaves."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        _environ={},
    )
    for row in rows(raw):
        console.print(row, no_wrap=True, overflow="crop", highlight=False)
    own_fonts = re.sub(r"@font-face \{\{.*?\n    \}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    template = own_fonts.replace("Fira Code, monospace", FONTS)
    drawn = console.export_svg(title="golem", code_format=template, unique_id="golem")
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


def rows(raw: bytes) -> list[Text]:
    """The rows of the screen up to the last one that shows something."""
    screen = Screen(COLUMNS, ROWS)
    pyte.ByteStream(screen).feed(raw)
    drawn = [row_of(screen.buffer[number]) for number in range(ROWS)]
    while not drawn[-1].plain.strip():
        drawn.pop()
    return drawn


def row_of(cells: Any) -> Text:
    """One row with its styles; seconds are those of a run that nobody measured."""
    row = Text()
    for style, run in groupby((cells[column] for column in range(COLUMNS)), key=style_of):
        row.append("".join(cell.data for cell in run), style)
    shown = SECONDS.sub("2.4 s", row.plain)
    if len(shown) == len(row.plain):
        row.plain = shown
    return row


def style_of(cell: Any) -> Style:
    """The style of a cell; the emulator's names of colours are Rich's with other spaces."""

    def named(color: str) -> str | None:
        if color == "default":
            return None
        if len(color) == HEXADECIMAL:
            return f"#{color}"
        return color.replace("brown", "yellow").replace("bright", "bright_")

    return Style(
        color=named(cell.fg),
        bgcolor=named(cell.bg),
        bold=cell.bold,
        italic=cell.italics,
        dim=cell.blink,
        underline=cell.underscore,
        strike=cell.strikethrough,
        reverse=cell.reverse,
    )


if __name__ == "__main__":
    main()
