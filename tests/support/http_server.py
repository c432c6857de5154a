r"""A real HTTP server on loopback that answers as a script says: statuses, pieces, silence, cuts, resets.

    with HttpServer() as server:
        server.reply(Reply(body=[b"data: 1\n\n", gate, b"data: 2\n\n"], end="cut"))
        ...  # talk to server.url
        assert server.requests[0].path == "/v1/models"

Replies are given in order, the last one again and again; with `respond`, that function gives each. Pieces of
a body may be bytes to send, a `threading.Event` to wait for (so that nothing depends on the clock), or
seconds to sleep.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import BinaryIO, Literal, Self

Piece = bytes | threading.Event | float
End = Literal["finish", "cut", "reset", "hang"]

_GATE_LIMIT = 30.0  # a gate that no test opens must not hang the suite


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What to answer to one request.

    `framing`: "length" announces the body's size, "chunked" sends a chunk a piece, "close" ends the body by
    closing (HTTP/1.0). `end` after the last piece: "finish" properly; "cut" closes although more was
    announced; "reset" does so with a TCP reset; "hang" keeps the connection open until the client leaves.
    `silent` hangs before the status line.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Sequence[Piece] = b""
    framing: Literal["length", "chunked", "close"] = "chunked"
    end: End = "finish"
    silent: bool = False

    @property
    def pieces(self) -> list[Piece]:
        """The body as a list of pieces."""
        return [self.body] if isinstance(self.body, bytes) else list(self.body)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request as it came; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class HttpServer:
    """Serves scripted replies, each connection in its own thread.

    `port` is the one that was picked. `requests` lists what came; `connections` counts those accepted;
    `left` is set once a client has closed a connection while its reply was not finished.
    """

    def __init__(
        self, replies: Iterable[Reply] = (), *, respond: Callable[[Request], Reply] | None = None
    ) -> None:
        self._respond = respond
        self.requests: list[Request] = []
        self.connections = 0
        self.left = threading.Event()
        self._replies = list(replies)
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def reply(self, *replies: Reply) -> Self:
        """Add replies to the script."""
        with self._lock:
            self._replies += replies
        return self

    def close(self) -> None:
        """Stop serving; open connections are closed."""
        self._closing = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_GATE_LIMIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # as servers do: otherwise a small piece waits, up to 40 ms, for the last to be acknowledged
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._sockets.add(connection)
                self.connections += 1
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            reader = connection.makefile("rb")
            with reader:
                while (request := _read_request(reader)) is not None:
                    with self._lock:
                        self.requests.append(request)
                        reply = self._reply_to(request)
                    if not self._answer(connection, reply):
                        break
        with self._lock:
            self._sockets.discard(connection)

    def _reply_to(self, request: Request) -> Reply:
        if self._respond is not None:
            return self._respond(request)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def _answer(self, connection: socket.socket, reply: Reply) -> bool:
        """Send `reply`; return whether the connection serves on."""
        if not reply.silent:
            try:
                _send_head(connection, reply)
                for piece in reply.pieces:
                    self._send_piece(connection, piece, reply)
            except OSError:
                self.left.set()
                return False
        if reply.silent or reply.end == "hang":
            self._await_leaving(connection)
            return False
        if reply.end == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if reply.end == "finish" and reply.framing == "chunked":
            connection.sendall(b"0\r\n\r\n")
        return reply.end == "finish" and reply.framing != "close"

    def _send_piece(self, connection: socket.socket, piece: Piece, reply: Reply) -> None:
        if isinstance(piece, threading.Event):
            piece.wait(_GATE_LIMIT)
        elif isinstance(piece, float):
            threading.Event().wait(piece)
        elif reply.framing == "chunked":
            if piece:
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        else:
            connection.sendall(piece)

    def _await_leaving(self, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.settimeout(_GATE_LIMIT)
            connection.recv(1)
        self.left.set()


def _send_head(connection: socket.socket, reply: Reply) -> None:
    version = "1.0" if reply.framing == "close" else "1.1"
    try:
        phrase = HTTPStatus(reply.status).phrase
    except ValueError:
        phrase = ""
    headers = dict(reply.headers)
    if reply.framing == "chunked":
        headers["Transfer-Encoding"] = "chunked"
    elif reply.framing == "length":
        size = sum(len(piece) for piece in reply.pieces if isinstance(piece, bytes))
        headers["Content-Length"] = str(size + (1 if reply.end != "finish" else 0))
    fields = [f"{name}: {value}" for name, value in headers.items()]
    head = [f"HTTP/{version} {reply.status} {phrase}", *fields, "", ""]
    connection.sendall("\r\n".join(head).encode())


def _read_request(reader: BinaryIO) -> Request | None:
    line = reader.readline().decode("latin-1").split()
    if len(line) < 2:
        return None
    headers: dict[str, str] = {}
    while name_value := reader.readline().decode("latin-1").strip():
        name, _, value = name_value.partition(":")
        headers[name.lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", "0")))
    return Request(method=line[0], path=line[1], headers=headers, body=body)


def free_port() -> int:
    """A loopback port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
