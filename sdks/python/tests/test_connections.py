"""Connections: kept alive, shared, closed, broken; deadlines; what a peer may do wrong."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading

import pytest
from conftest import Style
from fake import FakeServer, Request, refuse, respond

from trailblaze import (
    ApiError,
    ConnectionFailed,
    DeadlineExceeded,
    SyncTrailblazeClient,
    TrailblazeClient,
)

OK = respond({"success": True})


def test_calls_of_all_clients_share_a_connection(style: Style, server: FakeServer) -> None:
    for _ in range(5):
        tb = style.client(server.address, key="k")
        style.run(tb.tap(1, 2))
        style.run(tb.tap(1, 2))
    assert server.connections == 1


def test_a_response_that_says_close_is_the_last_of_its_connection(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: respond({"success": True}, more="connection: close\r\n")
    tb = style.client(server.address, key="k")
    style.run(tb.tap(1, 2))
    style.run(tb.tap(1, 2))
    assert server.connections == 2


def test_a_connection_that_was_closed_meanwhile_is_replaced(style: Style, server: FakeServer) -> None:
    tb = style.client(server.address, key="k")
    style.run(tb.tap(1, 2))
    server.hang_up()
    assert style.run(tb.tap(1, 2)).success
    assert server.connections == 2 and len(server.requests) == 2


def test_a_call_is_sent_again_if_a_used_connection_closes_without_a_byte(style: Style, server: FakeServer) -> None:
    # As when the server closes an idle connection just when the request is sent.
    server.answer = lambda request, connection: OK if len(server.requests) != 2 else None
    tb = style.client(server.address, key="k")
    style.run(tb.tap(1, 2))
    assert style.run(tb.tap(3, 4)).success
    assert [request.connection for request in server.requests] == [0, 0, 1]


def test_a_call_is_never_sent_again_over_a_new_connection(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: None
    tb = style.client(server.address, key="k")
    with pytest.raises(ConnectionFailed, match="without a response"):
        style.run(tb.tap(1, 2))
    assert len(server.requests) == 1


def test_a_call_is_never_sent_again_once_a_response_has_begun(style: Style, server: FakeServer) -> None:
    def answer(request: Request, connection: socket.socket) -> bytes | None:
        if len(server.requests) == 1:
            return OK
        connection.sendall(b"H")
        return None

    server.answer = answer
    tb = style.client(server.address, key="k")
    style.run(tb.tap(1, 2))
    with pytest.raises(ConnectionFailed, match="during its response|broke"):
        style.run(tb.tap(1, 2))
    assert len(server.requests) == 2


@pytest.mark.parametrize("size", [1, 17, 30, len(OK) - 1])
def test_a_truncated_response_is_an_error(style: Style, server: FakeServer, size: int) -> None:
    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(OK[:size])

    server.answer = answer
    with pytest.raises(ConnectionFailed, match="during its response|broke"):
        style.run(style.client(server.address, key="k").tap(1, 2))


def test_a_response_can_arrive_byte_by_byte(style: Style, server: FakeServer) -> None:
    def answer(request: Request, connection: socket.socket) -> bytes:
        for byte in OK[:-1]:
            connection.sendall(bytes([byte]))
        return OK[-1:]

    server.answer = answer
    tb = style.client(server.address, key="k")
    assert style.run(tb.tap(1, 2)).success
    assert style.run(tb.tap(1, 2)).success
    assert server.connections == 1


HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@pytest.mark.parametrize(
    ("response", "connections"),
    [
        (f"{HEAD}transfer-encoding: chunked\r\n\r\n9\r\n" '{"success\r\n7;x=1\r\n":true}\r\n0\r\n\r\n', 1),
        (f"{HEAD}transfer-encoding: Chunked\r\n\r\n" '10\r\n{"success":true}\r\n0\r\nx-trailer: 1\r\n\r\n', 2),
        ('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"success":true}', 1),
        (f"{HEAD}Content-Length: 16\r\ncontent-length:16\r\n\r\n" '{"success":true}', 1),
        ('HTTP/1.0 200 OK\r\ncontent-length: 16\r\n\r\n{"success":true}', 2),
        (f"{HEAD}content-length: 16\r\n\r\n" '{"success":true}HTTP/1.1 200 OK\r\n', 2),
    ],
)
def test_other_forms_of_http_are_understood(
    style: Style, server: FakeServer, response: str, connections: int
) -> None:
    server.answer = lambda request, connection: response.encode()
    tb = style.client(server.address, key="k")
    assert style.run(tb.tap(1, 2)).success
    assert style.run(tb.tap(1, 2)).success
    assert server.connections == connections


def test_a_response_without_a_length_ends_with_the_connection(style: Style, server: FakeServer) -> None:
    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(f'{HEAD}\r\n{{"success":true}}'.encode())

    server.answer = answer
    assert style.run(style.client(server.address, key="k").tap(1, 2)).success


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (f"{HEAD}content-length: {65 << 20}\r\n\r\n", "larger than 64 MB"),
        (f"{HEAD}transfer-encoding: chunked\r\n\r\nfffffffff\r\n", "larger than 64 MB"),
        (f"{HEAD}transfer-encoding: chunked\r\n\r\n-1\r\n", "larger than 64 MB|invalid chunk"),
        (f"{HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n", "invalid chunk"),
        (f"{HEAD}transfer-encoding: chunked\r\n\r\n{'0' * 99}", "invalid chunk"),
        (f"{HEAD}transfer-encoding: chunked\r\n\r\n1\r\nabc", "invalid chunk"),
        (f"{HEAD}transfer-encoding: gzip, chunked\r\n\r\n", "unknown Transfer-Encoding"),
        (f"{HEAD}content-length: -1\r\n\r\n", "invalid Content-Length"),
        (f"{HEAD}content-length: 1{'0' * 30}\r\n\r\n", "invalid Content-Length"),
        (f"{HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n", "invalid Content-Length"),
        (f"{HEAD}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n..", "compressed"),
        (f"HTTP/1.1 200 OK\r\nx: {'y' * (70 << 10)}\r\n\r\n", "headers of the response are larger than 64 kB"),
        (f"HTTP/1.1 200 OK\r\nx: {'y' * (70 << 10)}", "headers of the response are larger than 64 kB"),
        ("HTTP/1.1 abc\r\n\r\n", "not HTTP"),
        ("HTTP/2 200\r\n\r\n", "not HTTP"),
    ],
)
def test_a_response_that_breaks_the_rules_is_an_error(
    style: Style, server: FakeServer, response: str, words: str
) -> None:
    server.answer = lambda request, connection: response.encode()
    with pytest.raises(ApiError, match=words):
        style.run(style.client(server.address, key="k").tap(1, 2))
    # The connection is not used again.
    server.answer = lambda request, connection: OK
    assert style.run(style.client(server.address, key="k").tap(1, 2)).success


def test_a_response_without_end_is_cut_off(style: Style, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trailblaze._http.MAX_BODY", 1 << 20)

    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(f"{HEAD}\r\n".encode())
        while True:
            connection.sendall(b" " * (64 << 10))

    server.answer = answer
    with pytest.raises(ApiError, match="larger than 1 MB") as raised:
        style.run(style.client(server.address, key="k").tap(1, 2))
    assert raised.value.code == "resource_exhausted"


def test_a_large_response_and_a_large_request_pass(style: Style, server: FakeServer) -> None:
    text = "ä" * (1 << 20)
    server.answer = lambda request, connection: respond({"value": request.json["text"]})
    tb = style.client(server.address, key="k")
    server.answer = lambda request, connection: respond({"success": True, "message": request.json["text"]})
    assert style.run(tb.input_text(text)).message == text


def test_a_request_that_is_refused_before_it_is_sent_has_its_reason(style: Style) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(refuse("resource_exhausted", "at most 1 MB", 429))
                connection.shutdown(socket.SHUT_WR)
                # A server reads for a while what it does not want, so that its response is not lost.
                while connection.recv(1 << 20):
                    pass

        threading.Thread(target=serve, daemon=True).start()
        tb = style.client(f"127.0.0.1:{listener.getsockname()[1]}", key="k")
        with pytest.raises(ApiError, match="at most 1 MB"):
            style.run(tb.input_text("x" * (20 << 20)))


def test_a_call_ends_when_its_time_is_up(style: Style, server: FakeServer) -> None:
    never = threading.Event()

    def answer(request: Request, connection: socket.socket) -> None:
        never.wait(30)

    tb = style.client(server.address, key="k")
    style.run(tb.tap(1, 2, timeout=60))
    assert server.last.headers["connect-timeout-ms"] == "60000"
    server.answer = answer
    with pytest.raises(DeadlineExceeded, match="within the timeout") as raised:
        style.run(tb.tap(1, 2, timeout=0.05))
    assert raised.value.code == "deadline_exceeded" and isinstance(raised.value, TimeoutError)
    with pytest.raises(DeadlineExceeded):
        style.run(style.client(server.address, key="k", timeout=0.05).is_visible("x"))
    # Calls that are too late are not sent again. On a busy machine, they are too late before they are sent.
    assert len(server.requests) <= 3
    never.set()


def test_a_deadline_covers_a_response_that_trickles_in(style: Style, server: FakeServer) -> None:
    stop = threading.Event()

    def answer(request: Request, connection: socket.socket) -> None:
        connection.sendall(f"{HEAD}content-length: 1000000\r\n\r\n".encode())
        while not stop.wait(0.01):
            connection.sendall(b" ")

    server.answer = answer
    with pytest.raises(DeadlineExceeded):
        style.run(style.client(server.address, key="k").tap(1, 2, timeout=0.2))
    stop.set()


def test_a_cancelled_call_closes_its_connection(server: FakeServer) -> None:
    arrived = threading.Event()

    def answer(request: Request, connection: socket.socket) -> bytes:
        arrived.set()
        # Returns when the client closes the connection.
        connection.recv(1)
        return b""

    server.answer = answer

    async def main() -> None:
        task = asyncio.create_task(TrailblazeClient(server.address, key="k").tap(1, 2))
        await asyncio.to_thread(arrived.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.closed.wait, 10)

    asyncio.run(main())


def test_many_tasks_call_at_the_same_time(server: FakeServer) -> None:
    server.answer = lambda request, connection: respond({"value": request.json["id"]})

    async def main() -> None:
        tb = TrailblazeClient(server.address, key="k")
        for _ in range(3):
            texts = await asyncio.gather(*[tb.get_element_text(f"row-{row}") for row in range(100)])
            assert texts == [f"row-{row}" for row in range(100)]
        await tb.aclose()

    asyncio.run(main())
    assert len(server.requests) == 300


def test_many_threads_share_a_client(server: FakeServer) -> None:
    server.answer = lambda request, connection: respond({"value": request.json["id"]})
    tb = SyncTrailblazeClient(server.address, key="k")
    wrong: list[str] = []

    def work(number: int) -> None:
        for row in range(20):
            name = f"{number}-{row}"
            if tb.get_element_text(name) != name:
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(server.requests) == 400
    tb.close()


def test_a_client_can_be_used_in_one_event_loop_after_another(server: FakeServer) -> None:
    tb = TrailblazeClient(server.address, key="k")
    for _ in range(3):
        assert asyncio.run(once(tb)).success
    assert server.connections == 3


async def once(tb: TrailblazeClient):
    async with tb:
        return await tb.tap(1, 2)


def test_a_closed_client_leaves_no_connection_open(style: Style, server: FakeServer) -> None:
    tb = style.client(server.address, key="k")
    style.run(tb.tap(1, 2))
    if style.name == "async":
        style.run(tb.aclose())
        style.run(asyncio.sleep(0))
    else:
        tb.close()
    assert server.closed.wait(10)
    # It can still be used.
    assert style.run(tb.tap(1, 2)).success


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_opens_its_own_connection(server: FakeServer) -> None:
    program = f"""
import os, sys
from trailblaze import SyncTrailblazeClient
tb = SyncTrailblazeClient({server.address!r}, key="k")
tb.tap(1, 2)
child = os.fork()
tb.tap(3, 4)
if child:
    sys.exit(os.waitpid(child, 0)[1])
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=env())
    assert len(server.requests) == 3 and server.connections == 2


@pytest.mark.parametrize("client", ["asyncio.run(TrailblazeClient(address, key='k').tap(1, 2))", "SyncTrailblazeClient(address, key='k').tap(1, 2)"])  # fmt: skip
def test_proxies_are_not_used(server: FakeServer, client: str) -> None:
    proxies = dict.fromkeys(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"], "http://127.0.0.1:9")
    program = f"import asyncio\nfrom trailblaze import *\naddress = {server.address!r}\nprint({client}.success)"
    program = program.replace("import *", "import SyncTrailblazeClient, TrailblazeClient")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60, env=env(**proxies)
    )
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


def env(**more: str) -> dict[str, str]:
    """The environment of a program that imports the package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **more}


def test_names_resolve_to_either_family(style: Style) -> None:
    if not socket.has_ipv6:
        pytest.skip("there is no IPv6")
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("there is no IPv6 loopback interface")

    def serve() -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(respond({"success": True}, more="connection: close\r\n"))
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    for address in (f"localhost:{port}", f"http://[::1]:{port}"):
        assert style.run(style.client(address).tap(1, 2)).success
    listener.close()


def test_a_call_that_is_not_awaited_is_named_in_a_warning() -> None:
    program = "from trailblaze import TrailblazeClient\nTrailblazeClient('localhost:1').tap(100, 200)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=env())
    assert "RuntimeWarning: `tap` was called without `await`, so nothing was done" in done.stderr


