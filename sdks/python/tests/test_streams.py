"""Streams: messages as they arrive, how they end, and what may go wrong."""

from __future__ import annotations

import asyncio
import socket
import threading

import pytest
from conftest import Style
from fake import FakeServer, Request, enveloped, refuse, respond, stream

from trailblaze import ApiError, ConnectionFailed, DeadlineExceeded, TrailblazeClient

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n"
END = enveloped({}, 2)


def event(number: int) -> bytes:
    return enveloped({"number": number, "type": "called", "json": "{}"})


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def test_messages_are_returned_as_they_arrive(style: Style, server: FakeServer) -> None:
    may_go_on = threading.Event()

    def answer(request: Request, connection: socket.socket) -> bytes:
        connection.sendall(HEAD + chunk(event(1)))
        may_go_on.wait(30)
        return chunk(event(2)) + chunk(END) + b"0\r\n\r\n"

    server.answer = answer
    events = style.client(server.address, key="k").watch_events()
    if style.name == "sync":
        assert next(events).number == 1
        may_go_on.set()
        assert [event.number for event in events] == [2]
    else:
        assert style.run(events.__anext__()).number == 1
        may_go_on.set()
        assert [event.number for event in style.take(events)] == [2]


def test_messages_may_be_split_and_joined_in_any_way(style: Style, server: FakeServer) -> None:
    data = b"".join([event(1), event(2), event(3), END])

    def answer(request: Request, connection: socket.socket) -> bytes:
        connection.sendall(HEAD)
        for start in range(0, len(data), 7):
            connection.sendall(chunk(data[start : start + 7]))
        return b"0\r\n\r\n"

    server.answer = answer
    tb = style.client(server.address, key="k")
    assert [event.number for event in style.take(tb.watch_events())] == [1, 2, 3]
    server.answer = lambda request, connection: stream(data)
    assert [event.number for event in style.take(tb.watch_events())] == [1, 2, 3]


def test_an_error_at_the_end_is_raised_after_the_messages(style: Style, server: FakeServer) -> None:
    error = {"error": {"code": "resource_exhausted", "message": "too slow; continue after 1"}}
    server.answer = lambda request, connection: stream(event(1), enveloped(error, 2))
    taken: list[int] = []

    with pytest.raises(ApiError, match="too slow; continue after 1") as raised:
        events = style.client(server.address, key="k").watch_events()
        if style.name == "sync":
            taken.extend(event.number for event in events)
        else:

            async def collect() -> None:
                async for event in events:
                    taken.append(event.number)

            style.run(collect())
    assert taken == [1] and raised.value.code == "resource_exhausted"


def test_a_stream_that_is_refused_raises_the_error(style: Style, server: FakeServer) -> None:
    tb = style.client(server.address, key="k")
    server.answer = lambda request, connection: refuse("not_found", "unknown invocation", 404)
    with pytest.raises(ApiError, match="unknown invocation") as raised:
        style.take(tb.watch_events())
    assert raised.value.code == "not_found"
    server.answer = lambda request, connection: respond(b"<html>", 502)
    with pytest.raises(ApiError, match="HTTP status 502"):
        style.take(tb.watch_events())
    server.answer = lambda request, connection: respond({})
    with pytest.raises(ApiError, match="ended without its last message"):
        style.take(tb.watch_events())


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (chunk(event(1)[:9]), "closed the connection"),
        (chunk(event(1)) + b"0\r\n\r\n", "ended without its last message"),
        (chunk(b"\0\xff\xff\xff\xff"), "larger than 64 MB"),
        (chunk(enveloped({"number": 1}, 1)), "compressed"),
        (chunk(enveloped(b"nonsense")), "a message of the stream is not JSON"),
        (chunk(enveloped(b"nonsense", 2)), "the end of the stream is not JSON"),
        (chunk(enveloped({"error": 5}, 2)), "None"),
        (b"zz\r\n", "invalid chunk"),
    ],
)
def test_a_broken_stream_is_an_error(style: Style, server: FakeServer, sent: bytes, words: str) -> None:
    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(HEAD + sent)

    server.answer = answer
    with pytest.raises(ApiError, match=words):
        style.take(style.client(server.address, key="k").watch_events())


def test_a_stream_that_is_left_closes_its_connection(style: Style, server: FakeServer) -> None:
    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(HEAD + chunk(event(1)))
        # Returns when the client closes the connection.
        connection.recv(1)

    server.answer = answer
    assert [event.number for event in style.take(style.client(server.address, key="k").watch_events(), 1)] == [1]
    if style.name == "async":
        style.run(asyncio.sleep(0))
    assert server.closed.wait(10)


def test_a_stream_ends_when_its_time_is_up(style: Style, server: FakeServer) -> None:
    never = threading.Event()

    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(HEAD + chunk(event(1)))
        never.wait(30)

    server.answer = answer
    with pytest.raises(DeadlineExceeded):
        style.take(style.client(server.address, key="k").watch_events(timeout=0.1))
    assert server.last.headers["connect-timeout-ms"] == "100"
    never.set()


def test_a_stream_must_begin_within_the_timeout_of_the_client(style: Style, server: FakeServer) -> None:
    may_begin = threading.Event()

    def answer(request: Request, connection: socket.socket) -> bytes:
        may_begin.wait(30)
        return stream(event(1), END)

    server.answer = answer
    with pytest.raises(DeadlineExceeded):
        style.take(style.client(server.address, key="k", timeout=0.1).watch_events())
    may_begin.set()
    assert len(style.take(style.client(server.address, key="k", timeout=30).watch_events())) == 1


def test_a_stream_is_not_sent_again(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: None
    with pytest.raises(ConnectionFailed):
        style.take(style.client(server.address, key="k").watch_events())
    assert len(server.requests) == 1


def test_a_slow_reader_stops_the_sender(server: FakeServer) -> None:
    sent = 0
    big = enveloped({"number": 1, "json": "x" * (1 << 20)})

    def answer(request: Request, connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(HEAD)
        for _ in range(200):
            connection.sendall(chunk(big))
            sent += 1

    server.answer = answer

    async def main() -> None:
        events = TrailblazeClient(server.address, key="k").watch_events()
        await events.__anext__()
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.05)
        # What the kernel and the client buffer, not all of it.
        assert sent < 100
        for _ in range(20):
            await events.__anext__()
        await events.aclose()

    asyncio.run(main())
