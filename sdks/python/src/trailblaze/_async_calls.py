"""Calls over asyncio. Connections are kept alive and shared by all clients of an event loop.

A call is sent a second time only if it was sent over a connection that had been used before, and Trailblaze closed that
connection without sending a single byte of a response: then it was closed before the request arrived.
"""

from __future__ import annotations

from ._http import Response, envelope, take_envelope
from ._late import refuse_late
from ._pending_call import PendingCall, is_in_blocking_tool
from ._target import DEFAULT_TIMEOUT, check_timeout
from ._wire import answer_of, body_of, end_of_stream, error_of, expired, explain, parse, read, settle, unreachable
from .errors import ApiError, ConnectionFailed, TrailblazeError, for_libraries

# pytest shows the test that called, not these frames.
__tracebackhide__ = True

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, Transport
    from collections.abc import AsyncGenerator, Mapping
    from typing import Any

    from ._blocking_calls import BlockingCalls
    from ._daemon import Daemon
    from ._target import Target

MAX_IDLE = 16
"""How many unused connections are kept open."""

_PAUSE = 1 << 20
"""How many bytes of a stream are buffered while nobody reads it."""


class AsyncCalls:
    """Makes the calls of one client."""

    __slots__ = ("target",)

    def __init__(self, target: Target) -> None:
        self.target = target

    def act(
        self, path: str, params: Mapping[str, Any], timeout: float | None, name: str, *, is_assertion: bool = False
    ) -> Any:
        """Calls an action or an assertion, and raises if it failed."""
        if is_in_blocking_tool():
            return self._blocking().act(path, params, timeout, name, is_assertion=is_assertion)
        return PendingCall(self.target, path, lambda: self._act(path, params, timeout, name, is_assertion))

    def ask(self, path: str, params: Mapping[str, Any], timeout: float | None, zero: object) -> Any:
        """Calls a query that returns a single value."""
        if is_in_blocking_tool():
            return self._blocking().ask(path, params, timeout, zero)
        return PendingCall(self.target, path, lambda: self._ask(path, params, timeout, zero))

    def get(self, path: str, params: Mapping[str, Any], timeout: float | None, name: str) -> Any:
        """Calls a method that returns a message."""
        if is_in_blocking_tool():
            return self._blocking().get(path, params, timeout, name)
        return PendingCall(self.target, path, lambda: self._get(path, params, timeout, name))

    def stream(self, path: str, params: Mapping[str, Any], timeout: float | None, name: str) -> Any:
        """Calls a method that returns messages until it ends."""
        if is_in_blocking_tool():
            return self._blocking().stream(path, params, timeout, name)
        return self._stream(path, params, timeout, name)

    def _blocking(self) -> BlockingCalls:
        from ._blocking_calls import BlockingCalls

        return BlockingCalls(self.target)

    async def _act(
        self, path: str, params: Mapping[str, Any], timeout: float | None, name: str, is_assertion: bool
    ) -> Any:
        return settle(name, await self._call(path, params, timeout), is_assertion)

    async def _ask(self, path: str, params: Mapping[str, Any], timeout: float | None, zero: object) -> Any:
        return (await self._call(path, params, timeout)).get("value", zero)

    async def _get(self, path: str, params: Mapping[str, Any], timeout: float | None, name: str) -> Any:
        return read(name, await self._call(path, params, timeout))

    async def _call(self, path: str, params: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        try:
            return await self._exchange(path, params, timeout)
        except TrailblazeError as error:
            raise for_libraries(explain(self.target, error)) from None

    async def _exchange(self, path: str, params: Mapping[str, Any], timeout: float | None) -> dict[str, Any]:
        target = self.target
        refuse_late(target, path)
        timeout = target.timeout if timeout is None else check_timeout(timeout)
        if not target.is_found:
            await self._find(timeout)
        body = body_of(target.ids, params)
        request = f"{target.head(path, 'application/json', timeout)}{len(body)}\r\n\r\n".encode("ascii") + body
        pool = pool_of(target)
        deadline = pool.loop.time() + (timeout or DEFAULT_TIMEOUT)
        connection = pool.take()
        if connection is not None:
            response = await connection.exchange(request, deadline)
            if response is not None:
                return answer_of(target, response)
        connection = await pool.connect(deadline)
        response = await connection.exchange(request, deadline)
        if response is None:
            raise ConnectionFailed("unavailable", f"http://{target.name} closed the connection without a response")
        return answer_of(target, response)

    async def _find(self, timeout: float | None) -> None:
        """Looks for the session in this user's daemon."""
        from ._daemon import TIMEOUT, choose, daemons

        answers: list[Response] = []
        for daemon in daemons():
            pool = pool_of(daemon)
            deadline = pool.loop.time() + min(timeout or TIMEOUT, TIMEOUT)
            try:
                response = await (await pool.connect(deadline)).exchange(daemon.request, deadline)
            except ConnectionFailed:
                # It has just ended.
                continue
            if response is not None:
                answers.append(response)
        choose(self.target, answers)

    async def _stream(
        self, path: str, params: Mapping[str, Any], timeout: float | None, name: str
    ) -> AsyncGenerator[Any, None]:
        target = self.target
        refuse_late(target, path)
        timeout = timeout if timeout is None else check_timeout(timeout)
        if not target.is_found:
            await self._find(timeout)
        body = envelope(body_of(target.ids, params))
        head = target.head(path, "application/connect+json", timeout)
        pool = pool_of(target)
        begin = pool.loop.time()
        deadline = None if timeout is None else begin + timeout
        # A stream may last, but it must begin.
        first_deadline = begin + (timeout or target.timeout or DEFAULT_TIMEOUT)
        connection = await pool.connect(first_deadline)
        response = Response(is_stream=True)
        try:
            connection.start(f"{head}{len(body)}\r\n\r\n".encode("ascii") + body, response)
            while True:
                is_streaming = response.status == 200 and response.content_type == "application/connect+json"
                message = take_envelope(response.body) if is_streaming else None
                if message is not None:
                    if message[0] & 2:
                        end_of_stream(message[1])
                        return
                    yield read(name, parse(message[1], "a message of the stream"))
                elif not response.is_complete:
                    await connection.more(deadline if response.status else first_deadline)
                elif response.status != 200:
                    raise error_of(target, response)
                else:
                    raise ApiError("unavailable", "the stream ended without its last message")
        finally:
            connection.abort()


class Pool:
    """The connections of an event loop to one address."""

    __slots__ = ("_target", "idle", "loop")

    def __init__(self, loop: AbstractEventLoop, target: Target | Daemon) -> None:
        self.loop = loop
        self.idle: list[Connection] = []
        self._target = target

    def take(self) -> Connection | None:
        """A connection that was used before, if there is one. The one used last is the most likely to be open."""
        while self.idle:
            connection = self.idle.pop()
            if connection.is_open():
                return connection
        return None

    async def connect(self, deadline: float) -> Connection:
        """A new connection."""
        from asyncio import TimeoutError as Expired
        from asyncio import wait_for

        problem: OSError | None = None
        for host in self._target.hosts:
            # It has the methods of `asyncio.Protocol`, which is not imported before it is needed.
            protocol: Any = Connection(self)
            connecting = self.loop.create_connection(lambda: protocol, host, self._target.port)
            try:
                await wait_for(connecting, deadline - self.loop.time())
                return protocol
            except (Expired, TimeoutError):
                raise expired() from None
            except OSError as error:
                problem = error
        raise unreachable(self._target, problem)

    def close(self) -> None:
        """Closes the connections that are not in use."""
        while self.idle:
            self.idle.pop().abort()


class Connection:
    """A connection, as the protocol of an asyncio transport."""

    __slots__ = ("_is_lost", "_pool", "_response", "_transport", "_waiter")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._transport: Transport | None = None
        self._is_lost = False
        # The response that is being read, and who waits for more of it.
        self._response: Response | None = None
        self._waiter: Future[None] | None = None

    # What asyncio calls.

    def connection_made(self, transport: Transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        response = self._response
        if response is None:
            # Nothing was asked.
            self.abort()
            return
        try:
            response.feed(data)
        except ApiError as error:
            self._fail(error)
            return
        if self._waiter is None:
            if len(response.body) > _PAUSE and self._transport is not None:
                self._transport.pause_reading()
        elif response.is_complete or response.is_stream:
            self._wake(None)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._is_lost = True
        if self._response is None:
            if self in self._pool.idle:
                self._pool.idle.remove(self)
            return
        try:
            self._response.end()
        except ConnectionFailed as failed:
            self._wake(failed)
        else:
            self._wake(None)

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    # What calls use.

    def is_open(self) -> bool:
        return not self._is_lost and self._transport is not None and not self._transport.is_closing()

    def abort(self) -> None:
        self._is_lost = True
        if self._transport is not None:
            self._transport.abort()

    async def exchange(self, request: bytes, deadline: float) -> Response | None:
        """Sends a request and reads the response. None if the connection was closed before it began."""
        response = Response()
        self.start(request, response)
        try:
            while not response.is_complete:
                await self.more(deadline)
        except ConnectionFailed:
            if response.has_begun:
                raise
            return None
        except BaseException:
            # Cancelled, too late, or not understood. Trailblaze cancels the call when the connection closes.
            self.abort()
            raise
        self._response = None
        if not response.keeps_alive or not self.is_open() or len(self._pool.idle) >= MAX_IDLE:
            self.abort()
        else:
            self._pool.idle.append(self)
        return response

    def start(self, request: bytes, response: Response) -> None:
        """Sends a request."""
        self._response = response
        if self._transport is not None and self.is_open():
            self._transport.write(request)

    async def more(self, deadline: float | None) -> None:
        """Waits until there is more of the response."""
        transport, loop = self._transport, self._pool.loop
        if self._is_lost or transport is None:
            raise ConnectionFailed("unavailable", "Trailblaze closed the connection during its response")
        if not transport.is_reading():
            transport.resume_reading()
        waiter = self._waiter = loop.create_future()
        timer = None if deadline is None else loop.call_at(deadline, self._expire)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _expire(self) -> None:
        self._fail(expired())

    def _fail(self, error: ApiError) -> None:
        self._wake(error)
        self.abort()

    def _wake(self, error: Exception | None) -> None:
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)


# By address, for each event loop that has been used.
_pools: dict[tuple[int, tuple[str, ...], int], Pool] = {}


def pool_of(target: Target | Daemon) -> Pool:
    """The connections of the running event loop to the address."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    key = (id(loop), target.hosts, target.port)
    pool = _pools.get(key)
    if pool is None or pool.loop is not loop:
        for old in [old for old, pool in _pools.items() if pool.loop.is_closed()]:
            del _pools[old]
        pool = _pools[key] = Pool(loop, target)
    return pool
