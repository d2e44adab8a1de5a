"""Calls of the asynchronous client that have not been sent yet, and what happens to one that is never awaited.

A call that nobody awaits is never sent. Tools are tests: one that passes without having done anything is worse than one
that fails. So Trailblaze is told, and fails the tool call.
"""

from __future__ import annotations

import os
import sys

from ._target import BASE_URL
from .errors import TrailblazeError, for_libraries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from types import FrameType
    from typing import Any

    from ._target import Target

NEVER_AWAITED = "Trailblaze-Never-Awaited"
"""The header of a request that must not be carried out, but fail the tool call that it belongs to. Its value is the place of
the call in the author's code, or 1.
"""

_REPORT_TIMEOUT = 10.0

# CO_COROUTINE, CO_ITERABLE_COROUTINE and CO_ASYNC_GENERATOR of `inspect`, which takes long to import.
_ASYNCHRONOUS = 0x80 | 0x100 | 0x200

# What calls tools.
_LIBRARIES = frozenset({"mcp", "fastmcp"})


class PendingCall:
    """A call to be awaited once. It is a coroutine in all but its type, so that tasks can be made of it."""

    __slots__ = ("_coroutine", "_is_noted", "_line", "_path", "_start", "_target")

    def __init__(self, target: Target, path: str, start: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._target = target
        self._path = path
        self._start = start
        self._coroutine: Coroutine[Any, Any, Any] | None = None
        self._is_noted = False
        frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "trailblaze":
            frame = frame.f_back
        # Not the frame itself, which would keep its variables and so this call alive.
        self._line = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)

    def _started(self) -> Coroutine[Any, Any, Any]:
        if self._coroutine is None:
            self._coroutine = self._start()
        return self._coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._started().__await__()

    def send(self, value: Any) -> Any:
        return self._started().send(value)

    def throw(self, *exception: Any) -> Any:
        return self._started().throw(*exception)

    def close(self) -> None:
        self._started().close()

    def __bool__(self) -> bool:
        self._note()
        raise for_libraries(TrailblazeError(mistake(self._path, None)))

    def __getattr__(self, name: str) -> Any:
        # Libraries ask for those to find out what it is.
        if name.startswith(("_", "cr_", "gi_", "ag_")):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._note()
        method = method_of(self._path)
        raise for_libraries(
            _NoAttribute(
                f"`{method}` was called without `await`, so it has no `{name}`: write `(await tb.{method}(…)).{name}`, "
                "or use SyncTrailblazeClient"
            )
        )

    def _note(self) -> None:
        """Lets the call of the tool fail now, even if what the author's code does with this one is caught."""
        late = sys.modules.get("trailblaze._late_failures")
        caller = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
        from ._place import place_of_line

        place = place_of_line(caller.f_code.co_filename, caller.f_lineno)
        if late is not None and place is not None and not self._is_noted:
            self._is_noted = late.overlooked(mistake(self._path, None), self._place() or place)

    def __repr__(self) -> str:
        return f"<call of {self._path.lstrip('/')}>"

    def __del__(self) -> None:
        if getattr(self, "_coroutine", self) is not None or self._is_noted or sys.is_finalizing():
            return
        from warnings import warn

        place = self._place()
        try:
            self._report(place)
        except Exception as error:
            warn(f"Trailblaze could not be told about the next warning: {error}", RuntimeWarning, stacklevel=2)
        warn(mistake(self._path, place), RuntimeWarning, stacklevel=2)

    def _place(self) -> str | None:
        from ._place import place_of_line

        return None if self._line is None else place_of_line(*self._line)

    def _report(self, place: str | None) -> None:
        """Fails the tool call that this call belongs to, if there is one. Blocks, because the tool must not end first."""
        target = self._target
        if not target.is_found or not ("invocationId" in target.ids or os.environ.get(BASE_URL)):
            return
        from time import monotonic

        from ._blocking_calls import connect, exchange
        from ._wire import body_of

        body = body_of(target.ids, {})
        value = (place or "1").encode("ascii", "replace").decode("ascii")
        head = target.head(self._path, "application/json", _REPORT_TIMEOUT, f"{NEVER_AWAITED}: {value}\r\n")
        deadline = monotonic() + _REPORT_TIMEOUT
        exchange(connect(target, deadline), f"{head}{len(body)}\r\n\r\n".encode("ascii") + body, deadline, [])


class _NoAttribute(TrailblazeError, AttributeError):
    """The answer of a call was used, and the call had not been awaited."""


def mistake(path: str, place: str | None) -> str:
    """What is wrong about a call of a method that nothing awaited."""
    name = method_of(path)
    where = "" if place is None else f" ({place})"
    return (
        f"`{name}` was called without `await`, so nothing was done: write `await tb.{name}(…)`, "
        f"or use SyncTrailblazeClient{where}"
    )


def method_of(path: str) -> str:
    """The name of the method of the clients that has this path."""
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in path.rpartition("/")[2])
    return name.removeprefix("_")


def is_in_blocking_tool() -> bool:
    """Whether the caller is a tool that is a plain function, called by an MCP library on its event loop or in a thread of
    its own. Such a tool cannot await anything.
    """
    # `inspect`, which has a public function for it, takes long to import.
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    is_in_worker = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if frame.f_code.co_flags & _ASYNCHRONOUS:
            # The innermost asynchronous function: the library itself, or the author's.
            return package in _LIBRARIES
        if package == "asyncio":
            # A callback of the event loop.
            return False
        # MCP libraries run plain functions in the threads of anyio.
        is_in_worker = is_in_worker or (module.startswith("anyio._backends.") and frame.f_code.co_name == "run")
        frame = frame.f_back
    return is_in_worker
