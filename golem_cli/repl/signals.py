"""Signals while the chat runs: one handler each, for the whole of it; the terminal is always restored."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def chat_signals(*, interrupt: Callable[[], object], end: Callable[[], object]) -> Iterator[None]:
    """SIGINT calls `interrupt`, SIGTERM and SIGHUP call `end`, until the block ends.

    Without a handler of our own for the whole chat, asyncio's takes the second SIGINT for the end of the
    program. Where an event loop cannot handle signals (Windows), SIGINT is set the plain way.
    """
    loop = asyncio.get_running_loop()
    handlers = {signal.SIGINT: interrupt, signal.SIGTERM: end}
    if hasattr(signal, "SIGHUP"):
        handlers[signal.SIGHUP] = end
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            _install(loop, number, handler)
        yield
    finally:
        for number, handler_before in before.items():
            _restore(loop, number, handler_before)


@contextmanager
def on_resize(handler: Callable[[], None]) -> Iterator[None]:
    """Call `handler` when the terminal's size changes, until the block ends."""
    if not hasattr(signal, "SIGWINCH"):
        yield
        return
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGWINCH)
    _install(loop, signal.SIGWINCH, handler)
    try:
        yield
    finally:
        _restore(loop, signal.SIGWINCH, before)


def _install(loop: asyncio.AbstractEventLoop, number: signal.Signals, handler: Callable[[], object]) -> None:
    try:
        loop.add_signal_handler(number, handler)
    except (NotImplementedError, RuntimeError, ValueError):
        try:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(handler))
        except ValueError:
            return  # not the main thread: an embedding application owns the signals


def _restore(loop: asyncio.AbstractEventLoop, number: signal.Signals, before: object) -> None:
    with suppress(NotImplementedError, RuntimeError, ValueError):
        loop.remove_signal_handler(number)
    try:
        signal.signal(number, before if callable(before) or isinstance(before, int) else signal.SIG_DFL)
    except ValueError:
        return
