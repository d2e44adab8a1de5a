"""A server that answers as a test tells it, and keeps what it was asked. It can also misbehave on the wire."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any


class Request:
    """A request as it arrived."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes, connection: int) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self.connection = connection
        """Which connection it came over, from 0."""

    @property
    def json(self) -> Any:
        """The message, without the envelope of a stream."""
        is_stream = self.headers["content-type"] == "application/connect+json"
        return json.loads(self.body[5:] if is_stream else self.body)


Answer = Callable[[Request, socket.socket], bytes | None]
"""Returns the bytes of a response. None ends the connection."""


class FakeServer:
    """Listens on a free port of the loopback interface until it is closed."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer: Answer = answer or (lambda request, _: respond({"success": True}))
        self.requests: list[Request] = []
        self.connections = 0
        self.closed = threading.Event()
        """Set when a client has closed a connection."""
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def last(self) -> Request:
        return self.requests[-1]

    def hang_up(self) -> None:
        """Closes all connections."""
        while self._open:
            connection = self._open.pop()
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        # Wakes the thread that accepts.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self.hang_up()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.append(connection)
            number, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            with connection, connection.makefile("rb") as stream:
                while line := stream.readline():
                    path = line.split()[1].decode()
                    headers: dict[str, str] = {}
                    while (line := stream.readline()) != b"\r\n":
                        name, _, value = line.decode().partition(":")
                        headers[name.lower()] = value.strip()
                    body = stream.read(int(headers["content-length"]))
                    request = Request(path, headers, body, number)
                    self.requests.append(request)
                    response = self.answer(request, connection)
                    if response is None:
                        return
                    connection.sendall(response)
        except OSError:
            pass
        finally:
            self.closed.set()


def respond(message: object, status: int = 200, *, content_type: str = "application/json", more: str = "") -> bytes:
    """A response with a message as JSON, or with bytes as they are."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    head = f"HTTP/1.1 {status} Any\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def refuse(code: str, message: str, status: int = 400) -> bytes:
    """An error of Connect."""
    return respond({"code": code, "message": message}, status)


def enveloped(message: object, flags: int = 0) -> bytes:
    """A message of a stream."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack(">BI", flags, len(body)) + body


def stream(*messages: bytes) -> bytes:
    """A response that is a stream, each message in a chunk of its own."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(message), message) for message in messages)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + chunks + b"0\r\n\r\n"
