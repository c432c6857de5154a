"""The keyboard between prompts, on a pseudo-terminal: its modes, and what becomes of each key."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prompt_toolkit.input.typeahead import clear_typeahead, get_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from golem_cli.repl.bursts import ENTER_AHEAD, goes_on
from golem_cli.repl.watch import KeyWatch

ENTER = KeyPress(Keys.ControlM, "\r")


class Watch(KeyWatch):
    """Tells when it has read and then waited for what may stand behind an Esc."""

    def __init__(self, terminal: Vt100Input) -> None:
        super().__init__(terminal)
        self.waited = asyncio.Event()

    def _flush(self) -> None:
        super()._flush()
        self.waited.set()


class Keyboard:
    """Our end of a pty, and the watched input at its other end."""

    def __init__(self, master: int, slave: int, terminal: Vt100Input) -> None:
        self.input = terminal
        self.watch = Watch(terminal)
        self._master, self._slave = master, slave

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed by itself."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    async def type(self, keys: str) -> None:
        """Type in one burst and let the event loop take it, a lone Esc included."""
        self.watch.waited.clear()
        os.write(self._master, keys.encode())
        await self.watch.waited.wait()

    def type_early(self, line: str) -> None:
        """Type a line that nobody reads yet, and let the terminal take it."""
        os.write(self._master, line.encode())
        select.select([self._slave], [], [])

    def waiting(self) -> str:
        """What waits for the next prompt; an Enter that will send shows as a pilcrow."""
        keys = get_typeahead(self.input)
        return "".join("\u00b6" if key == ENTER_AHEAD else key.data for key in keys)


@pytest.fixture
def keyboard() -> Iterator[Keyboard]:
    with opened() as running:
        yield running


@contextmanager
def opened() -> Iterator[Keyboard]:
    master, slave = pty.openpty()
    with os.fdopen(slave, encoding="utf-8") as end:
        terminal = Vt100Input(end)
        clear_typeahead(terminal)
        yield Keyboard(master, slave, terminal)
        clear_typeahead(terminal)
    os.close(master)


async def test_nothing_is_echoed_before_during_and_after_an_answer(keyboard: Keyboard) -> None:
    echoes = [keyboard.echoes]
    with keyboard.watch.holding():
        echoes.append(keyboard.echoes)
        with keyboard.watch.watching(stop=lambda: None, leave=lambda: None):
            echoes.append(keyboard.echoes)
        echoes.append(keyboard.echoes)
        with keyboard.input.raw_mode():  # as a prompt does
            echoes.append(keyboard.echoes)
        echoes.append(keyboard.echoes)
    echoes.append(keyboard.echoes)
    assert echoes == [True, False, False, False, False, False, True]


@pytest.mark.parametrize(
    ("bursts", "waiting"),
    [
        (["a", "b"], "ab"),
        (["ab", "\r", "c"], "ab\u00b6c"),
        (["ab\r"], "ab\u00b6"),
        (["ab\rc"], "ab\rc"),
        (["ab\r\tc\r"], "ab\r\tc\u00b6"),
        (["ab", "\x1b\r", "c"], "ab\nc"),
        (["\x1b[200~a\rb\x1b[201~", "\r"], "a\rb\u00b6"),
        (["a", "\x03", "b", "\x1b", "c"], "abc"),
        (["\x04"], "\x04"),
    ],
)
async def test_what_is_typed_waits_as_it_was_meant(
    keyboard: Keyboard, bursts: list[str], waiting: str
) -> None:
    with keyboard.watch.holding():
        for burst in bursts:
            await keyboard.type(burst)
        assert keyboard.watch.typed_ahead()
        assert keyboard.waiting() == waiting
        assert not keyboard.watch.typed_ahead()


@pytest.mark.parametrize(
    ("keys", "stops"), [("\x03", 1), ("\x1b", 1), ("\x03\x03", 2), ("\x1b[A", 0), ("\x1b\r", 0)]
)
async def test_ctrl_c_and_esc_stop_while_an_answer_runs_and_do_nothing_after(
    keyboard: Keyboard, keys: str, stops: int
) -> None:
    stopped: list[None] = []
    with keyboard.watch.holding():
        with keyboard.watch.watching(stop=lambda: stopped.append(None), leave=lambda: None):
            await keyboard.type(keys)
        assert len(stopped) == stops
        await keyboard.type(keys)
        assert len(stopped) == stops


async def test_an_enter_from_before_the_terminal_was_ours_sends_its_line(keyboard: Keyboard) -> None:
    keyboard.type_early("early\r")
    with keyboard.watch.holding():
        assert keyboard.waiting() == "early\u00b6"


@pytest.mark.parametrize(
    ("behind", "pasted"),
    [
        ([], False),
        ([KeyPress("a")], True),
        ([ENTER], True),
        ([KeyPress(Keys.ControlI)], True),
        ([KeyPress(Keys.ControlD)], False),
        ([KeyPress(Keys.CPRResponse, "\x1b[1;1R")], False),
        ([KeyPress("?", "_Flush")], False),
        ([KeyPress(Keys.ControlD), KeyPress("a")], True),
    ],
)
def test_a_key_was_pasted_when_text_stands_behind_it(behind: list[KeyPress], pasted: bool) -> None:
    assert goes_on(behind) is pasted
