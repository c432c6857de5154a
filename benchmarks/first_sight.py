"""How soon an answer is seen: its first character in the chat, and the first code fence of a language.

    python benchmarks/first_sight.py [--runs 15]

The first character: from the moment a server on loopback sends the first event of an answer until its text
is read from the other end of the pty, in `golem` (the panel) and in `golem -p` (plain printing), in turn. The
first fence: the longest single call, by the clock, in a new process that is warm but for that language, with
fragments of 4 characters that come without a pause. Prints two tables.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

WIDTH, HEIGHT = 100, 40
PATIENCE: Final = 60.0
PROMPT_SIGN: Final = "›".encode()  # noqa: RUF001 - a prompt sign, not a comparison
TEXT: Final = "Zwölf Boxkämpfer"
LANGUAGES: Final = (
    *("python", "json", "ts", "css", "c", "cpp"),
    *("rust", "go", "java", "kotlin", "csharp", "scala"),
)
FENCE: Final = """
import sys, time
from golem_cli.render.answer import AnswerView, warm_up
import gc
warm_up()
gc.collect(), gc.freeze()
def write(text):
    sys.stderr.write(text)
    sys.stderr.flush()
view = AnswerView(write, width=100, height=40)
view.feed("text\\n\\n")
code = f"```{sys.argv[1]}\\n" + "let x = f(1); // one\\n/* two */ y = 'three';\\n" * 40 + "```\\n"
longest = 0.0
for start in range(0, len(code), 4):
    begun = time.perf_counter()
    view.feed(code[start : start + 4])
    longest = max(longest, time.perf_counter() - begun)
print(longest)
"""


class _Model(BaseHTTPRequestHandler):
    """Answers every chat completion with `TEXT`; notes when it sends the first event."""

    protocol_version = "HTTP/1.1"
    sent_at: float = 0.0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        time.sleep(0.2)  # as a model thinks: the client waits
        type(self).sent_at = time.perf_counter()
        self.wfile.write(f'data: {{"choices":[{{"delta":{{"content":"{TEXT}"}}}}]}}\n\n'.encode())
        self.wfile.flush()
        time.sleep(0.05)
        self.wfile.write(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def model_server() -> Iterator[dict[str, str]]:
    """A model on loopback; gives the variables with which golem finds it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield {**os.environ, "GOLEM_HOME": home, "OPENAI_BASE_URL": url, "TERM": "xterm-256color"}
    server.shutdown()


class Pty:
    """A program on a terminal of its own."""

    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (HEIGHT, WIDTH))
        self._process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=variables, start_new_session=True
        )
        os.close(slave)

    def type(self, text: str) -> None:
        """Send keys."""
        os.write(self.master, text.encode())

    def seen_at(self, wanted: bytes) -> float:
        """Read until `wanted` has come; return when that was."""
        seen = b""
        end = time.monotonic() + PATIENCE
        while wanted not in seen:
            if not select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError(f"no {wanted!r}; the screen: {seen[-500:]!r}")
            seen += os.read(self.master, 65536)
        return time.perf_counter()

    def end(self) -> None:
        """Stop the program."""
        self._process.kill()
        self._process.wait()
        os.close(self.master)


def in_the_chat(terminal: Pty) -> float:
    """Seconds from the first event to the first character, in a chat at its prompt."""
    terminal.type("hello\r")
    return terminal.seen_at(TEXT[:4].encode()) - _Model.sent_at


def in_a_new_chat(variables: dict[str, str]) -> float:
    """The same for the first answer of a chat whose prompt has been there for a second."""
    terminal = Pty([sys.executable, "-m", "golem_cli", "-m", "openai:test"], variables)
    terminal.seen_at(PROMPT_SIGN)
    time.sleep(1)
    needed = in_the_chat(terminal)
    terminal.end()
    return needed


def plainly(variables: dict[str, str]) -> float:
    """The same for `golem -p`."""
    terminal = Pty([sys.executable, "-m", "golem_cli", "-m", "openai:test", "-p", "hello"], variables)
    needed = terminal.seen_at(TEXT[:4].encode()) - _Model.sent_at
    terminal.end()
    return needed


def first_characters(runs: int) -> Iterator[str]:
    """Yield the lines of the first table."""
    yield "| the first character | median, ms | more than plain printing, ms |"
    yield "| --- | ---: | ---: |"
    with model_server() as variables:
        chat = Pty([sys.executable, "-m", "golem_cli", "-m", "openai:test"], variables)
        chat.seen_at(PROMPT_SIGN)
        in_the_chat(chat)
        figures = [(plainly(variables), in_a_new_chat(variables), _next_in(chat)) for _ in range(runs)]
        chat.end()
    plain, first, later = (statistics.median(column) * 1000 for column in zip(*figures, strict=True))
    yield f"| `golem -p`, plain printing | {plain:.1f} | |"
    yield f"| chat, its first answer | {first:.1f} | {first - plain:.1f} |"
    yield f"| chat, a later answer | {later:.1f} | {later - plain:.1f} |"


def _next_in(chat: Pty) -> float:
    chat.seen_at(PROMPT_SIGN)
    return in_the_chat(chat)


def first_fences(runs: int) -> Iterator[str]:
    """Yield the lines of the second table."""
    yield "| the first fence of | longest pause, ms (median) |"
    yield "| --- | ---: |"
    for language in LANGUAGES:
        pauses = [_first_fence(language) for _ in range(runs)]
        yield f"| {language} | {statistics.median(pauses) * 1000:.1f} |"


def _first_fence(language: str) -> float:
    done = subprocess.run([sys.executable, "-c", FENCE, language], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    for table in (first_characters(runs), first_fences(runs)):
        for line in table:
            print(line)
            sys.stdout.flush()
        print()


if __name__ == "__main__":
    main()
