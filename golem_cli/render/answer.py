"""The answer panel: everything of one answer on its way to the terminal, between two rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from golem_cli.render.cells import break_rows, shorten
from golem_cli.render.echo import NEW_ROW
from golem_cli.render.neutralize import Neutralizer, neutralize, one_line
from golem_cli.render.sections import PlainText, PlainThinking, Thinking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from golem_cli.render.stream import StreamingMarkdown
    from golem_cli.render.syntax_theme import SyntaxTheme

Section = Literal["text", "thinking", "line"]

_BEGIN_UPDATE: Final = "\x1b[?2026h"
_END_UPDATE: Final = "\x1b[?2026l"
_DIM: Final = "\x1b[2m"
_RED: Final = "\x1b[31m"
_OFF: Final = "\x1b[0m"


class AnswerView:
    """Shows an answer as it arrives.

    `write` takes text for the terminal and flushes it; each call here makes at most one call of it, two after
    a resize. `title` stands in the rule above, what `close` is given in the rule below. With `plain` no
    escape sequence is written and Markdown stays as it is; without `color` styles other than colours remain;
    `theme` has the colours of code, the terminal's own without one. `synchronized` has a terminal draw each
    change at once (DEC private mode 2026; others ignore it). `size` says the terminal's columns and rows: it
    is asked before each change, for a resize is often signalled later than the next fragment comes.
    Everything untrusted is neutralized here.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        width: int,
        height: int,
        title: str = "",
        plain: bool = False,
        color: bool = True,
        synchronized: bool = True,
        theme: SyntaxTheme | None = None,
        size: Callable[[], tuple[int, int]] | None = None,
    ) -> None:
        self._write = write
        self._size = size
        self._theme = theme
        self._width, self._height = width, height
        self._title = one_line(title)
        self._plain, self._color = plain, color and not plain
        self._synchronized = synchronized and not plain
        self._opened = False
        self._thinking: Thinking | PlainThinking | None = None
        self._thinking_filter = Neutralizer()
        self._text: StreamingMarkdown | PlainText | None = None
        self._text_filter = Neutralizer()
        self._last: Section | None = None

    @property
    def opened(self) -> bool:
        """Whether anything has been shown."""
        return self._opened

    def feed(self, text: str) -> None:
        """Show a fragment of the answer's text."""
        self._fit()
        shown = self._text_filter.feed(text)
        if shown:
            self._send(self._begin("text") + self._text_of().feed(shown))

    def thinking(self, text: str) -> None:
        """Show a fragment of the model's reasoning; it gives way to a line when something else comes."""
        self._fit()
        shown = self._thinking_filter.feed(text)
        if not shown:
            return
        out = self._begin("thinking")
        if self._thinking is None:
            self._thinking = PlainThinking() if self._plain else Thinking(self._width, self._height)
        self._send(out + self._thinking.feed(shown))

    def tool_started(self, name: str, args: str) -> None:
        """Show that a tool is called, in one line."""
        self._line(f"● {one_line(name)}({one_line(args.strip())})")

    def tool_ended(self, name: str, result: str, *, failed: bool = False) -> None:
        """Show the first line of a tool's result and how many more there are."""
        lines = (neutralize(result).strip() or "(no output)").split("\n")
        more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
        label = f"{one_line(name)} failed: " if failed else ""
        room = max(self._width - 6 - len(more), 8)
        first = shorten(one_line(label + lines[0]), room)
        self._line(f"  └ {first}{more}", style=_RED if failed else _DIM)

    def notice(self, text: str, *, error: bool = False) -> None:
        """Show a line of golem's own, set apart from the answer."""
        self._line(f"! {one_line(text)}", style=_RED if error else _DIM, cut=False)

    def resize(self, width: int, height: int) -> None:
        """Go on in a terminal of this size."""
        if (width, height) == (self._width, self._height):
            return
        self._width, self._height = width, height
        out = ""
        if self._text is not None:
            out = self._text.resize(width, height)
        if self._thinking is not None:
            out += self._thinking.resize(width, height)
        self._send(out)

    def leave(self) -> None:
        """Let something else write below: what is open stays as it is, and what follows begins a new row."""
        width, height = self._width, self._height
        self.resize(width - 1, height)  # as in a narrower terminal, nothing above can be taken back
        self.resize(width, height)

    def close(self, footer: str = "") -> None:
        """End the answer; the rule below carries `footer`. Nothing is written when nothing was shown."""
        if not self._opened:
            return
        self._fit()
        out = self._end_section()
        self._send(out + self._rule(one_line(footer)))
        self._opened = False

    # Pieces of the panel

    def _fit(self) -> None:
        if self._size is not None:
            self.resize(*self._size())

    def _begin(self, section: Section) -> str:
        """Open the frame when it is not, end what another section has open, leave a blank row between."""
        out = ""
        if not self._opened:
            self._opened, self._last = True, None
            out = self._rule(self._title)
        if section == self._last:
            return out
        out += self._end_section()
        last, self._last = self._last, section
        return out + (self._row("") if last else "")

    def _end_section(self) -> str:
        return self._end_thinking() + self._end_text()

    def _text_of(self) -> StreamingMarkdown | PlainText:
        if self._text is None:
            self._text = self._new_text()
        return self._text

    def _new_text(self) -> StreamingMarkdown | PlainText:
        if self._plain:
            return PlainText(self._width)
        from golem_cli.render.stream import StreamingMarkdown

        return StreamingMarkdown(width=self._width, height=self._height, color=self._color, theme=self._theme)

    def _end_text(self) -> str:
        held = self._text_filter.close()
        if self._text is None and not held:
            return ""
        text, self._text = self._text_of(), None
        return text.feed(held) + text.close()

    def _end_thinking(self) -> str:
        if self._thinking is None:
            return ""
        thinking, self._thinking = self._thinking, None
        self._thinking_filter.close()
        return thinking.close() + self._styled(thinking.summary, _DIM)

    def _line(self, text: str, *, style: str = "", cut: bool = True) -> None:
        self._fit()
        out = self._begin("line")
        rows = [shorten(text, self._width - 1)] if cut else break_rows(text, self._width - 1)
        self._send(out + "".join(self._styled(row, style) for row in rows))

    def _styled(self, text: str, style: str) -> str:
        if self._plain or not style or (style == _RED and not self._color):
            return self._row(text)
        return self._row(f"{style}{text}{_OFF}")

    def _rule(self, label: str) -> str:
        from rich.cells import cell_len

        width = max(self._width - 1, 1)
        line = "-" if self._plain else "─"
        text = f"{line * 2} {shorten(label, max(width - 6, 1))} " if label else ""
        return self._styled(text + line * max(width - cell_len(text), 0), _DIM)

    def _row(self, text: str) -> str:
        return text + ("\n" if self._plain else NEW_ROW)

    def _send(self, text: str) -> None:
        if not text:
            return
        if self._synchronized and "\r\x1b[" in text:  # only what is taken back could flicker
            text = f"{_BEGIN_UPDATE}{text}{_END_UPDATE}"
        self._write(text)


def warm_up(
    languages: Sequence[str] = ("python", "bash", "json", "javascript", "typescript", "html", "css", "sql"),
) -> None:
    """Import and prime what the first fragment and the first fences need: a good use of the time of typing.

    Takes some 300 ms once, in any thread; everything works without it.
    """
    from golem_cli.render.code import find_lexer

    view = AnswerView(lambda text: None, width=80, height=24)
    view.feed("# *a*\n\n- `b`\n\n```\nx\n```\n\n|a|\n|-|\n|b|\n\n")
    view.close()
    for language in languages:
        find_lexer(language)
