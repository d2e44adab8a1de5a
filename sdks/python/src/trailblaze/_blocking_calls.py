"""Calls over blocking sockets. Connections are kept alive and shared by all clients and threads of the process.

A call is sent a second time under the same condition as in `_async_calls`.
"""

from __future__ import annotations

import atexit
import os
import socket
from time import monotonic

from ._http import Response, envelope, take_envelope
from ._late import refuse_late
from ._target import DEFAULT_TIMEOUT, check_timeout
from ._wire import answer_of, body_of, end_of_stream, error_of, expired, explain, parse, read, settle, unreachable
from .errors import ApiError, ConnectionFailed, TrailblazeError, for_libraries

# pytest shows the test that called, not these frames.
__tracebackhide__ = True

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import Any

    from ._daemon import Daemon
    from ._target import Target

MAX_IDLE = 16
"""How many unused connections are kept open."""

_RECEIVE = 256 << 10


class BlockingCalls:
    """Makes the calls of one client."""

    __slots__ = ("target",)

    def __init__(self, target: Target) -> None:
        self.target = target

    def act(
        self, path: str, params: Mapping[str, Any], timeout: float | None, name: str, *, is_assertion: bool = False
    ) -> Any:
        """Calls an action or an assertion, and raises if it failed."""
        return settle(name, self._call(path, params, timeout), is_assertion)

    def ask(self, path: str, params: Mapping[str, Any], timeout: float | None, zero: object) -> Any:
        """Calls a query that returns a single value."""
        return self._call(path, params, timeout).get("value", zero)

    def get(self, path: str, params: Mapping[str, Any], timeout: float | None, name: str) -> Any:
        """Calls a method that returns a message."""
        return read(name, self._call(path, params, timeout))

    def _call(self, path: str, params: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        try:
            return self._exchange(path, params, timeout)
        except TrailblazeError as error:
            raise for_libraries(explain(self.target, error)) from None

    def _exchange(self, path: str, params: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        target = self.target
        refuse_late(target, path)
        timeout = target.timeout if timeout is None else check_timeout(timeout)
        if not target.is_found:
            self._find(timeout)
        body = body_of(target.ids, params)
        request = f"{target.head(path, 'application/json', timeout)}{len(body)}\r\n\r\n".encode("ascii") + body
        deadline = monotonic() + (timeout or DEFAULT_TIMEOUT)
        pool = pool_of(target)
        connection = take(pool)
        response = exchange(connection, request, deadline, pool) if connection is not None else None
        if response is None:
            response = exchange(connect(target, deadline), request, deadline, pool)
        if response is None:
            raise ConnectionFailed("unavailable", f"http://{target.name} closed the connection without a response")
        return answer_of(target, response)

    def _find(self, timeout: float | None) -> None:
        """Looks for the session in this user's daemon."""
        from ._daemon import TIMEOUT, choose, daemons

        answers: list[Response] = []
        for daemon in daemons():
            deadline = monotonic() + min(timeout or TIMEOUT, TIMEOUT)
            try:
                response = exchange(connect(daemon, deadline), daemon.request, deadline, [])
            except ConnectionFailed:
                # It has just ended.
                continue
            if response is not None:
                answers.append(response)
        choose(self.target, answers)

    def stream(
        self, path: str, params: Mapping[str, Any], timeout: float | None, name: str
    ) -> Generator[Any, None, None]:
        """Calls a method that returns messages until it ends."""
        target = self.target
        refuse_late(target, path)
        timeout = timeout if timeout is None else check_timeout(timeout)
        if not target.is_found:
            self._find(timeout)
        body = envelope(body_of(target.ids, params))
        head = target.head(path, "application/connect+json", timeout)
        begin = monotonic()
        deadline = None if timeout is None else begin + timeout
        # A stream may last, but it must begin.
        first_deadline = begin + (timeout or target.timeout or DEFAULT_TIMEOUT)
        connection = connect(target, first_deadline)
        response = Response(is_stream=True)
        try:
            connection.sendall(f"{head}{len(body)}\r\n\r\n".encode("ascii") + body)
            while True:
                is_streaming = response.status == 200 and response.content_type == "application/connect+json"
                message = take_envelope(response.body) if is_streaming else None
                if message is not None:
                    if message[0] & 2:
                        end_of_stream(message[1])
                        return
                    yield read(name, parse(message[1], "a message of the stream"))
                elif not response.is_complete:
                    receive(connection, response, deadline if response.status else first_deadline)
                elif response.status != 200:
                    raise error_of(target, response)
                else:
                    raise ApiError("unavailable", "the stream ended without its last message")
        except TimeoutError as error:
            raise expired() from error
        except ConnectionFailed:
            raise
        except OSError as error:
            raise ConnectionFailed("unavailable", f"the connection to Trailblaze broke: {error}") from error
        finally:
            connection.close()


# Unused connections, by process and address: a process that was forked must not use those of its parent.
_pools: dict[tuple[int, tuple[str, ...], int], list[socket.socket]] = {}


def pool_of(target: Target) -> list[socket.socket]:
    """The unused connections to an address."""
    key = (os.getpid(), target.hosts, target.port)
    pool = _pools.get(key)
    if pool is None:
        # Programs that use one address after another must not collect connections that are closed.
        for other in list(_pools.values()):
            if (connection := take(other)) is not None:
                other.append(connection)
        pool = _pools.setdefault(key, [])
    return pool


@atexit.register
def _close_all() -> None:
    for pool in list(_pools.values()):
        while pool:
            pool.pop().close()


def take(pool: list[socket.socket]) -> socket.socket | None:
    """A connection that was used before and is still open, if there is one."""
    while True:
        try:
            connection = pool.pop()
        except IndexError:
            return None
        try:
            connection.setblocking(False)
            connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return connection
        except OSError:
            pass
        # Closed by Trailblaze, or it has sent something that was not asked for.
        connection.close()


def connect(target: Target | Daemon, deadline: float) -> socket.socket:
    """A new connection."""
    problem: OSError | None = None
    for host in target.hosts:
        try:
            connection = socket.create_connection((host, target.port), remaining(deadline))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except TimeoutError as error:
            raise expired() from error
        except OSError as error:
            problem = error
    raise unreachable(target, problem)


def exchange(
    connection: socket.socket, request: bytes, deadline: float, pool: list[socket.socket]
) -> Response | None:
    """Sends a request and reads the response. None if the connection was closed before it began."""
    response = Response()
    is_reusable = False
    try:
        connection.settimeout(remaining(deadline))
        try:
            connection.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            # There may be a response to a request that was refused before all of it was sent.
            pass
        while not response.is_complete:
            receive(connection, response, deadline)
        is_reusable = response.keeps_alive and len(pool) < MAX_IDLE
        return response
    except ApiError as error:
        if isinstance(error, ConnectionFailed) and not response.has_begun:
            return None
        raise
    except TimeoutError as error:
        raise expired() from error
    except OSError as error:
        if not response.has_begun:
            return None
        raise ConnectionFailed("unavailable", f"the connection to Trailblaze broke: {error}") from error
    finally:
        if is_reusable:
            pool.append(connection)
        else:
            connection.close()


def receive(connection: socket.socket, response: Response, deadline: float | None) -> None:
    """Reads what there is of a response, or waits for it."""
    connection.settimeout(None if deadline is None else remaining(deadline))
    data = connection.recv(_RECEIVE)
    if data:
        response.feed(data)
    else:
        response.end()


def close_idle(target: Target) -> None:
    """Closes the connections to an address that are not in use."""
    pool = pool_of(target)
    while pool:
        pool.pop().close()


def remaining(deadline: float) -> float:
    left = deadline - monotonic()
    if left <= 0:
        raise expired()
    return left
